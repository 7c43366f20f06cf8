//! What a survey of a container tells: its partitions, its indexed paths, its large items.

use crate::world::{World, epk};
use orrery_documents::index::{self, Survey};
use orrery_documents::limits;
use orrery_query::access::PathDisplay;
use orrery_value::Value;

fn survey(world: &World, container: &orrery_catalog::Container) -> Survey {
    index::survey(&*world.snapshot(), container).unwrap()
}

/// Each path with its items and entries.
fn paths(survey: &Survey) -> Vec<(String, u64, u64)> {
    survey.paths.iter().map(|it| (PathDisplay(&it.path).to_string(), it.items, it.entries)).collect()
}

fn path(path: &str, items: u64, entries: u64) -> (String, u64, u64) {
    (path.to_owned(), items, entries)
}

#[test]
fn entries_are_counted_by_the_names_of_their_paths() {
    let mut world = World::new();
    let policy = r#""indexingPolicy":{"includedPaths":[{"path":"/*"}],"excludedPaths":[{"path":"/out/*"}]}"#;
    let container = world.container(policy);
    world.create(&container, r#"{"id":"1","pk":"p","tags":["a","b","a"],"out":{"x":1}}"#).unwrap();
    world.create(&container, r#"{"id":"2","pk":"p","tags":[{"k":1}],"n\u0061me":{"first":"x"}}"#).unwrap();
    let survey = survey(&world, &container);
    let expected = [
        path("/id", 2, 2),
        path("/pk", 2, 2),
        path("/tags", 2, 2),
        path("/tags/[]", 1, 2),
        path("/name", 1, 1),
        path("/name/first", 1, 1),
        path("/tags/[]/k", 1, 1),
    ];
    assert_eq!(paths(&survey), expected);
    // The time of each write is indexed too, and no path of the items.
    assert_eq!((survey.sampled, survey.entries), (2, 11 + 2));
}

#[test]
fn composite_indexes_count_and_have_no_path() {
    let mut world = World::new();
    let composite = r#"[[{"path":"/a"},{"path":"/b","order":"descending"}]]"#;
    let policy = format!(
        r#""indexingPolicy":{{"includedPaths":[],"excludedPaths":[{{"path":"/*"}}],"compositeIndexes":{composite}}}"#
    );
    let container = world.container(&policy);
    world.create(&container, r#"{"id":"1","pk":"p","a":1,"b":2}"#).unwrap();
    let survey = survey(&world, &container);
    assert_eq!((paths(&survey), survey.entries), (vec![path("/id", 1, 1)], 3));
}

#[test]
fn what_is_not_indexed_is_not_sampled() {
    let mut world = World::new();
    let container = world.container(r#""indexingPolicy":{"indexingMode":"none","automatic":false}"#);
    world.create(&container, r#"{"id":"1","pk":"p"}"#).unwrap();
    let survey = survey(&world, &container);
    assert_eq!((survey.items, survey.sampled, survey.entries, survey.paths.len()), (1, 0, 0, 0));
}

#[test]
fn partitions_are_added_up_and_the_largest_named() {
    let mut world = World::new();
    let container = world.container("");
    let mut bytes = 0;
    for at in 0..20 {
        let body = format!(r#"{{"id":"i","pk":{at},"t":"{}"}}"#, "x".repeat(at * 10));
        bytes += world.create(&container, &body).unwrap().text_length() as u64;
    }
    for body in [r#"{"id":"j","pk":19}"#, r#"{"id":"nowhere"}"#] {
        bytes += world.create(&container, body).unwrap().text_length() as u64;
    }
    let survey = survey(&world, &container);
    assert_eq!((survey.items, survey.partitions, survey.is_whole), (22, 21, true));
    assert_eq!(survey.bytes, bytes);
    let largest: Vec<String> = survey.largest.iter().map(|it| it.key[0].to_json()).collect();
    assert_eq!(largest, ["19", "18", "17", "16", "15", "14", "13", "12"]);
    assert_eq!((survey.largest[0].items, survey.largest.len()), (2, limits::SURVEY_LARGEST_MAX));
}

#[test]
fn of_many_items_some_are_looked_at_from_the_first_to_the_last() {
    let mut world = World::new();
    let container = world.container("");
    let many = limits::SURVEY_ITEMS_MAX * 4;
    // Each half has a path of its own.
    let body =
        |at: usize| format!(r#"{{"id":"{at}","pk":"p","{}":1}}"#, if at < many / 2 { "old" } else { "new" });
    world.create_all(&container, (0..many).map(body));
    let survey = survey(&world, &container);
    let (sampled, half) = (survey.sampled, survey.sampled / 2);
    assert!((limits::SURVEY_ITEMS_MAX as u64 * 9 / 10..=limits::SURVEY_ITEMS_MAX as u64).contains(&sampled));
    for (path, items, _) in paths(&survey).iter().filter(|(path, ..)| path == "/old" || path == "/new") {
        assert!(items.abs_diff(half) <= 2, "{path}: {items} of {sampled}");
    }
}

#[test]
fn a_partition_is_named_by_its_items_and_an_item_weighed_by_its_members() {
    let mut world = World::new();
    let container = world.container("");
    world.create(&container, r#"{"id":"a","pk":"p","b\u006fdy":"0123456789","n":1}"#).unwrap();
    let snapshot = world.snapshot();
    let (here, gone) = (epk(&container, "\"p\""), epk(&container, "\"q\""));
    let key = |epk: &[u8]| index::partition_key(&*snapshot, &container, epk).unwrap();
    assert_eq!((key(here.as_bytes()), key(gone.as_bytes())), (Some(vec![Value::from("p")]), None));
    let weigh = |id: &str| index::item_weight(&*snapshot, &container, here.as_bytes(), id).unwrap();
    assert_eq!(weigh("a").and_then(|weight| weight.member), Some(("body".to_owned(), 12)));
    assert_eq!(weigh("b"), None);
}
