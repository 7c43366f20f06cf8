//! Unique keys: sets of paths whose combined values occur once in a logical partition.

use super::members::Members;
use super::members::{DefinitionError, Parsed, invalid};
use super::path::PropertyPath;
use crate::limits;
use serde_json::{Map, Value};

pub(super) fn parse(raw: Value) -> Parsed<Vec<Vec<PropertyPath>>> {
    let mut members = Members::of("uniqueKeyPolicy", raw)?;
    let (mut keys, mut entries) = (Vec::new(), Vec::new());
    for entry in members.list("uniqueKeys")? {
        let (key, entry) = parse_key(entry)?;
        keys.push(key);
        entries.push(entry);
    }
    check_counts(&keys)?;
    check_different(&keys)?;
    let shown = Map::from_iter([("uniqueKeys".to_owned(), Value::Array(entries))]);
    Ok((keys, members.followed_by_rest(shown)))
}

/// Whether two policies are equal, regardless of order.
pub(super) fn same(a: &[Vec<PropertyPath>], b: &[Vec<PropertyPath>]) -> bool {
    in_order(a) == in_order(b)
}

fn parse_key(raw: Value) -> Parsed<Vec<PropertyPath>> {
    let mut members = Members::of("unique key", raw)?;
    let texts = members.list("paths")?;
    let paths = texts.iter().map(path).collect::<Result<Vec<_>, _>>()?;
    if paths.is_empty() {
        return Err(invalid("A unique key needs at least one path."));
    }
    let shown = Map::from_iter([("paths".to_owned(), Value::Array(texts))]);
    Ok((paths, members.followed_by_rest(shown)))
}

fn path(raw: &Value) -> Result<PropertyPath, DefinitionError> {
    let text = raw.as_str().ok_or_else(|| invalid("The paths of a unique key must be strings."))?;
    PropertyPath::parse(text).map_err(|error| {
        invalid(format!(
            "The unique key {error}. Unique key paths must contain only valid characters and not contain a \
             trailing slash or wildcard character."
        ))
    })
}

fn check_counts(keys: &[Vec<PropertyPath>]) -> Result<(), DefinitionError> {
    let paths: usize = keys.iter().map(Vec::len).sum();
    let (keys_max, paths_max) = (limits::UNIQUE_KEYS_MAX, limits::UNIQUE_KEY_PATHS_MAX);
    if keys.len() > keys_max || paths > paths_max {
        return Err(invalid(format!(
            "The uniqueKeyPolicy has {} unique keys with {paths} paths. The most are {keys_max} keys and \
             {paths_max} paths in all of them.",
            keys.len()
        )));
    }
    Ok(())
}

fn check_different(keys: &[Vec<PropertyPath>]) -> Result<(), DefinitionError> {
    let sorted = in_order(keys);
    let repeated_key = sorted.windows(2).any(|pair| pair[0] == pair[1]);
    let repeated_path = sorted.iter().any(|key| key.windows(2).any(|pair| pair[0] == pair[1]));
    if repeated_key || repeated_path {
        return Err(invalid("The uniqueKeyPolicy has the same unique key, or a path in one key, twice."));
    }
    Ok(())
}

fn in_order(keys: &[Vec<PropertyPath>]) -> Vec<Vec<PropertyPath>> {
    let mut sorted = keys.to_vec();
    sorted.iter_mut().for_each(|key| key.sort());
    sorted.sort();
    sorted
}
