//! What a logical partition may hold (S1-45).

use crate::audit::audit;
use crate::world::{World, epk, target};
use orrery_documents::item::{ItemError, Preconditions};
use orrery_documents::partition;

const ALWAYS: Preconditions = Preconditions { if_match: None, if_none_match: None };

/// An item of the partition `p` whose text has exactly this many bytes.
fn item(id: &str, bytes: usize) -> String {
    let bare = format!(r#"{{"id":"{id}","pk":"p","t":""}}"#);
    format!(r#"{{"id":"{id}","pk":"p","t":"{}"}}"#, "x".repeat(bytes - bare.len()))
}

#[test]
fn a_full_partition_takes_no_more_and_what_leaves_it_makes_room() {
    let mut world = World::new();
    world.partition_bytes_max = 1000;
    let container = world.container("");
    world.create(&container, &item("a", 400)).unwrap();
    world.create(&container, &item("b", 600)).unwrap();
    let full = world.create(&container, &item("c", 100));
    assert!(matches!(full, Err(ItemError::PartitionFull { bytes_max: 1000 })), "{full:?}");
    let grown = world.replace(&container, &target(&container, "\"p\"", "a"), &item("a", 401), ALWAYS);
    assert!(matches!(grown, Err(ItemError::PartitionFull { .. })), "{grown:?}");
    world.replace(&container, &target(&container, "\"p\"", "a"), &item("a", 300), ALWAYS).unwrap();
    world.create(&container, &item("c", 100)).unwrap();
    world.create(&container, r#"{"id":"other","pk":"q"}"#).unwrap();
    world.delete(&container, &target(&container, "\"p\"", "b"), ALWAYS).unwrap();
    world.create(&container, &item("d", 600)).unwrap();
    audit(&*world.snapshot(), world.db.tip().lsn);
}

#[test]
fn a_partition_that_is_too_large_already_may_shrink_slowly() {
    let mut world = World::new();
    let container = world.container("");
    world.create(&container, &item("a", 5000)).unwrap();
    world.partition_bytes_max = 1000;
    world.replace(&container, &target(&container, "\"p\"", "a"), &item("a", 4000), ALWAYS).unwrap();
    world.replace(&container, &target(&container, "\"p\"", "a"), &item("a", 4000), ALWAYS).unwrap();
    assert!(world.replace(&container, &target(&container, "\"p\"", "a"), &item("a", 4001), ALWAYS).is_err());
    audit(&*world.snapshot(), world.db.tip().lsn);
}

#[test]
fn the_size_is_that_of_the_items() {
    let mut world = World::new();
    let container = world.container("");
    world.create(&container, &item("a", 100)).unwrap();
    world.create(&container, &item("b", 200)).unwrap();
    world.replace(&container, &target(&container, "\"p\"", "b"), &item("b", 250), ALWAYS).unwrap();
    let epk = epk(&container, "\"p\"");
    let size = partition::size(&*world.db.snapshot(), container.number(), epk.as_bytes()).unwrap();
    assert_eq!((size.items, size.bytes), (2, 350));
    world.delete(&container, &target(&container, "\"p\"", "a"), ALWAYS).unwrap();
    world.delete(&container, &target(&container, "\"p\"", "b"), ALWAYS).unwrap();
    let size = partition::size(&*world.db.snapshot(), container.number(), epk.as_bytes()).unwrap();
    assert_eq!((size.items, size.bytes), (0, 0));
    audit(&*world.snapshot(), world.db.tip().lsn);
}
