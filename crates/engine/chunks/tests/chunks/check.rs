//! Checking: every damage is found and named.

use crate::world::{World, content, ids};
use orrery_chunks::{Checked, Chunk, Error, FileId, locate};

/// Two chunks of several frames, alone in a file.
fn world() -> (World, Vec<Chunk>, FileId, usize) {
    let world = World::new();
    let chunks: Vec<Chunk> =
        [70_000, 3000].into_iter().flat_map(|length| world.put(&content(1, length))).collect();
    let location = locate(&*world.store.db.snapshot(), chunks[0].id).expect("readable").expect("there");
    let bytes = 32 + 70_000 + 16 + 3000 + 8;
    (world, chunks, location.file, bytes)
}

fn faults(checked: &Checked) -> String {
    checked.faults.join("\n")
}

#[test]
fn a_store_that_is_well_has_no_faults() {
    let (world, chunks, ..) = world();
    let checked = world.check(ids(&chunks));
    let expected = Checked { chunks: 2, bytes: 73_000, files: 1, ..Checked::default() };
    assert_eq!(checked, expected);
}

#[test]
fn a_flipped_bit_in_any_byte_is_found() {
    let (world, chunks, file, bytes) = world();
    // Every byte of the head, the checksums and the second chunk, and some of the first.
    let places = (0..32).chain((32..70_000).step_by(997)).chain(70_000..bytes);
    for byte in places {
        let bit = (byte % 8) as u8;
        world.files.flip(file, byte, bit);
        let checked = world.check(ids(&chunks));
        assert_eq!(checked.faults.len(), 1, "{byte}: {}", faults(&checked));
        let read = world.read(&chunks);
        assert_eq!(read.is_err(), byte >= 32, "{byte}");
        world.files.flip(file, byte, bit);
    }
    assert_eq!(world.check(ids(&chunks)).faults, [""; 0]);
}

#[test]
fn a_damaged_frame_is_never_served_and_the_others_are() {
    let (world, chunks, file, _) = world();
    world.files.flip(file, 32 + 65_536 + 5, 0);
    let pin = world.chunks.pin();
    let location = locate(&*world.store.db.snapshot(), chunks[0].id).expect("readable").expect("there");
    assert!(pin.read(&location, 0..65_536).expect("the first frame is whole")[..] == content(1, 65_536));
    let expected = Error::Corrupt { file, offset: location.offset + 65_536 };
    assert_eq!(pin.read(&location, 65_535..65_537), Err(expected.clone()));
    assert_eq!(pin.read(&location, 69_999..70_000), Err(expected));
}

#[test]
fn a_file_that_is_too_short_or_gone_is_named() {
    let (world, chunks, file, bytes) = world();
    world.files.truncate(file, bytes - 1);
    let checked = world.check(ids(&chunks));
    assert!(faults(&checked).contains("ends before its chunk"), "{}", faults(&checked));
    assert!(matches!(world.read(&chunks[1..]), Err(Error::Torn { .. })));
    let world = World::over(Default::default(), world.engine, crate::world::options());
    let checked = world.check(ids(&chunks));
    assert!(faults(&checked).contains(&format!("the chunk file {file} is missing")), "{}", faults(&checked));
    assert_eq!(world.read(&chunks), Err(Error::Missing(file)));
    let next = world.put(&content(2, 100));
    assert!(next[0].id > chunks[1].id, "its number is not used again");
}

#[test]
fn references_that_do_not_agree_with_the_counts_are_named() {
    let (world, chunks, ..) = world();
    let one = &chunks[..1];
    let cases: [(Vec<_>, &str); 3] = [
        (ids(one), "has 0 references, and its count says 1"),
        ([ids(&chunks), ids(one)].concat(), "has 2 references, and its count says 1"),
        (
            [ids(&chunks), vec![orrery_chunks::ChunkId(99)]].concat(),
            "refers to the chunk 63, which is not in the store",
        ),
    ];
    for (references, expected) in cases {
        let checked = world.check(references);
        assert!(faults(&checked).contains(expected), "{}", faults(&checked));
        assert_eq!(checked.faults.len(), 1);
    }
}

#[test]
fn what_nobody_refers_to_is_counted_and_no_fault() {
    let (world, chunks, ..) = world();
    drop(world.upload(&content(9, 1000)).expect("uploaded"));
    drop(world.upload(&content(9, 390_000)).expect("uploaded"));
    let checked = world.check(ids(&chunks));
    assert_eq!((checked.faults.len(), checked.files_reclaimable), (0, 1), "{checked:?}");
    assert_eq!(checked.bytes_reclaimable, 1000 + 8 + 390_000 + 48);
}

#[test]
fn a_chunk_that_was_released_too_often_is_found() {
    let (world, chunks, ..) = world();
    world.retain(&chunks[..1]);
    (0..2).for_each(|_| world.release(&chunks[..1]));
    world.reclaim();
    assert!(!world.is_there(&chunks[0]));
    world.release(&chunks[..1]);
    world.reclaim();
    assert_eq!(world.check(ids(&chunks[1..])).faults, [""; 0], "nothing of it is left");
}
