//! Lists: prefixes, delimiters, pages that neither repeat nor leave out.

use crate::world::{World, blob, container, refused, shown};
use orrery_blob_store::model::operations::{ListBlobs, ListInclude, ShowOnly};
use orrery_blob_store::model::{Conditions, Refusal};

const NAMES: [&str; 10] = ["a", "a/1", "a/2", "a/b/1", "a/b/2", "a0", "b/1", "b/c/d", "z", "\u{1f600}"];

fn filled() -> World {
    let world = World::new();
    for name in NAMES.iter().rev() {
        world.put(name, b"");
    }
    world
}

fn of(prefix: &str, delimiter: Option<&str>) -> ListBlobs {
    ListBlobs { prefix: prefix.to_owned(), delimiter: delimiter.map(str::to_owned), ..ListBlobs::default() }
}

#[test]
fn names_are_in_the_order_of_their_bytes() {
    let world = filled();
    assert_eq!(shown(&world.list(&of("", None))), NAMES);
    assert_eq!(shown(&world.list(&of("a/", None))), ["a/1", "a/2", "a/b/1", "a/b/2"]);
    assert_eq!(shown(&world.list(&of("x", None))), [""; 0]);
    let bounds =
        ListBlobs { start_from: Some("a/b".into()), end_before: Some("b/c".into()), ..ListBlobs::default() };
    assert_eq!(shown(&world.list(&bounds)), ["a/b/1", "a/b/2", "a0", "b/1"]);
}

#[test]
fn a_delimiter_folds_what_has_it() {
    let world = filled();
    assert_eq!(shown(&world.list(&of("", Some("/")))), ["a", "a/*", "a0", "b/*", "z", "\u{1f600}"]);
    assert_eq!(shown(&world.list(&of("a/", Some("/")))), ["a/1", "a/2", "a/b/*"]);
    assert_eq!(
        shown(&world.list(&of("", Some("/b/")))),
        ["a", "a/1", "a/2", "a/b/*", "a0", "b/1", "b/c/d", "z", "\u{1f600}"]
    );
    let only = |only| ListBlobs { show_only: Some(only), ..of("", Some("/")) };
    assert_eq!(shown(&world.list(&only(ShowOnly::Directories))), ["a/*", "b/*"]);
    assert_eq!(shown(&world.list(&only(ShowOnly::Files))), ["a", "a0", "z", "\u{1f600}"]);
}

fn in_pages(world: &World, request: &ListBlobs, count: usize) -> Vec<String> {
    let mut request = ListBlobs { count_max: Some(count), ..request.clone() };
    let mut all = Vec::new();
    for _ in 0..100 {
        let page = world.list(&request);
        assert!(page.entries.len() <= count);
        all.extend(shown(&page));
        match page.next {
            Some(next) => request.marker = Some(next),
            None => return all,
        }
    }
    panic!("the pages do not end");
}

#[test]
fn pages_of_any_size_are_the_whole_list() {
    let world = filled();
    for name in ["a/1", "b/1"] {
        for _ in 0..3 {
            world.run(world.store.snapshot_blob(&blob(name), None, Conditions::default())).unwrap();
        }
    }
    world.retain_deleted(7);
    world.delete("z").unwrap();
    world.stage("a/b/0", "QQ==", b"x").unwrap();
    let include = ListInclude {
        snapshots: true,
        deleted: true,
        uncommitted: true,
        versions: true,
        ..ListInclude::default()
    };
    for request in [of("", None), of("", Some("/")), of("a/", Some("/")), of("b", None)] {
        for include in [ListInclude::default(), include] {
            let request = ListBlobs { include, ..request.clone() };
            let whole = shown(&world.list(&request));
            for count in 1..8 {
                assert_eq!(in_pages(&world, &request, count), whole, "{request:?} {count}");
            }
        }
    }
}

#[test]
fn only_what_is_asked_for_is_listed() {
    let world = filled();
    world.retain_deleted(7);
    world.delete("z").unwrap();
    world.delete("b/c/d").unwrap();
    assert_eq!(shown(&world.list(&of("z", None))), [""; 0]);
    let deleted = ListInclude { deleted: true, ..ListInclude::default() };
    assert_eq!(shown(&world.list(&ListBlobs { include: deleted, ..of("z", None) })), ["z blob deleted"]);
    assert_eq!(shown(&world.list(&of("b/", Some("/")))), ["b/1"], "a prefix of deleted blobs alone is none");
    let with_deleted = ListBlobs { include: deleted, ..of("b/", Some("/")) };
    assert_eq!(shown(&world.list(&with_deleted)), ["b/1", "b/c/*"]);
    let wrong = ListBlobs { marker: Some("!".into()), ..ListBlobs::default() };
    assert_eq!(refused(world.store.list_blobs(&container("runs"), &wrong)), Refusal::InvalidInput("marker"));
    assert_eq!(refused(world.store.list_blobs(&container("none"), &wrong)), Refusal::ContainerNotFound);
}

#[test]
fn a_name_with_versions_alone_is_shown_as_such() {
    let world = World::new();
    world.settings(|settings| settings.versioning = true);
    world.put("a", b"1");
    world.delete("a").unwrap();
    let include = ListInclude { deleted_with_versions: true, ..ListInclude::default() };
    assert_eq!(shown(&world.list(&ListBlobs { include, ..ListBlobs::default() })), ["a versions only"]);
}
