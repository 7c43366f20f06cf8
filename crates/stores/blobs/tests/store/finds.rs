//! Finding blobs by tags, and what it reads.

use crate::world::{World, account, blob, container, refused, tags};
use orrery_blob_store::Error;
use orrery_blob_store::model::operations::{FindBlobs, FoundPage};
use orrery_blob_store::model::tags::{ContainerFind, TagFilter, find};
use orrery_blob_store::model::{BlobName, Conditions, Refusal, Selector};

fn request(filter: &str) -> FindBlobs {
    FindBlobs { container: None, filter: TagFilter::parse(filter).unwrap(), marker: None, count_max: 5000 }
}

fn found(world: &World, request: &FindBlobs) -> Result<FoundPage, Error> {
    world.store.find_blobs(&account(), request)
}

fn names(world: &World, filter: &str) -> Vec<String> {
    let page = found(world, &request(filter)).unwrap();
    page.blobs.iter().map(|blob| blob.name.as_str().to_owned()).collect()
}

fn filled() -> World {
    let world = World::new();
    for n in 0..100 {
        let (status, tenant) = (["done", "failed", "active"][n % 3], (n % 7).to_string());
        let created = format!("2026-11-{:02}", n % 28 + 1);
        world.put_tagged(
            &format!("b{n:03}"),
            &[("status", status), ("tenant", &tenant), ("created", &created)],
        );
    }
    world
}

#[test]
fn every_operator_finds_what_it_says() {
    let world = filled();
    let check = |filter: &str, expected: &dyn Fn(usize) -> bool| {
        let mut got = names(&world, filter);
        got.sort();
        let expected: Vec<String> = (0..100).filter(|n| expected(*n)).map(|n| format!("b{n:03}")).collect();
        assert_eq!(got, expected, "{filter}");
    };
    check("status = 'done'", &|n| n % 3 == 0);
    check("\"status\" = 'failed' AND tenant = '3'", &|n| n % 3 == 1 && n % 7 == 3);
    check("status = 'done' AND status = 'failed'", &|_| false);
    check("tenant > '3'", &|n| n % 7 > 3);
    check("tenant >= '3' AND tenant < '5'", &|n| (3..5).contains(&(n % 7)));
    check("tenant <= '0'", &|n| n % 7 == 0);
    check("tenant > '5' AND tenant < '2'", &|_| false);
    check("status = 'done' AND created > '2026-11-20'", &|n| n % 3 == 0 && n % 28 + 1 > 20);
    check("created > '2026-11-20' AND tenant = '1' AND status = 'active'", &|n| {
        n % 28 + 1 > 20 && n % 7 == 1 && n % 3 == 2
    });
    check("other = 'x'", &|_| false);
}

#[test]
fn pages_of_any_size_are_all_of_it() {
    let world = filled();
    world.create("second");
    let other = container("second").blob(BlobName::parse("x").unwrap());
    let uploaded = world.upload(b"");
    let options = orrery_blob_store::model::operations::PutOptions {
        tags: tags(&[("status", "done"), ("tenant", "1")]),
        ..Default::default()
    };
    world.run(world.store.put_blob(&other, uploaded, options)).unwrap();
    for filter in ["status = 'done'", "tenant > '0'", "status = 'done' AND tenant = '1'"] {
        let whole = names(&world, filter);
        assert_eq!(whole.last().map(String::as_str), Some("x"));
        for count in [1, 2, 7, 50] {
            let mut request = FindBlobs { count_max: count, ..request(filter) };
            let mut all = Vec::new();
            loop {
                let page = found(&world, &request).unwrap();
                all.extend(page.blobs.iter().map(|blob| blob.name.as_str().to_owned()));
                match page.next {
                    Some(next) => request.marker = Some(next),
                    None => break,
                }
            }
            assert_eq!(all, whole, "{filter} {count}");
        }
    }
    assert_eq!(names(&world, "@container = 'second' AND status = 'done'"), ["x"]);
    let inside = FindBlobs { container: Some(container("second").name), ..request("status = 'done'") };
    assert_eq!(found(&world, &inside).unwrap().blobs.len(), 1);
    let nowhere = FindBlobs { container: Some(container("nowhere").name), ..request("status = 'done'") };
    assert_eq!(refused(found(&world, &nowhere)), Refusal::ContainerNotFound);
}

#[test]
fn the_index_follows_every_change() {
    let world = World::new();
    let check = |filter: &str, expected: &[&str]| assert_eq!(names(&world, filter), expected, "{filter}");
    world.put_tagged("a", &[("status", "active")]);
    check("status = 'active'", &["a"]);
    world
        .run(world.store.set_tags(
            &blob("a"),
            Selector::Current,
            tags(&[("status", "done")]),
            Conditions::default(),
        ))
        .unwrap();
    check("status = 'active'", &[]);
    check("status = 'done'", &["a"]);
    world.put("a", b"untagged");
    check("status > ''", &[]);
    world.retain_deleted(7);
    world.put_tagged("a", &[("status", "done")]);
    world.delete("a").unwrap();
    check("status = 'done'", &[]);
    world.run(world.store.undelete_blob(&blob("a"))).unwrap();
    check("status = 'done'", &["a"]);
    let page = found(&world, &request("status = 'done'")).unwrap();
    assert_eq!(page.blobs[0].tags, tags(&[("status", "done")]));
}

#[test]
fn a_find_reads_what_it_finds_and_little_else() {
    let world = World::new();
    for n in 0..1000 {
        let rare = if n % 100 == 0 { "yes" } else { "no" };
        world.put_tagged(&format!("b{n:04}"), &[("rare", rare), ("all", "same")]);
    }
    let number = world.store.container(&container("runs")).unwrap().number();
    let seen = |filter: &str| {
        let filter = TagFilter::parse(filter).unwrap();
        let request = ContainerFind { container: number, filter: &filter, after: None, count_max: 5000 };
        let found = find(&*world.store.snapshot(), &request).unwrap();
        assert_eq!(found.blobs.len(), 10);
        found.rows_seen
    };
    assert!(seen("rare = 'yes'") <= 11);
    assert!(seen("rare >= 'yes'") <= 11);
    assert!(seen("all = 'same' AND rare = 'yes'") <= 11 * 11, "the long list is jumped through");
}
