//! A set of items: a container of the server's, and a table of PostgreSQL's that holds the same.

use serde_json::Value;

/// One item: where it goes, and its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    pub id: String,
    pub partition: String,
    pub text: String,
}

/// Draws an item from its number and from how many there are.
pub type Draw = fn(number: u64, items: u64) -> Item;

#[derive(Clone, Debug)]
pub struct Set {
    /// Of the container and of the table.
    pub name: String,
    pub items: u64,
    /// The container's definition but for its name.
    pub definition: Value,
    /// What stands behind `CREATE INDEX ON` the table. It has the columns `pk`, `id` and `doc`, and the first two
    /// are its primary key.
    pub indexes: Vec<String>,
    pub draw: Draw,
}

/// The first number of what is created while measuring; above every set.
const NEW_FIRST: u64 = 1_000_000_000;

impl Set {
    pub fn item(&self, number: u64) -> Item {
        (self.draw)(number, self.items)
    }

    /// One of the items that are not in the set.
    pub fn new_item(&self, number: u64) -> Item {
        self.item(NEW_FIRST + number)
    }
}

/// JSON text of exactly `bytes`: `head`, then a last member of text, then `tail`, which closes what is open.
pub fn padded(head: &str, seed: u64, bytes: usize, tail: &str) -> String {
    let length = bytes.saturating_sub(head.len() + tail.len());
    [head, super::draw::text(seed, length), tail].concat()
}

#[cfg(test)]
pub mod checks {
    use super::*;
    use std::collections::HashSet;

    /// What holds of every set: items are of their size, say where they go, and no two share an id.
    pub fn items_are_sound(set: &Set, sizes: std::ops::RangeInclusive<usize>) -> Vec<Value> {
        let key = set.definition["partitionKey"]["paths"][0].as_str().unwrap().trim_start_matches('/');
        let mut ids = HashSet::new();
        let read = |number| {
            let item = set.item(number);
            assert!(sizes.contains(&item.text.len()), "{} bytes", item.text.len());
            let value: Value = serde_json::from_str(&item.text).unwrap();
            assert_eq!((&value["id"], &value[key]), (&item.id.clone().into(), &item.partition.into()));
            assert!(ids.insert(item.id));
            value
        };
        (0..set.items).map(read).collect()
    }
}
