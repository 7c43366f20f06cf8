//! Snapshots, versions and soft deletes.

use crate::world::{World, blob, content, metadata, refused};
use orrery_blob_store::model::blob::{Immutability, ImmutabilityMode};
use orrery_blob_store::model::operations::{DeleteBlob, DeleteSnapshots, PutOptions};
use orrery_blob_store::model::spaces::{BLOBS, CONTENT};
use orrery_blob_store::model::{Conditions, Refusal, Selector};
use orrery_core::Ticks;

fn snapshot(world: &World, name: &str) -> Ticks {
    world.run(world.store.snapshot_blob(&blob(name), None, Conditions::default())).unwrap().snapshot
}

fn delete(world: &World, name: &str, delete: DeleteBlob) -> Result<bool, orrery_blob_store::Error> {
    world.run(world.store.delete_blob(&blob(name), delete)).map(|deleted| deleted.is_permanent)
}

fn of(selector: Selector) -> DeleteBlob {
    DeleteBlob { selector, ..DeleteBlob::default() }
}

#[test]
fn a_snapshot_shows_what_the_blob_was() {
    let world = World::new();
    for length in [10, 100_000] {
        let (old, new) = (content(length, 1), content(length, 2));
        world.put("a", &old);
        let first = snapshot(&world, "a");
        world.put("a", &new);
        let second = snapshot(&world, "a");
        assert!(second > first);
        assert_eq!(world.try_read("a", Selector::Snapshot(first), None).unwrap(), old);
        assert_eq!(world.try_read("a", Selector::Snapshot(second), None).unwrap(), new);
        assert_eq!(refused(world.delete("a")), Refusal::SnapshotsPresent);
        let include = DeleteBlob { snapshots: DeleteSnapshots::Include, ..DeleteBlob::default() };
        assert!(delete(&world, "a", include).unwrap());
        assert_eq!(world.states(), [""; 0]);
    }
}

#[test]
fn snapshots_are_deleted_alone_and_all_at_once() {
    let world = World::new();
    world.put("a", b"1");
    let first = snapshot(&world, "a");
    snapshot(&world, "a");
    delete(&world, "a", of(Selector::Snapshot(first))).unwrap();
    assert_eq!(world.states(), ["a snapshot", "a"]);
    assert_eq!(refused(delete(&world, "a", of(Selector::Snapshot(first)))), Refusal::BlobNotFound);
    delete(&world, "a", DeleteBlob { snapshots: DeleteSnapshots::Only, ..DeleteBlob::default() }).unwrap();
    assert_eq!(world.states(), ["a"]);
}

#[test]
fn every_write_makes_a_version() {
    let world = World::new();
    world.put("a", b"before versions");
    world.settings(|settings| settings.versioning = true);
    let first = world.put("a", b"first").version.unwrap();
    let second =
        world.run(world.store.set_metadata(&blob("a"), metadata(&[("k", "v")]), Conditions::default()));
    let second = second.unwrap().version.unwrap();
    assert!(second > first);
    assert_eq!(world.states(), ["a version", "a version", "a"]);
    assert_eq!(world.try_read("a", Selector::Version(first), None).unwrap(), b"first");
    assert_eq!(world.try_read("a", Selector::Version(second), None).unwrap(), b"first");
    assert_eq!(refused(delete(&world, "a", of(Selector::Version(second)))), Refusal::RootBlob);
    // Without a current version, all that were are there.
    world.delete("a").unwrap();
    assert_eq!(world.states(), ["a version"; 3]);
    assert_eq!(refused(world.try_read("a", Selector::Current, None)), Refusal::BlobNotFound);
    delete(&world, "a", of(Selector::Version(first))).unwrap();
    assert_eq!(world.states(), ["a version"; 2]);
    world.put("a", b"third");
    assert_eq!(world.states(), ["a version", "a version", "a"]);
}

#[test]
fn what_was_deleted_comes_back_until_its_retention_is_over() {
    let world = World::new();
    world.retain_deleted(7);
    world.put("a", b"1");
    snapshot(&world, "a");
    let include = DeleteBlob { snapshots: DeleteSnapshots::Include, ..DeleteBlob::default() };
    assert!(!delete(&world, "a", include.clone()).unwrap(), "not for good");
    assert_eq!(world.states(), ["a snapshot deleted", "a blob deleted"]);
    assert_eq!(refused(world.try_read("a", Selector::Current, None)), Refusal::BlobNotFound);
    world.settle();
    world.run(world.store.undelete_blob(&blob("a"))).unwrap();
    assert_eq!(world.states(), ["a snapshot", "a"]);
    assert_eq!(world.read("a"), b"1");
    world.run(world.store.undelete_blob(&blob("a"))).unwrap();
    assert_eq!(refused(world.run(world.store.undelete_blob(&blob("b")))), Refusal::BlobNotFound);
    delete(&world, "a", include).unwrap();
    world.advance(7 * 86_400);
    world.settle();
    assert_eq!(world.states(), [""; 0]);
    assert_eq!(world.rows(BLOBS), 0);
}

#[test]
fn what_is_overwritten_is_kept_as_a_deleted_snapshot() {
    let world = World::new();
    world.retain_deleted(7);
    world.put("a", b"1");
    world.put("a", b"2");
    assert_eq!(world.states(), ["a snapshot deleted", "a"]);
    world.delete("a").unwrap();
    world.put("a", b"3");
    assert_eq!(world.states(), ["a snapshot deleted", "a snapshot deleted", "a"]);
    world.run(world.store.undelete_blob(&blob("a"))).unwrap();
    assert_eq!(world.states(), ["a snapshot", "a snapshot", "a"]);
    assert_eq!(world.read("a"), b"3");
}

#[test]
fn a_deleted_snapshot_goes_for_good_if_the_account_allows_it() {
    let world = World::new();
    world.retain_deleted(7);
    world.put("a", b"1");
    let taken = snapshot(&world, "a");
    let permanent = DeleteBlob { is_permanent: true, ..of(Selector::Snapshot(taken)) };
    assert_eq!(refused(delete(&world, "a", permanent.clone())), Refusal::PermanentDeleteRefused);
    delete(&world, "a", of(Selector::Snapshot(taken))).unwrap();
    assert!(delete(&world, "a", permanent.clone()).unwrap());
    assert_eq!(world.states(), ["a"]);
}

#[test]
fn versions_are_soft_deleted_and_come_back_without_becoming_current() {
    let world = World::new();
    world.retain_deleted(7);
    world.settings(|settings| settings.versioning = true);
    let first = world.put("a", b"1").version.unwrap();
    world.put("a", b"2");
    delete(&world, "a", of(Selector::Version(first))).unwrap();
    assert_eq!(world.states(), ["a version deleted", "a"]);
    world.delete("a").unwrap();
    world.run(world.store.undelete_blob(&blob("a"))).unwrap();
    assert_eq!(world.states(), ["a version", "a version"]);
}

#[test]
fn protection_keeps_a_blob_from_being_changed_and_deleted() {
    let world = World::new();
    world.put("a", b"1");
    let now = world.store.env().now();
    let policy =
        |seconds: u64, mode| Immutability { until: now.plus(std::time::Duration::from_secs(seconds)), mode };
    let set = |policy| {
        world.run(world.store.set_immutability(&blob("a"), Selector::Current, policy, Conditions::default()))
    };
    set(policy(100, ImmutabilityMode::Unlocked)).unwrap();
    let refused_now = || {
        assert_eq!(refused(world.delete("a")), Refusal::ImmutableDueToPolicy);
        let put = world.try_put("a", b"2", PutOptions::default());
        assert_eq!(refused(put), Refusal::ImmutableDueToPolicy);
        assert_eq!(
            refused(world.run(world.store.set_metadata(
                &blob("a"),
                Default::default(),
                Conditions::default()
            ))),
            Refusal::ImmutableDueToPolicy
        );
    };
    refused_now();
    set(policy(50, ImmutabilityMode::Unlocked)).unwrap();
    set(policy(50, ImmutabilityMode::Locked)).unwrap();
    assert_eq!(refused(set(policy(40, ImmutabilityMode::Locked))), Refusal::ImmutableDueToPolicy);
    assert_eq!(refused(set(policy(60, ImmutabilityMode::Unlocked))), Refusal::ImmutableDueToPolicy);
    let remove = || world.run(world.store.delete_immutability(&blob("a"), Selector::Current));
    assert_eq!(refused(remove()), Refusal::ImmutableDueToPolicy);
    world.advance(51);
    world.put("a", b"2");
    world.run(world.store.set_legal_hold(&blob("a"), Selector::Current, true)).unwrap();
    refused_now();
    world.run(world.store.set_legal_hold(&blob("a"), Selector::Current, false)).unwrap();
    world.delete("a").unwrap();
}

#[test]
fn a_copy_promotes_a_version() {
    let world = World::new();
    world.settings(|settings| settings.versioning = true);
    let first = world.put("a", &content(100_000, 1)).version.unwrap();
    world.put("a", b"2");
    world
        .run(world.store.copy_blob(&blob("a"), Selector::Version(first), &blob("a"), Default::default()))
        .unwrap();
    assert_eq!(world.read("a"), content(100_000, 1));
    assert_eq!(world.states(), ["a version", "a version", "a"]);
    assert!(world.rows(CONTENT) >= 3);
}
