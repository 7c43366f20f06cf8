//! Items of 1 KB of which so many values are indexed, and the rest is one long text that is not.

use super::only;
use crate::seeds::draw::{mix, uuid};
use crate::seeds::set::{Item, Set, padded};
use serde_json::json;
use std::fmt::Write as _;

const ITEM_BYTES: usize = 1024;
const PARTITIONS: u64 = 4096;

/// A set of items with `PATHS` indexed values each.
pub fn set<const PATHS: usize>(items: u64) -> Set {
    let included: Vec<String> = (0..PATHS).map(|number| format!("/{}/?", member(number))).collect();
    let included: Vec<&str> = included.iter().map(String::as_str).collect();
    Set {
        name: format!("paths_{PATHS}"),
        items,
        definition: json!({"indexingPolicy": only(&included, &json!([]))}),
        indexes: (0..PATHS).map(expression).collect(),
        draw: draw::<PATHS>,
    }
}

/// Two of three are numbers, as keys of both kinds must be written.
fn is_number(path: usize) -> bool {
    !path.is_multiple_of(3)
}

fn member(path: usize) -> String {
    format!("p{path:02}")
}

fn expression(path: usize) -> String {
    let member = member(path);
    if is_number(path) { format!("(((doc->>'{member}')::float8))") } else { format!("((doc->>'{member}'))") }
}

fn draw<const PATHS: usize>(number: u64, _items: u64) -> Item {
    let (id, partition) = (uuid(number), format!("p{:06}", number % PARTITIONS));
    let mut head = format!("{{\"id\":\"{id}\",\"pk\":\"{partition}\",");
    for path in 0..PATHS {
        let value = mix(number.wrapping_mul(64).wrapping_add(path as u64)) >> 32;
        let quote = if is_number(path) { "" } else { "\"" };
        let _ = write!(head, "\"{}\":{quote}{value}{quote},", member(path));
    }
    head.push_str("\"text\":\"");
    Item { id, partition, text: padded(&head, number, ITEM_BYTES, "\"}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seeds::set::checks::items_are_sound;

    fn check<const PATHS: usize>() {
        let set = set::<PATHS>(100);
        let definition = json!({"partitionKey": {"paths": ["/pk"]}});
        let items = items_are_sound(&Set { definition, ..set.clone() }, ITEM_BYTES..=ITEM_BYTES);
        let policy = &set.definition["indexingPolicy"]["includedPaths"];
        assert_eq!((policy.as_array().unwrap().len(), set.indexes.len()), (PATHS, PATHS));
        for path in policy.as_array().unwrap() {
            let name = path["path"].as_str().unwrap().trim_matches(['/', '?']);
            assert!(items.iter().all(|item| !item[name].is_null()), "{name}");
        }
    }

    #[test]
    fn an_item_has_a_value_at_every_indexed_path() {
        check::<8>();
        check::<30>();
    }
}
