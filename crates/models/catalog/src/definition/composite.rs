//! Composite indexes: tuples of paths, each with a direction, for queries over several properties.

use super::members::{Members, spelled};
use super::members::{Parsed, invalid};
use super::path::PropertyPath;
use crate::limits;
use orrery_query::limits::COMPOSITE_PATHS_MAX;
use serde_json::{Map, Value, json};
use std::collections::HashSet;

/// Two to eight distinct paths.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CompositeIndex(Vec<CompositePath>);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CompositePath {
    pub path: PropertyPath,
    pub order: SortOrder,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SortOrder {
    Ascending,
    Descending,
}

impl CompositeIndex {
    pub fn paths(&self) -> &[CompositePath] {
        &self.0
    }
}

pub(super) fn parse(raw: Vec<Value>) -> Parsed<Vec<CompositeIndex>> {
    let indexes_max = limits::COMPOSITE_INDEXES_MAX;
    if raw.len() > indexes_max {
        return Err(invalid(format!(
            "The indexing policy has {} composite indexes. The most are {indexes_max}.",
            raw.len()
        )));
    }
    let parsed = raw.into_iter().map(parse_index).collect::<Result<Vec<_>, _>>()?;
    let (indexes, shown): (Vec<_>, Vec<_>) = parsed.into_iter().unzip();
    let mut seen = HashSet::new();
    if let Some(index) = indexes.iter().find(|index| !seen.insert(*index)) {
        return Err(invalid(format!("The indexing policy has the composite index {} twice.", listed(index))));
    }
    Ok((indexes, Value::Array(shown)))
}

fn parse_index(raw: Value) -> Parsed<CompositeIndex> {
    let Value::Array(entries) = raw else {
        return Err(invalid("Each of the compositeIndexes must be an array of paths with an order."));
    };
    let paths_max = COMPOSITE_PATHS_MAX;
    if !(2..=paths_max).contains(&entries.len()) {
        return Err(invalid(format!(
            "A composite index has {} paths. It takes 2 to {paths_max}.",
            entries.len()
        )));
    }
    let parsed = entries.into_iter().map(parse_path).collect::<Result<Vec<_>, _>>()?;
    let (paths, shown): (Vec<CompositePath>, Vec<_>) = parsed.into_iter().unzip();
    let mut seen = HashSet::new();
    if let Some(twice) = paths.iter().find(|part| !seen.insert(&part.path)) {
        return Err(invalid(format!("A composite index has the path '{}' twice.", twice.path)));
    }
    Ok((CompositeIndex(paths), Value::Array(shown)))
}

fn parse_path(raw: Value) -> Parsed<CompositePath> {
    let mut members = Members::of("composite index path", raw)?;
    let text = members.required_string("path")?;
    let path = PropertyPath::parse(&text).map_err(|error| {
        invalid(format!("The composite index {error}. Give the path of a property, without '/?' or '/*'."))
    })?;
    let named = members.string("order")?.unwrap_or_else(|| "ascending".to_owned());
    let (name, order) = spelled(&named, &ORDERS).ok_or_else(|| {
        invalid(format!(
            "The composite index order '{named}' is invalid. Choose 'ascending' or 'descending'."
        ))
    })?;
    let shown = Map::from_iter([("path".to_owned(), json!(text)), ("order".to_owned(), json!(name))]);
    Ok((CompositePath { path, order }, members.followed_by_rest(shown)))
}

const ORDERS: [(&str, SortOrder); 2] =
    [("ascending", SortOrder::Ascending), ("descending", SortOrder::Descending)];

fn listed(index: &CompositeIndex) -> String {
    let paths: Vec<String> = index.0.iter().map(|part| part.path.to_string()).collect();
    format!("({})", paths.join(", "))
}
