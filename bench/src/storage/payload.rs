//! The entity and the message, the same for all, and which entities a request is about.
//!
//! An entity has 1024 bytes as JSON and eight properties, each of another type where there is one; PostgreSQL has the same
//! properties as `jsonb`, and the keys as columns. Its text compresses as little as the items' does.

use crate::cell::Spread;
use crate::item::{self, Place, Random, Template, filler};
use std::sync::atomic::{AtomicU64, Ordering};

/// Entities of a page, and of a group.
pub const PAGE_ENTITIES: u64 = 100;
/// Entities that are there before a run, in partitions of a page each.
pub const SET_ENTITIES: u64 = 10_000;
const ENTITY_BYTES: usize = 1024;
pub const MESSAGE_BYTES: usize = 512;
/// The partitions of the set; new entities are in others.
const SET_PARTITION_FIRST: u64 = 500_000;
/// Partitions that groups are spread over.
const GROUP_PARTITIONS: u64 = 4096;

/// As the table service takes it.
pub fn entity() -> Template {
    let place = item::model();
    let head = format!(
        "{{\"PartitionKey\":\"{}\",\"RowKey\":\"{}\",\"Kind\":\"message\",\"Status\":\"PENDING\",\
         \"CreatedAt@odata.type\":\"Edm.DateTime\",\"CreatedAt\":\"2026-11-15T01:02:43.120Z\",\"Priority\":3,\
         \"Sequence@odata.type\":\"Edm.Int64\",\"Sequence\":\"4611686018427387904\",\"Done\":false,\
         \"Score\":0.25,\"Text\":\"",
        place.partition(),
        place.id()
    );
    let text = filler(ENTITY_BYTES - head.len() - 2);
    Template::new(format!("{head}{text}\"}}").into_bytes(), place)
}

/// The same properties without keys and annotations.
pub fn properties() -> String {
    let mut bytes = Vec::new();
    entity().append(item::model(), &mut bytes);
    let mut object: serde_json::Map<String, serde_json::Value> =
        serde_json::from_slice(&bytes).expect("an entity is JSON");
    object.retain(|name, _| !name.ends_with("Key") && !name.contains('@'));
    object["Sequence"] = 4_611_686_018_427_387_904_u64.into();
    serde_json::Value::from(object).to_string()
}

pub fn message() -> String {
    filler(MESSAGE_BYTES)
}

/// The new entities of all runs, above the set.
#[derive(Debug)]
pub struct Places(AtomicU64);

impl Default for Places {
    fn default() -> Self {
        Self(AtomicU64::new(1_000_000_000))
    }
}

impl Places {
    pub fn new_one(&self) -> Place {
        Place::new(self.0.fetch_add(1, Ordering::Relaxed), Spread::Many)
    }

    /// A group of one partition.
    pub fn new_group(&self) -> impl Iterator<Item = Place> + use<> {
        let first = self.0.fetch_add(PAGE_ENTITIES, Ordering::Relaxed);
        let partition = first / PAGE_ENTITIES % GROUP_PARTITIONS;
        (first..first + PAGE_ENTITIES).map(move |number| Place::within(partition, number))
    }
}

/// One of the set.
pub fn of_set(number: u64) -> Place {
    Place::within(SET_PARTITION_FIRST + number / PAGE_ENTITIES, number)
}

pub fn any_of_set(random: &mut Random) -> Place {
    of_set(random.below(SET_ENTITIES))
}

/// The partitions of the set, each as its entities.
pub fn set() -> impl Iterator<Item = Vec<Place>> {
    let partitions = (0..SET_ENTITIES).step_by(PAGE_ENTITIES as usize);
    partitions.map(|first| (first..first + PAGE_ENTITIES).map(of_set).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn an_entity_has_its_size_its_keys_and_eight_properties() {
        let mut bytes = Vec::new();
        entity().append(of_set(123), &mut bytes);
        assert_eq!(bytes.len(), ENTITY_BYTES);
        let entity: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
        let keys = (&entity["PartitionKey"], &entity["RowKey"]);
        assert_eq!(keys, (&"p500001".into(), &"000000000123".into()));
        let properties: serde_json::Value = serde_json::from_str(&properties()).unwrap();
        assert_eq!(properties.as_object().unwrap().len(), 8);
        assert_eq!(properties["Text"], entity["Text"]);
    }

    #[test]
    fn partitions_of_the_set_hold_a_page_each_and_nothing_new() {
        let set: Vec<Vec<Place>> = set().collect();
        assert_eq!(set.len() as u64, SET_ENTITIES / PAGE_ENTITIES);
        assert!(set.iter().all(|page| page.iter().all(|place| place.partition() == page[0].partition())));
        let partitions: HashSet<String> = set.iter().map(|page| page[0].partition()).collect();
        assert_eq!(partitions.len(), set.len());
        let places = Places::default();
        for _ in 0..2 * GROUP_PARTITIONS {
            assert!(!partitions.contains(&places.new_one().partition()));
            let group: Vec<Place> = places.new_group().collect();
            assert!(group.iter().all(|place| place.partition() == group[0].partition()));
            assert!(!partitions.contains(&group[0].partition()));
        }
    }
}
