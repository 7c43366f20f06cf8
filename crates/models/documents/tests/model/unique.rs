//! Unique keys: values that occur once in a logical partition.

use crate::audit::audit;
use crate::world::{World, said, target};
use orrery_catalog::Container;
use orrery_documents::item::Preconditions;

const ALWAYS: Preconditions = Preconditions { if_match: None, if_none_match: None };

/// A world whose container has the unique keys (email) and (name.first, name.last).
fn people(more: &str) -> (World, Container) {
    let mut world = World::new();
    let keys =
        r#""uniqueKeyPolicy":{"uniqueKeys":[{"paths":["/email"]},{"paths":["/name/first","/name/last"]}]}"#;
    let container = world.container(&format!("{keys}{more}"));
    (world, container)
}

/// Creates an item in partition 1 with this email, and a name of its own.
fn create(world: &mut World, container: &Container, id: &str, email: &str) -> String {
    let body = format!(r#"{{"id":"{id}","pk":1,"email":{email},"name":{{"first":"{id}"}}}}"#);
    said(&world.create(container, &body))
}

fn check(world: &World) {
    audit(&*world.snapshot(), world.db.tip().lsn);
}

#[test]
fn a_taken_value_is_refused_and_nothing_is_written() {
    let (mut world, container) = people("");
    assert_eq!(create(&mut world, &container, "a", "\"x\""), "ok");
    let tip = world.db.tip();
    assert_eq!(create(&mut world, &container, "b", "\"x\""), "NotUnique");
    assert_eq!(create(&mut world, &container, "b", "\"\\u0078\""), "NotUnique");
    assert_eq!(world.db.tip(), tip);
    assert_eq!(create(&mut world, &container, "b", "\"X\""), "ok");
    check(&world);
}

#[test]
fn every_value_of_a_key_counts_together() {
    let (mut world, container) = people("");
    let mut put = |id: &str, name: &str| {
        let body = format!(r#"{{"id":"{id}","pk":1,"email":"{id}","name":{name}}}"#);
        said(&world.create(&container, &body))
    };
    assert_eq!(put("a", r#"{"first":"x","last":"y"}"#), "ok");
    assert_eq!(put("b", r#"{"first":"x","last":"z"}"#), "ok");
    assert_eq!(put("c", r#"{"first":"xy","last":""}"#), "ok");
    assert_eq!(put("d", r#"{"last":"y","first":"x"}"#), "NotUnique");
    check(&world);
}

#[test]
fn a_missing_value_is_null() {
    let (mut world, container) = people("");
    assert_eq!(create(&mut world, &container, "a", "null"), "ok");
    let missing = world.create(&container, r#"{"id":"b","pk":1,"name":{"first":"b"}}"#);
    assert_eq!(said(&missing), "NotUnique");
    let none_of_a_name =
        world.create(&container, r#"{"id":"c","pk":1,"email":"c","name":{"first":null,"last":null}}"#);
    assert_eq!(said(&none_of_a_name), "ok");
    assert_eq!(said(&world.create(&container, r#"{"id":"d","pk":1,"email":"d"}"#)), "NotUnique");
    check(&world);
}

#[test]
fn equal_numbers_are_one_value() {
    let (mut world, container) = people("");
    assert_eq!(create(&mut world, &container, "a", "1"), "ok");
    assert_eq!(create(&mut world, &container, "b", "1.0"), "NotUnique");
    assert_eq!(create(&mut world, &container, "c", "\"1\""), "ok");
    check(&world);
}

#[test]
fn another_partition_has_values_of_its_own() {
    let (mut world, container) = people("");
    assert_eq!(create(&mut world, &container, "a", "\"x\""), "ok");
    let elsewhere = world.create(&container, r#"{"id":"a","pk":2,"email":"x","name":{"first":"a"}}"#);
    assert_eq!(said(&elsewhere), "ok");
    check(&world);
}

#[test]
fn a_replace_or_upsert_cannot_take_what_another_has() {
    let (mut world, container) = people("");
    create(&mut world, &container, "a", "\"x\"");
    create(&mut world, &container, "b", "\"y\"");
    let (b, taken) = (target(&container, "1", "b"), r#"{"id":"b","pk":1,"email":"x","name":{"first":"b"}}"#);
    assert_eq!(said(&world.replace(&container, &b, taken, ALWAYS)), "NotUnique");
    assert_eq!(said(&world.upsert(&container, taken, ALWAYS)), "NotUnique");
    let new = r#"{"id":"n","pk":1,"email":"x","name":{"first":"n"}}"#;
    assert_eq!(said(&world.upsert(&container, new, ALWAYS)), "NotUnique");
    let renamed = r#"{"id":"c","pk":1,"email":"x","name":{"first":"b"}}"#;
    assert_eq!(said(&world.replace(&container, &b, renamed, ALWAYS)), "NotUnique");
    check(&world);
}

#[test]
fn an_item_may_keep_its_own_values() {
    let (mut world, container) = people("");
    create(&mut world, &container, "a", "\"x\"");
    let a = target(&container, "1", "a");
    let same = r#"{"id":"a","pk":1,"email":"x","name":{"first":"a"},"n":1}"#;
    assert_eq!(said(&world.replace(&container, &a, same, ALWAYS)), "ok");
    assert_eq!(said(&world.upsert(&container, same, ALWAYS)), "ok");
    let renamed = r#"{"id":"b","pk":1,"email":"x","name":{"first":"a"}}"#;
    assert_eq!(said(&world.replace(&container, &a, renamed, ALWAYS)), "ok");
    check(&world);
}

#[test]
fn a_delete_and_a_change_free_the_value() {
    let (mut world, container) = people("");
    create(&mut world, &container, "a", "\"x\"");
    world.delete(&container, &target(&container, "1", "a"), ALWAYS).unwrap();
    assert_eq!(create(&mut world, &container, "b", "\"x\""), "ok");
    let changed = r#"{"id":"b","pk":1,"email":"y","name":{"first":"b"}}"#;
    world.replace(&container, &target(&container, "1", "b"), changed, ALWAYS).unwrap();
    assert_eq!(create(&mut world, &container, "c", "\"x\""), "ok");
    assert_eq!(create(&mut world, &container, "d", "\"y\""), "NotUnique");
    check(&world);
}

#[test]
fn two_items_may_swap_their_values_through_a_third() {
    let (mut world, container) = people("");
    create(&mut world, &container, "a", "\"x\"");
    create(&mut world, &container, "b", "\"y\"");
    for (id, email) in [("a", "z"), ("b", "x"), ("a", "y")] {
        let body = format!(r#"{{"id":"{id}","pk":1,"email":"{email}","name":{{"first":"{id}"}}}}"#);
        assert_eq!(said(&world.upsert(&container, &body, ALWAYS)), "ok");
    }
    check(&world);
}

#[test]
fn what_an_expired_item_held_is_free() {
    let (mut world, container) = people(r#","defaultTtl":10"#);
    create(&mut world, &container, "a", "\"x\"");
    create(&mut world, &container, "b", "\"y\"");
    world.at(9);
    assert_eq!(create(&mut world, &container, "c", "\"x\""), "NotUnique");
    let c = r#"{"id":"c","pk":1,"email":"c","name":{"first":"c"}}"#;
    world.create(&container, c).unwrap();
    world.at(10);
    assert_eq!(create(&mut world, &container, "d", "\"x\""), "ok");
    let takes = r#"{"id":"c","pk":1,"email":"y","name":{"first":"b"}}"#;
    assert_eq!(said(&world.replace(&container, &target(&container, "1", "c"), takes, ALWAYS)), "ok");
    check(&world);
}

#[test]
fn a_definition_with_its_keys_in_another_order_keeps_what_is_held() {
    let (mut world, container) = people("");
    create(&mut world, &container, "a", "\"x\"");
    let reordered =
        r#""uniqueKeyPolicy":{"uniqueKeys":[{"paths":["/name/last","/name/first"]},{"paths":["/email"]}]}"#;
    let container = world.replace_container(reordered).unwrap();
    check(&world);
    assert_eq!(create(&mut world, &container, "b", "\"x\""), "NotUnique");
    let stored = world.catalog();
    let stored = stored.all_containers().next().unwrap();
    assert_eq!(stored.definition(), container.definition());
}
