//! Uploads: what is written is read back, on whatever disk.

use crate::world::{World, content, ids, options};
use orrery_chunks::files::Fault;
use orrery_chunks::{Error, Options, add, limits, locate};
use orrery_kv::Sync;

#[test]
fn content_of_any_size_is_read_back_in_any_range() {
    let world = World::new();
    for (seed, length) in
        [1, 65_535, 65_536, 65_537, 262_143, 262_144, 262_145, 390_000].into_iter().enumerate()
    {
        let written = content(seed as u64, length);
        let chunks = world.put(&written);
        assert!(world.read(&chunks).expect("readable") == written, "{length}");
        let pin = world.chunks.pin();
        let location = locate(&*world.store.db.snapshot(), chunks[0].id).expect("readable").expect("there");
        let length = length as u32;
        for range in
            [0..1, 0..length, length - 1..length, length / 2..length, 65_535..65_537, 65_536..65_536, 0..0]
        {
            if range.end <= length {
                let read = pin.read(&location, range.clone()).expect("readable");
                assert!(
                    read[..] == written[range.start as usize..range.end as usize],
                    "{range:?} of {length}"
                );
            }
        }
    }
}

#[test]
fn content_without_bytes_has_no_chunks() {
    let world = World::new();
    assert_eq!(world.put(b""), []);
    assert_eq!(world.file_count(), 0);
}

#[test]
fn long_content_is_cut_into_chunks_however_it_arrives() {
    let length = limits::CHUNK_BYTES_MAX as usize + 100_001;
    let written = content(7, length);
    for (piece, expected) in [(300_007, None), (8_000_000, Some(length as u64)), (1_000_000, Some(10))] {
        let world = World::with(Options { file_bytes_max: 1 << 30, ..options() });
        let mut writer =
            expected.map_or_else(|| world.chunks.writer(), |bytes| world.chunks.writer_of(bytes));
        written.chunks(piece).for_each(|piece| writer.write(piece).expect("written"));
        assert_eq!(writer.bytes(), length as u64);
        let synced = writer.finish().expect("written").sync().expect("synced");
        assert!(world.store.txn(|txn| add(txn, &synced)));
        let chunks: Vec<_> = synced.chunks().collect();
        assert!(world.read(&chunks).expect("readable") == written, "{piece}");
        assert_eq!(world.check(ids(&chunks)).faults, [""; 0]);
    }
}

#[test]
fn uploads_that_share_a_file_do_not_meet() {
    let world = World::with(Options { file_bytes_max: 1 << 30, ..options() });
    let contents: Vec<Vec<u8>> = (0..64).map(|seed| content(seed, 1000 + 7001 * seed as usize)).collect();
    let mut writers: Vec<_> =
        contents.iter().map(|content| world.chunks.writer_of(content.len() as u64)).collect();
    for at in (0..500_000).step_by(10_000) {
        for (writer, content) in writers.iter_mut().zip(&contents) {
            let end = content.len().min(at + 10_000);
            writer.write(&content[at.min(end)..end]).expect("written");
        }
    }
    assert!(world.file_count() <= limits::OPEN_FILES_MAX);
    let mut all = Vec::new();
    for (writer, content) in writers.into_iter().zip(&contents) {
        let synced = writer.finish().expect("written").sync().expect("synced");
        assert!(world.store.txn(|txn| add(txn, &synced)));
        let chunks: Vec<_> = synced.chunks().collect();
        assert!(world.read(&chunks).expect("readable") == *content);
        all.extend(ids(&chunks));
    }
    let checked = world.check(all);
    assert_eq!((checked.chunks, checked.faults.len(), checked.bytes_reclaimable), (64, 0, 0), "{checked:?}");
}

/// Chunks and bytes that are left empty when uploads of unknown length, of this length, share files.
fn unknown_lengths(length: usize) -> (usize, u64) {
    let world = World::with(Options { file_bytes_max: 1 << 30, ..options() });
    let mut writers: Vec<_> = (0..20).map(|_| world.chunks.writer()).collect();
    let written = content(5, length);
    for piece in written.chunks(50_000) {
        writers.iter_mut().for_each(|writer| writer.write(piece).expect("written"));
    }
    let mut all = Vec::new();
    for writer in writers {
        assert_eq!(writer.bytes(), length as u64);
        let synced = writer.finish().expect("written").sync().expect("synced");
        assert!(world.store.txn(|txn| add(txn, &synced)));
        let chunks: Vec<_> = synced.chunks().collect();
        assert!(world.read(&chunks).expect("readable") == written, "{length}");
        all.extend(ids(&chunks));
    }
    let checked = world.check(all.clone());
    assert_eq!(checked.faults, [""; 0]);
    (all.len(), checked.bytes_reclaimable)
}

#[test]
fn uploads_of_unknown_length_leave_little_empty_in_files_that_they_share() {
    assert_eq!(unknown_lengths(200_000), (20, 0), "what fits a buffer is written at once");
    let (chunks, empty) = unknown_lengths(3_000_000);
    assert!(chunks <= 120 && empty < 20 * 3_000_000, "{chunks} {empty}");
}

#[test]
fn an_upload_that_is_alone_gets_whole_chunks() {
    let world = World::with(Options { file_bytes_max: 1 << 30, ..options() });
    let mut writer = world.chunks.writer();
    let piece = content(1, 1 << 20);
    (0..40).for_each(|_| writer.write(&piece).expect("written"));
    let synced = writer.finish().expect("written").sync().expect("synced");
    let lengths: Vec<u32> = synced.chunks().map(|chunk| chunk.length).collect();
    assert_eq!(lengths, [limits::CHUNK_BYTES_MAX, 8 << 20]);
    assert!(world.store.txn(|txn| add(txn, &synced)));
    let checked = world.check(synced.chunks().map(|chunk| chunk.id));
    assert_eq!((checked.faults.len(), checked.bytes_reclaimable), (0, 0), "{checked:?}");
}

#[test]
fn uploads_of_one_file_share_a_sync() {
    let world = World::new();
    let mut appended = Vec::new();
    for seed in 0..5 {
        let mut writer = world.chunks.writer_of(1000);
        writer.write(&content(seed, 1000)).expect("written");
        appended.push(writer.finish().expect("written"));
    }
    appended.into_iter().for_each(|appended| drop(appended.sync().expect("synced")));
    assert_eq!((world.file_count(), world.files.syncs()), (1, 1));
}

#[test]
fn without_durability_nothing_is_synced() {
    let world = World::with(Options { sync: Sync::None, ..options() });
    let chunks = world.put(&content(1, 1000));
    assert_eq!(world.files.syncs(), 0);
    assert!(world.read(&chunks).is_ok());
}

/// The upload that meets the fault is refused; what was stored before stays, and the next goes elsewhere.
fn survives(fault: Fault) {
    let world = World::new();
    let before = content(1, 5000);
    let kept = world.put(&before);
    if matches!(fault, Fault::Create | Fault::SyncFolder) {
        // So that the next upload needs a file.
        world.put(&content(2, 390_000));
    }
    world.files.fail_at(0, fault);
    let refused = world.upload(&content(3, 300_000));
    assert!(matches!(refused, Err(Error::Unavailable(_))), "{fault:?}: {:?}", refused.err());
    let after = content(4, 5000);
    let next = world.put(&after);
    assert!(world.read(&kept).expect("readable") == before, "{fault:?}");
    let world = world.crash(|| false);
    assert!(world.read(&kept).expect("readable") == before, "{fault:?}");
    assert!(world.read(&next).expect("readable") == after, "{fault:?}");
}

#[test]
fn a_writer_that_failed_finishes_nothing() {
    let world = World::new();
    let mut writer = world.chunks.writer_of(300_000);
    world.files.fail_at(1, Fault::Write);
    assert!(writer.write(&content(1, 300_000)).is_err(), "the head of the file is written before");
    assert!(matches!(writer.finish().err(), Some(Error::Unavailable(_))));
}

#[test]
fn a_disk_that_fails_once_refuses_one_upload() {
    [Fault::Write, Fault::ShortWrite, Fault::Sync, Fault::Create, Fault::SyncFolder]
        .into_iter()
        .for_each(survives);
}

#[test]
fn a_file_whose_sync_failed_is_believed_by_nobody() {
    let world = World::new();
    let mut appended = Vec::new();
    for seed in 0..2 {
        let mut writer = world.chunks.writer_of(1000);
        writer.write(&content(seed, 1000)).expect("written");
        appended.push(writer.finish().expect("written"));
    }
    world.files.fail_at(0, Fault::Sync);
    for appended in appended {
        assert!(
            matches!(appended.sync(), Err(Error::Unavailable(_))),
            "the second would succeed if it were tried"
        );
    }
    assert_eq!(world.files.syncs(), 1);
    world.put(&content(3, 1000));
    assert_eq!(world.file_count(), 2);
}

#[test]
fn the_reserve_of_the_disk_is_kept() {
    let world = World::with(Options { disk_free_bytes_min: 1000, ..options() });
    world.files.set_free_bytes(100_000);
    world.put(&content(1, 1000));
    world.files.set_free_bytes(1999);
    let refused = (0..6).find_map(|seed| world.upload(&content(seed, 1_000_000)).err());
    assert!(matches!(refused, Some(Error::Full(_))), "{refused:?}");
}

#[test]
fn an_upload_that_is_abandoned_leaves_no_room_behind() {
    let world = World::new();
    let first = world.put(&content(1, 1000));
    let mut writer = world.chunks.writer_of(300_000);
    writer.write(&content(2, 300_000)).expect("written");
    drop(writer);
    let second = world.put(&content(3, 350_000));
    assert_eq!(world.file_count(), 1, "what it had is written over");
    assert!(world.read(&second).expect("readable") == content(3, 350_000));
    assert!(world.read(&first).is_ok());
}
