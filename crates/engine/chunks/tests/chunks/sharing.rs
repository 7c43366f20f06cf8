//! References: chunks are shared, and go when the last of their owners does, in whatever order commits come.

use crate::world::{Store, World, content, ids};
use orrery_chunks::{Chunk, Commits, add, count, release, retain};
use orrery_kv::{Batch, Error as EngineError, Outcome, Snapshot, Txn};
use std::cell::RefCell;
use std::sync::Arc;

fn references(world: &World, chunk: &Chunk) -> u64 {
    count(&*world.store.db.snapshot(), chunk.id).expect("readable")
}

#[test]
fn a_chunk_goes_with_its_last_reference() {
    let world = World::new();
    let written = content(1, 10_000);
    let chunks = world.put(&written);
    assert!(world.retain(&chunks) && world.retain(&chunks));
    assert_eq!(references(&world, &chunks[0]), 3);
    world.release(&chunks);
    world.release(&chunks);
    assert_eq!(world.reclaim().chunks_removed, 0);
    assert_eq!(references(&world, &chunks[0]), 1);
    assert!(world.read(&chunks).expect("readable") == written);
    assert_eq!(world.check(ids(&chunks)).faults, [""; 0]);
    world.release(&chunks);
    assert_eq!(world.reclaim().chunks_removed, 1);
    assert_eq!(references(&world, &chunks[0]), 0);
    assert_eq!(world.check([]).faults, [""; 0]);
    assert!(!world.retain(&chunks), "what is gone cannot be shared");
}

#[test]
fn a_reference_can_pass_from_one_owner_to_another_in_one_commit() {
    let world = World::new();
    let chunks = world.put(&content(1, 10_000));
    let group = [retain, release].map(|change| world.store.batch(|txn| change(txn, chunks[0].id)));
    let outcomes = world.store.group(group.into()).expect("committed");
    assert_eq!(outcomes, [Outcome::Committed; 2]);
    assert_eq!(world.reclaim().chunks_removed, 0);
    assert_eq!(references(&world, &chunks[0]), 1);
}

/// Commits something else in the same group, right before the first transaction of reclaiming.
struct Overtaken<'a> {
    store: &'a Store,
    by: RefCell<Option<Batch>>,
    refused: RefCell<u32>,
}

impl Commits for Overtaken<'_> {
    type Error = EngineError;

    fn snapshot(&self) -> Arc<Snapshot> {
        self.store.snapshot()
    }

    fn commit(&self, body: &dyn Fn(&mut Txn<'_>)) -> Result<bool, EngineError> {
        let Some(by) = self.by.take() else { return self.store.commit(body) };
        let outcomes = self.store.group(vec![by, self.store.batch(body)])?;
        assert_eq!(outcomes[0], Outcome::Committed);
        *self.refused.borrow_mut() += u32::from(outcomes[1] == Outcome::Refused);
        Ok(outcomes[1] == Outcome::Committed)
    }
}

/// Reclaiming has seen a chunk without references; before it commits, `by` happens.
fn overtaken(world: &World, by: impl Fn(&mut Txn<'_>)) -> u32 {
    let commits = Overtaken {
        store: &world.store,
        by: RefCell::new(Some(world.store.batch(by))),
        refused: RefCell::default(),
    };
    world.chunks.reclaim(&commits).expect("reclaimed");
    commits.refused.take()
}

#[test]
fn a_copy_that_is_committed_before_the_removal_keeps_the_chunk() {
    let world = World::new();
    let written = content(1, 10_000);
    let chunks = world.put(&written);
    world.release(&chunks);
    assert_eq!(overtaken(&world, |txn| retain(txn, chunks[0].id)), 1);
    world.reclaim();
    assert_eq!(references(&world, &chunks[0]), 1);
    assert!(world.read(&chunks).expect("readable") == written);
    assert_eq!(world.check(ids(&chunks)).faults, [""; 0]);
}

#[test]
fn a_chunk_that_was_retained_and_released_meanwhile_is_looked_at_again() {
    let world = World::new();
    let chunks = world.put(&content(1, 10_000));
    world.release(&chunks);
    let id = chunks[0].id;
    assert_eq!(
        overtaken(&world, |txn| {
            retain(txn, id);
            release(txn, id);
        }),
        1
    );
    world.reclaim();
    assert!(!world.is_there(&chunks[0]));
    assert_eq!(world.check([]).faults, [""; 0]);
}

#[test]
fn a_copy_that_is_committed_after_the_removal_is_refused() {
    let world = World::new();
    let chunks = world.put(&content(1, 10_000));
    world.release(&chunks);
    let copy = world.store.batch(|txn| retain(txn, chunks[0].id));
    world.reclaim();
    assert_eq!(world.store.group(vec![copy]).expect("decided"), [Outcome::Refused]);
    assert_eq!(world.check([]).faults, [""; 0]);
}

#[test]
fn an_upload_whose_client_left_while_its_commit_was_queued_keeps_its_file() {
    let world = World::new();
    let synced = world.upload(&content(1, 10_000)).expect("uploaded");
    let chunks: Vec<Chunk> = synced.chunks().collect();
    let queued = world.store.batch(|txn| add(txn, &synced));
    drop(synced);
    let commits =
        Overtaken { store: &world.store, by: RefCell::new(Some(queued)), refused: RefCell::default() };
    world.chunks.reclaim(&commits).expect("reclaimed");
    world.reclaim();
    assert!(world.read(&chunks).expect("readable") == content(1, 10_000));
    assert_eq!(world.check(ids(&chunks)).faults, [""; 0]);
}

#[test]
fn a_busy_chunk_does_not_keep_others_from_being_removed() {
    let world = World::new();
    let chunks: Vec<Chunk> = (0..10).flat_map(|seed| world.put(&content(seed, 100))).collect();
    world.release(&chunks);
    assert_eq!(overtaken(&world, |txn| retain(txn, chunks[4].id)), 1);
    let left: Vec<&Chunk> = chunks.iter().filter(|chunk| world.is_there(chunk)).collect();
    assert_eq!(left, [&chunks[4]]);
}
