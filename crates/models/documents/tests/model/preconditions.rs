//! `If-Match` and `If-None-Match` on writes of items.

use crate::world::{World, Written, said, target};
use orrery_catalog::Container;
use orrery_core::ETag;
use orrery_documents::item::{Preconditions, TagMatch};

const BODY: &str = r#"{"id":"a","pk":1}"#;

/// Each condition, and what a write says where the item is there.
fn conditions(current: ETag) -> [(Preconditions, &'static str); 8] {
    let (stale, foreign) = (TagMatch::Tag(Some(ETag::from_u128(999))), TagMatch::Tag(None));
    let ours = TagMatch::Tag(Some(current));
    let when = |if_match, if_none_match| Preconditions { if_match, if_none_match };
    [
        (when(None, None), "ok"),
        (when(Some(ours), None), "ok"),
        (when(Some(TagMatch::Any), None), "ok"),
        (when(Some(stale), None), "Changed"),
        (when(Some(foreign), None), "Changed"),
        (when(None, Some(ours)), "Changed"),
        (when(None, Some(TagMatch::Any)), "Changed"),
        (when(None, Some(stale)), "ok"),
    ]
}

/// Runs a write under every condition, each in a world where the item is there.
fn check(write: impl Fn(&mut World, &Container, Preconditions) -> String) {
    for index in 0..8 {
        let mut world = World::new();
        let container = world.container("");
        let etag = world.create(&container, BODY).unwrap().etag();
        let (when, expected) = conditions(etag)[index];
        let tip = world.db.tip();
        assert_eq!(write(&mut world, &container, when), expected, "{when:?}");
        assert_eq!(world.db.tip() == tip, expected != "ok", "a refused write writes nothing");
    }
}

#[test]
fn a_replace_asks_for_its_version() {
    check(|world, container, when| said(&world.replace(container, &target(container, "1", "a"), BODY, when)));
}

#[test]
fn a_rename_asks_for_the_version_it_replaces() {
    let renamed = r#"{"id":"b","pk":1}"#;
    check(|world, container, when| {
        said(&world.replace(container, &target(container, "1", "a"), renamed, when))
    });
}

#[test]
fn an_upsert_asks_for_its_version() {
    check(|world, container, when| said(&world.upsert(container, BODY, when)));
}

#[test]
fn a_delete_asks_for_its_version() {
    check(|world, container, when| said(&world.delete(container, &target(container, "1", "a"), when)));
}

#[test]
fn where_nothing_is_an_upsert_creates_and_the_others_say_missing() {
    for (when, _) in conditions(ETag::from_u128(1)) {
        let mut world = World::new();
        let container = world.container("");
        let a = target(&container, "1", "a");
        assert_eq!(said(&world.replace(&container, &a, BODY, when)), "Missing");
        assert_eq!(said(&world.delete(&container, &a, when)), "Missing");
        assert!(matches!(world.upsert(&container, BODY, when), Ok(Written::Created(_))), "{when:?}");
    }
}

#[test]
fn every_write_makes_a_new_version() {
    let mut world = World::new();
    let container = world.container("");
    let first = world.create(&container, BODY).unwrap().etag();
    let when = Preconditions { if_match: Some(TagMatch::Tag(Some(first))), if_none_match: None };
    let a = target(&container, "1", "a");
    assert_ne!(world.replace(&container, &a, BODY, when).unwrap().etag(), first);
    assert_eq!(said(&world.replace(&container, &a, BODY, when)), "Changed");
}
