//! Reclaiming: what nobody refers to is given back, and nothing else.

use crate::world::{FILE_BYTES_MAX, World, content, ids, options};
use orrery_chunks::files::Fault;
use orrery_chunks::{Chunk, Options, locate};

/// Nothing is left to reclaim.
fn is_tidy(world: &World, chunks: &[Chunk]) {
    let checked = world.check(ids(chunks));
    assert_eq!((checked.faults.len(), checked.files_reclaimable), (0, 0), "{checked:?}");
    let live: u64 = chunks.iter().map(|chunk| u64::from(chunk.length) + 16).sum();
    assert!(checked.bytes_reclaimable <= live + FILE_BYTES_MAX / 8, "{checked:?}");
}

#[test]
fn a_file_goes_with_its_last_chunk() {
    let world = World::new();
    let first: Vec<Chunk> = (0..8).flat_map(|seed| world.put(&content(seed, 100_000))).collect();
    assert_eq!(world.file_count(), 3);
    world.release(&first);
    let done = world.reclaim();
    assert_eq!((done.chunks_removed, done.files_removed, done.bytes_moved), (8, 3, 0));
    assert_eq!(world.file_count(), 1, "one keeps the number of the newest");
    is_tidy(&world, &[]);
    assert_eq!(world.reclaim(), Default::default());
}

#[test]
fn uploads_that_were_never_committed_are_reclaimed() {
    let world = World::new();
    let kept = world.put(&content(0, 1000));
    let uploads: Vec<_> =
        (1..9).map(|seed| world.upload(&content(seed, 100_000)).expect("uploaded")).collect();
    assert_eq!(world.reclaim().files_removed, 0, "they may still be committed");
    drop(uploads);
    world.reclaim();
    is_tidy(&world, &kept);
}

#[test]
fn what_a_crash_leaves_is_reclaimed_at_the_next_start() {
    let world = World::new();
    let kept = world.put(&content(0, 1000));
    let uploads: Vec<_> =
        (1..9).map(|seed| world.upload(&content(seed, 100_000)).expect("uploaded")).collect();
    let world = world.crash(|| true);
    drop(uploads);
    let checked = world.check(ids(&kept));
    assert!(checked.faults.is_empty() && checked.files_reclaimable > 0, "{checked:?}");
    world.reclaim();
    is_tidy(&world, &kept);
    assert!(world.read(&kept).expect("readable") == content(0, 1000));
}

#[test]
fn numbers_of_files_are_never_used_again() {
    let world = World::new();
    let mut seen = std::collections::BTreeSet::new();
    let mut world = world;
    for round in 0..10 {
        let chunks = world.put(&content(round, 1000));
        assert!(seen.insert(chunks[0].id), "{:?}", chunks[0].id);
        world.release(&chunks);
        world.reclaim();
        assert_eq!(world.file_count(), 1);
        world = world.crash(|| false);
    }
}

#[test]
fn a_reader_keeps_what_it_could_locate() {
    let world = World::new();
    let written = content(1, 100_000);
    let chunks = world.put(&written);
    let pin = world.chunks.pin();
    let location = locate(&*world.store.db.snapshot(), chunks[0].id).expect("readable").expect("there");
    world.release(&chunks);
    assert_eq!(world.reclaim().files_removed, 0);
    let _later = world.chunks.pin();
    assert!(pin.read(&location, 0..100_000).expect("readable")[..] == written);
    drop(pin);
    assert_eq!(world.reclaim().files_removed, 1, "later readers could not locate it");
}

#[test]
fn a_file_that_is_mostly_garbage_is_compacted() {
    let world = World::new();
    let chunks: Vec<Chunk> = (0..12).flat_map(|seed| world.put(&content(seed, 99_000))).collect();
    assert_eq!(world.file_count(), 3);
    let (kept, gone): (Vec<Chunk>, Vec<Chunk>) = chunks.iter().partition(|chunk| chunk.id.0 % 4 == 1);
    world.release(&gone);
    let done = world.reclaim();
    assert_eq!((done.chunks_removed, done.files_removed), (9, 3));
    assert!(done.bytes_moved > 3 * 99_000 && done.bytes_moved < 3 * 99_100, "{done:?}");
    for (chunk, seed) in kept.iter().zip([1, 5, 9]) {
        assert!(world.read(&[*chunk]).expect("readable") == content(seed, 99_000), "{seed}");
    }
    is_tidy(&world, &kept);
    // Chunks are moved again, and go from where they were moved to.
    let more: Vec<Chunk> = (20..24).flat_map(|seed| world.put(&content(seed, 99_000))).collect();
    world.release(&kept[..2]);
    world.release(&more);
    world.reclaim();
    assert!(world.read(&kept[2..]).expect("readable") == content(9, 99_000));
    is_tidy(&world, &kept[2..]);
    let world = world.crash(|| false);
    assert!(world.read(&kept[2..]).expect("readable") == content(9, 99_000));
    world.release(&kept[2..]);
    world.reclaim();
    is_tidy(&world, &[]);
}

#[test]
fn a_reader_of_a_chunk_that_is_moved_reads_on() {
    let world = World::new();
    let chunks: Vec<Chunk> = (0..4).flat_map(|seed| world.put(&content(seed, 99_000))).collect();
    let pin = world.chunks.pin();
    let location = locate(&*world.store.db.snapshot(), chunks[3].id).expect("readable").expect("there");
    world.release(&chunks[..3]);
    assert!(world.reclaim().bytes_moved > 0);
    assert!(pin.read(&location, 0..99_000).expect("readable")[..] == content(3, 99_000));
    drop(pin);
    assert_eq!(world.reclaim().files_removed, 1);
    assert!(world.read(&chunks[3..]).expect("readable") == content(3, 99_000));
}

#[test]
fn a_damaged_chunk_is_not_moved_and_not_lost() {
    let world = World::new();
    let chunks: Vec<Chunk> = (0..4).flat_map(|seed| world.put(&content(seed, 99_000))).collect();
    let location = locate(&*world.store.db.snapshot(), chunks[3].id).expect("readable").expect("there");
    world.release(&chunks[..3]);
    world.files.flip(location.file, location.offset as usize + 70_000, 3);
    world.reclaim();
    assert!(world.is_there(&chunks[3]));
    assert!(world.read(&chunks[3..]).is_err());
    world.release(&chunks[3..]);
    world.reclaim();
    is_tidy(&world, &[]);
}

#[test]
fn faults_of_the_disk_stop_a_step_and_lose_nothing() {
    for fault in [
        Fault::Write,
        Fault::ShortWrite,
        Fault::Sync,
        Fault::Create,
        Fault::SyncFolder,
        Fault::Remove,
        Fault::Read,
    ] {
        for nth in 0..3 {
            let world = World::new();
            let chunks: Vec<Chunk> = (0..12).flat_map(|seed| world.put(&content(seed, 99_000))).collect();
            let (kept, gone): (Vec<Chunk>, Vec<Chunk>) = chunks.iter().partition(|chunk| chunk.id.0 % 4 == 1);
            world.release(&gone);
            world.files.fail_at(nth, fault);
            for _ in 0..20 {
                let _ = world.chunks.reclaim(&world.store);
            }
            let world = world.crash(|| false);
            world.reclaim();
            for (chunk, seed) in kept.iter().zip([1, 5, 9]) {
                assert!(
                    world.read(&[*chunk]).expect("readable") == content(seed, 99_000),
                    "{fault:?} {seed}"
                );
            }
            is_tidy(&world, &kept);
        }
    }
}

#[test]
fn compaction_may_use_a_part_of_the_reserve() {
    let world = World::with(Options { disk_free_bytes_min: 8_000_000, ..options() });
    world.files.set_free_bytes(1 << 30);
    let chunks: Vec<Chunk> = (0..4).flat_map(|seed| world.put(&content(seed, 99_000))).collect();
    world.release(&chunks[..3]);
    world.files.set_free_bytes(4_000_000);
    let refused = (0..60).find_map(|seed| world.upload(&content(seed, 99_000)).err());
    assert!(refused.is_some(), "uploads are refused");
    assert!(world.reclaim().bytes_moved > 0);
}
