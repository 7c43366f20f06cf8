//! Entities: a table for people, JSON for programs.

use crate::terminal::{Screen, Table};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use orrery_client::storage::tables::{FoundEntity, Value, print_entity};

/// Which columns a table has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Columns {
    All,
    /// Without what the service adds: Timestamp and ETag.
    WithoutSystem,
}

/// One line, with the types that JSON leaves open.
pub fn json(entity: &FoundEntity) -> String {
    print_entity(entity)
}

/// Properties in columns, in the order in which entities first have them.
pub fn table(entities: &[FoundEntity], shown: Columns, screen: &Screen) -> String {
    let mut names: Vec<String> = Vec::new();
    let rows: Vec<Vec<(String, String)>> = entities.iter().map(|entity| cells(entity, shown)).collect();
    for (name, _) in rows.iter().flatten() {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    let cell = |row: &[(String, String)], name: &str| {
        row.iter().find(|(known, _)| known == name).map(|(_, text)| text.clone()).unwrap_or_default()
    };
    let drawn = rows.iter().map(|row| names.iter().map(|name| cell(row, name)).collect());
    // Whoever looks for entities wants to name them afterwards.
    let keys =
        names.iter().enumerate().filter(|(_, name)| matches!(name.as_str(), "PartitionKey" | "RowKey"));
    let table = keys.fold(Table::new(&names).ruled(), |table, (at, _)| table.whole(at));
    table.fitting("--json shows them").rows(drawn).draw(screen)
}

fn cells(entity: &FoundEntity, shown: Columns) -> Vec<(String, String)> {
    let all = system(entity)
        .into_iter()
        .filter(|(name, _)| shown == Columns::All || !matches!(*name, "Timestamp" | "ETag"));
    let all = all.map(|(name, text)| (name.to_owned(), text));
    all.chain(entity.properties.iter().map(|(name, value)| (name.clone(), text(value)))).collect()
}

fn system(entity: &FoundEntity) -> Vec<(&'static str, String)> {
    let timestamp = entity.timestamp.map(|at| at.to_string());
    let all = [
        ("PartitionKey", entity.partition_key.clone()),
        ("RowKey", entity.row_key.clone()),
        ("Timestamp", timestamp),
        ("ETag", entity.etag.clone()),
    ];
    all.into_iter().filter_map(|(name, text)| Some((name, text?))).collect()
}

/// One entity, a property on each line.
pub fn properties(entity: &FoundEntity, screen: &Screen) -> String {
    let system = system(entity).into_iter().map(|(name, text)| {
        let kind = match name {
            "Timestamp" => "Edm.DateTime",
            "ETag" => "",
            _ => "Edm.String",
        };
        vec![name.to_owned(), kind.to_owned(), text]
    });
    let own = entity.properties.iter();
    let own = own.map(|(name, value)| vec![name.clone(), value.edm_type().name().to_owned(), text(value)]);
    Table::new(&["property", "type", "value"]).ruled().whole(0).rows(system.chain(own)).draw(screen)
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Boolean(value) => value.to_string(),
        Value::Int32(value) => value.to_string(),
        Value::Int64(value) => value.to_string(),
        Value::Double(value) => value.to_string(),
        Value::DateTime(value) => value.text().to_owned(),
        Value::Guid(value) => value.to_string(),
        Value::Binary(bytes) => STANDARD.encode(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entity(row_key: &str, properties: &[(&str, Value)]) -> FoundEntity {
        FoundEntity {
            partition_key: Some("p".to_owned()),
            row_key: Some(row_key.to_owned()),
            etag: Some("W/\"1\"".to_owned()),
            properties: properties.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect(),
            ..FoundEntity::default()
        }
    }

    #[test]
    fn entities_of_different_shapes_share_a_table() {
        let entities = [
            entity("1", &[("n", Value::Int64(5))]),
            entity("2", &[("name", Value::String("Ann".to_owned())), ("n", Value::Double(0.5))]),
        ];
        let drawn = table(&entities, Columns::WithoutSystem, &Screen::PIPE);
        assert_eq!(
            drawn,
            "PartitionKey  RowKey  n    name\n------------  ------  ---  ----\np             1       5\n\
             p             2       0.5  Ann\n"
        );
        assert!(table(&entities, Columns::All, &Screen::PIPE).contains("W/\"1\""));
        assert_eq!(table(&[], Columns::All, &Screen::PIPE), "");
    }

    #[test]
    fn one_entity_is_shown_with_its_types() {
        let drawn = properties(&entity("1", &[("n", Value::Int64(5))]), &Screen::PIPE);
        assert!(
            drawn.contains("PartitionKey  Edm.String  p\n")
                && drawn.contains("n             Edm.Int64   5\n"),
            "{drawn}"
        );
    }
}
