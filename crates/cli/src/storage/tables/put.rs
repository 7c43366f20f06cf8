//! `orrery table put`: entities of an argument, a file or standard input.
//!
//! Neighbours of one partition are written together, in one transaction of at most a hundred.

use super::TableFlags;
use crate::data::given_items;
use crate::limits;
use crate::storage::flags::ask;
use crate::storage::refused::{About, refused};
use crate::terminal;
use clap::Args;
use orrery_client::storage::StorageError;
use orrery_client::storage::tables::{Entity, EntityWrite, Tables, parse_entity};
use orrery_tables::limits::GROUP_OPERATIONS_MAX;
use serde_json::json;
use std::collections::HashSet;
use std::ops::Range;

#[derive(Args)]
pub struct PutFlags {
    /// The table
    table: String,
    /// A JSON object with PartitionKey and RowKey, or a file with one or with one on each line; standard input if it is left out
    entity: Option<String>,
    /// Make the table if it is not there
    #[arg(long)]
    create: bool,
    /// Refuse entities that are there already
    #[arg(long, conflicts_with_all = ["merge", "if_match"])]
    insert: bool,
    /// Keep the properties of an entity that is there, but for those that are given
    #[arg(long)]
    merge: bool,
    /// Change the entity only if this is still its ETag
    #[arg(long, value_name = "ETAG")]
    if_match: Option<String>,
}

const EXAMPLE: &str = "an entity is written as '{\"PartitionKey\":…,\"RowKey\":…}'";

impl PutFlags {
    pub fn run(&self, flags: &TableFlags) -> Result<(), String> {
        let texts = given_items(self.entity.as_deref(), EXAMPLE)?;
        let entities = texts.iter().enumerate().map(|(at, text)| parse(text, at + 1));
        let writes: Vec<EntityWrite> =
            entities.map(|entity| entity.map(|entity| self.write(entity))).collect::<Result<_, String>>()?;
        ask(async {
            let tables = flags.tables().await?;
            if self.create {
                create(&tables, &self.table).await?;
            }
            let sizes: Vec<usize> = texts.iter().map(String::len).collect();
            for group in groups(&writes, &sizes) {
                self.send(&tables, &writes[group]).await?;
            }
            Ok(())
        })?;
        if flags.json {
            return terminal::print_json(&json!({ "written": writes.len() }));
        }
        let entities =
            if writes.len() == 1 { "1 entity".to_owned() } else { format!("{} entities", writes.len()) };
        eprintln!("{entities} written to {}", self.table);
        Ok(())
    }

    fn write(&self, entity: Entity) -> EntityWrite {
        match (&self.if_match, self.merge) {
            _ if self.insert => EntityWrite::Insert(entity),
            (Some(tag), true) => EntityWrite::Merge { entity, if_match: tag.clone() },
            (Some(tag), false) => EntityWrite::Replace { entity, if_match: tag.clone() },
            (None, true) => EntityWrite::InsertOrMerge(entity),
            (None, false) => EntityWrite::InsertOrReplace(entity),
        }
    }

    async fn send(&self, tables: &Tables, writes: &[EntityWrite]) -> Result<(), String> {
        let outcome = match writes {
            [write] => tables.write(&self.table, write).await.map(drop),
            writes => tables.transact(&self.table, writes).await.map(drop),
        };
        outcome.map_err(|error| {
            let blamed = error.refusal().and_then(|refusal| refusal.index).unwrap_or_default();
            let (partition_key, row_key) = writes.get(blamed).unwrap_or(&writes[0]).key();
            refused(About::Entity { table: &self.table, partition_key, row_key })(error)
        })
    }
}

fn parse(text: &str, number: usize) -> Result<Entity, String> {
    parse_entity(text).map_err(|error| format!("entity {number} cannot be written: {error}"))
}

async fn create(tables: &Tables, table: &str) -> Result<(), String> {
    match tables.create(table).await {
        Err(StorageError::Refused(refusal)) if refusal.code == "TableAlreadyExists" => Ok(()),
        outcome => outcome.map_err(refused(About::Table(table))),
    }
}

/// Neighbours that one transaction takes: of one partition, each row once, and neither too many nor too large.
fn groups(writes: &[EntityWrite], sizes: &[usize]) -> Vec<Range<usize>> {
    let mut groups = Vec::new();
    let (mut start, mut bytes, mut rows) = (0, 0, HashSet::new());
    for (at, write) in writes.iter().enumerate() {
        let (partition_key, row_key) = write.key();
        let fits = at == start
            || at - start < GROUP_OPERATIONS_MAX
                && bytes + sizes[at] <= limits::TABLE_GROUP_BYTES_MAX
                && writes[start].key().0 == partition_key
                && !rows.contains(row_key);
        if !fits {
            groups.push(start..at);
            (start, bytes) = (at, 0);
            rows.clear();
        }
        bytes += sizes[at];
        rows.insert(row_key);
    }
    if start < writes.len() {
        groups.push(start..writes.len());
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grouped(keys: &[(&str, &str)], size: usize) -> Vec<Range<usize>> {
        let writes: Vec<EntityWrite> =
            keys.iter().map(|(partition, row)| EntityWrite::Insert(Entity::new(partition, row))).collect();
        groups(&writes, &vec![size; keys.len()])
    }

    #[test]
    fn neighbours_of_a_partition_are_written_together() {
        assert!(grouped(&[], 1).is_empty());
        assert_eq!(grouped(&[("p", "1"), ("p", "2"), ("q", "1"), ("p", "3")], 1), [0..2, 2..3, 3..4]);
        assert_eq!(grouped(&[("p", "1"), ("p", "1"), ("p", "2")], 1), [0..1, 1..3]);
    }

    #[test]
    fn a_group_is_neither_too_long_nor_too_large() {
        let rows: Vec<String> = (0..250).map(|row| row.to_string()).collect();
        let keys: Vec<(&str, &str)> = rows.iter().map(|row| ("p", row.as_str())).collect();
        assert_eq!(grouped(&keys, 1), [0..100, 100..200, 200..250]);
        assert_eq!(grouped(&keys[..3], limits::TABLE_GROUP_BYTES_MAX / 2), [0..2, 2..3]);
        assert_eq!(grouped(&keys[..2], limits::TABLE_GROUP_BYTES_MAX + 1), [0..1, 1..2]);
        assert_eq!(grouped(&keys[..2], usize::MAX / 2), [0..1, 1..2]);
    }

    #[test]
    fn an_entity_that_cannot_be_written_is_named_by_its_number() {
        let sentence = parse("{\"PartitionKey\":\"p\"}", 7).expect_err("it has no row key");
        assert!(
            sentence.starts_with("entity 7 cannot be written") && sentence.contains("RowKey"),
            "{sentence}"
        );
    }
}
