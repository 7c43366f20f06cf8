//! Content: what is put is read back, in any range, from rows and from chunks.

use crate::world::{World, blob, block, content, refused};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use orrery_blob_store::model::operations::{
    AppendConditions, BlockRef, BlockSource, ByteRange, ListPages, NewPageBlob, PageConditions, PutOptions,
    SetProperties,
};
use orrery_blob_store::model::spaces::{BLOBS, CONTENT};
use orrery_blob_store::model::{Conditions, Refusal, Selector};
use orrery_blob_store::{Error, ExpectedHashes};

#[test]
fn content_of_every_size_is_read_back() {
    let world = World::new();
    for length in [0, 1, 511, 32 * 1024, 32 * 1024 + 1, 300_000, 2_000_000] {
        let bytes = content(length, length as u64);
        let written = world.put("a", &bytes);
        assert!(written.content_md5.is_some());
        assert_eq!(world.read("a"), bytes, "{length}");
    }
}

#[test]
fn ranges_are_cut_to_the_blob() {
    let world = World::new();
    let bytes = content(1_500_000, 1);
    world.put("a", &bytes);
    let check = |start: u64, last: u64| {
        let end = (last as usize).saturating_add(1).min(bytes.len());
        let read = world.try_read("a", Selector::Current, Some((start, last))).unwrap();
        assert_eq!(read, bytes[start as usize..end], "{start}-{last}");
    };
    check(0, 0);
    check(65_530, 65_540);
    check(1_048_570, 1_048_580);
    check(1_499_999, 1_499_999);
    check(1_000_000, u64::MAX);
    let behind = world.try_read("a", Selector::Current, Some((1_500_000, 1_500_001)));
    assert_eq!(refused(behind), Refusal::InvalidRange { length: 1_500_000 });
    world.put("empty", b"");
    assert_eq!(world.read("empty"), b"");
    let range = world.try_read("empty", Selector::Current, Some((0, 10)));
    assert_eq!(refused(range), Refusal::InvalidRange { length: 0 });
}

#[test]
fn wrong_hashes_and_too_many_bytes_leave_nothing() {
    let world = World::new();
    for length in [10, 100_000] {
        let finish = |expected: ExpectedHashes| {
            world.run(async {
                let mut writer = world.store.upload(1 << 20);
                writer.write(Bytes::from(content(length, 1))).await.unwrap();
                writer.finish(expected).await
            })
        };
        let right = finish(ExpectedHashes::default()).unwrap();
        let same = ExpectedHashes { md5: Some(right.md5()), crc64: Some(right.crc64()) };
        assert!(finish(same).is_ok());
        let md5 = finish(ExpectedHashes { md5: Some([0; 16]), crc64: None });
        assert_eq!(refused(md5), Refusal::Md5Mismatch);
        let crc64 = finish(ExpectedHashes { md5: None, crc64: Some(1) });
        assert_eq!(refused(crc64), Refusal::Crc64Mismatch);
    }
    let too_many = world.run(async {
        let mut writer = world.store.upload(10);
        writer.write(Bytes::from_static(b"0123456789")).await?;
        writer.write(Bytes::from_static(b"a")).await?;
        Ok::<_, Error>(())
    });
    assert_eq!(refused(too_many), Refusal::BodyTooLarge);
    world.settle();
    assert_eq!((world.rows(BLOBS), world.rows(CONTENT), world.chunks()), (0, 0, 0));
}

#[test]
fn blocks_become_a_blob_in_the_order_of_their_list() {
    let world = World::new();
    let [one, two, three] = [1, 2, 3].map(|seed| content(50_000, seed));
    world.stage("a", "QQ==", &one).unwrap();
    world.stage("a", "Qg==", b"small").unwrap();
    world.stage("a", "Qw==", &three).unwrap();
    world.stage("a", "Qg==", &two).unwrap();
    assert_eq!(world.states(), ["a uncommitted"]);
    assert_eq!(refused(world.try_read("a", Selector::Current, None)), Refusal::BlobNotFound);
    assert_eq!(refused(world.stage("a", "QUE=", &one)), Refusal::InvalidBlockId, "ids are of one length");
    assert_eq!(refused(world.commit("a", &["RA=="])), Refusal::InvalidBlockList);
    world.commit("a", &["Qg==", "QQ==", "Qg=="]).unwrap();
    assert_eq!(world.read("a"), [&two[..], &one, &two].concat());
    let lists = world.store.block_lists(&blob("a"), Selector::Current, &Conditions::default()).unwrap();
    let committed: Vec<String> = lists.committed.iter().map(|block| block.id.to_string()).collect();
    assert_eq!(
        (committed, lists.uncommitted.len()),
        (["Qg==", "QQ==", "Qg=="].map(String::from).to_vec(), 0)
    );
    // Committed blocks are used again beside new ones.
    world.stage("a", "RA==", b"new").unwrap();
    world.commit("a", &["QQ==", "RA=="]).unwrap();
    assert_eq!(world.read("a"), [&one[..], b"new"].concat());
    world.commit("a", &[]).unwrap();
    assert_eq!(world.read("a"), b"");
}

#[test]
fn a_block_is_taken_from_where_its_list_says() {
    let world = World::new();
    world.stage("a", "QQ==", b"old").unwrap();
    world.commit("a", &["QQ=="]).unwrap();
    let commit = |from: BlockSource| {
        let blocks = vec![BlockRef { id: block("QQ=="), from }];
        world
            .run(world.store.commit_block_list(&blob("a"), blocks, PutOptions::default()))
            .map(|_| world.read("a"))
    };
    assert_eq!(refused(commit(BlockSource::Uncommitted)), Refusal::InvalidBlockList);
    world.stage("a", "QQ==", b"new").unwrap();
    assert_eq!(commit(BlockSource::Committed).unwrap(), b"old");
    world.stage("a", "QQ==", b"new").unwrap();
    assert_eq!(commit(BlockSource::Uncommitted).unwrap(), b"new");
    world.stage("a", "QQ==", b"newest").unwrap();
    assert_eq!(commit(BlockSource::Latest).unwrap(), b"newest");
}

#[test]
fn a_put_drops_blocks_that_wait() {
    let world = World::new();
    world.stage("a", "QQ==", &content(50_000, 1)).unwrap();
    world.put("a", b"whole");
    assert_eq!(refused(world.commit("a", &["QQ=="])), Refusal::InvalidBlockList);
    assert_eq!(world.states(), ["a"]);
}

#[test]
fn appends_go_to_the_end_until_the_blob_is_sealed() {
    let world = World::new();
    world.run(world.store.put_append_blob(&blob("log"), PutOptions::default())).unwrap();
    let append = |bytes: &[u8], conditions: AppendConditions| {
        let uploaded = world.upload(bytes);
        world.run(world.store.append_block(&blob("log"), uploaded, conditions))
    };
    let large = content(100_000, 1);
    assert_eq!(append(b"first ", AppendConditions::default()).unwrap().offset, 0);
    let second = append(&large, AppendConditions { position: Some(6), ..Default::default() }).unwrap();
    assert_eq!((second.offset, second.blocks), (6, 2));
    assert_eq!(world.read("log"), [b"first ", &large[..]].concat());
    let elsewhere = append(b"x", AppendConditions { position: Some(6), ..Default::default() });
    assert_eq!(refused(elsewhere), Refusal::AppendPositionNotMet);
    let beyond = append(b"x", AppendConditions { length_max: Some(100_006), ..Default::default() });
    assert_eq!(refused(beyond), Refusal::MaxBlobSizeNotMet);
    world.run(world.store.seal(&blob("log"), AppendConditions::default())).unwrap();
    assert_eq!(refused(append(b"x", AppendConditions::default())), Refusal::BlobIsSealed);
    world.put("block", b"");
    let other = world.run(world.store.append_block(&blob("block"), world.upload(b"x"), Default::default()));
    assert_eq!(refused(other), Refusal::InvalidBlobType);
}

#[test]
fn pages_are_written_cleared_and_compared_with_a_snapshot() {
    let world = World::new();
    let new = NewPageBlob { length: 8192, sequence: 7 };
    world.run(world.store.put_page_blob(&blob("disk"), new, PutOptions::default())).unwrap();
    assert_eq!(world.read("disk"), [0; 8192]);
    let mut expected = vec![0; 8192];
    let mut write = |world: &World, offset: u64, length: usize, seed: u64| {
        let bytes = content(length, seed);
        expected[offset as usize..offset as usize + length].copy_from_slice(&bytes);
        let uploaded = world.upload(&bytes);
        assert_eq!(
            world
                .run(world.store.put_pages(&blob("disk"), offset, uploaded, PageConditions::default()))
                .unwrap()
                .sequence,
            7
        );
        assert_eq!(world.read("disk"), expected, "{offset}");
    };
    write(&world, 512, 1024, 1);
    write(&world, 4096, 4096, 2);
    write(&world, 1024, 1024, 3);
    write(&world, 4608, 512, 4);
    let snapshot = world.run(world.store.snapshot_blob(&blob("disk"), None, Conditions::default())).unwrap();
    let before = world.read("disk");
    write(&world, 5120, 512, 5);
    let clear = ByteRange { start: 512, end: 1536 };
    world.run(world.store.clear_pages(&blob("disk"), clear, PageConditions::default())).unwrap();
    assert_eq!(world.try_read("disk", Selector::Snapshot(snapshot.snapshot), None).unwrap(), before);
    let ranges = |request: &ListPages| {
        let list = world.store.page_ranges(&blob("disk"), Selector::Current, request).unwrap();
        let ranges = list.ranges.iter().map(|found| (found.range.start, found.range.end, found.is_cleared));
        (ranges.collect::<Vec<_>>(), list.next)
    };
    assert_eq!(ranges(&ListPages::default()), (vec![(1536, 2048, false), (4096, 8192, false)], None));
    let since = ListPages { since: Some(snapshot.snapshot), ..ListPages::default() };
    assert_eq!(ranges(&since), (vec![(512, 1536, true), (5120, 5632, false)], None));
    let first = ListPages { count_max: Some(1), ..ListPages::default() };
    let (one, next) = ranges(&first);
    assert_eq!(one, [(1536, 2048, false)]);
    assert_eq!(ranges(&ListPages { marker: next, ..first }), (vec![(4096, 8192, false)], None));
}

#[test]
fn pages_are_512_bytes_inside_of_the_blob() {
    let world = World::new();
    let create = |length| {
        let new = NewPageBlob { length, sequence: 0 };
        world.run(world.store.put_page_blob(&blob("disk"), new, PutOptions::default()))
    };
    assert_eq!(refused(create(100)), Refusal::InvalidInput("x-ms-blob-content-length"));
    create(1024).unwrap();
    let write = |offset, length, conditions| {
        world.run(world.store.put_pages(&blob("disk"), offset, world.upload(&content(length, 1)), conditions))
    };
    for (offset, length) in [(1, 512), (0, 511), (1024, 512), (512, 1024), (0, 0)] {
        let outside = write(offset, length, PageConditions::default());
        assert_eq!(refused(outside), Refusal::InvalidPageRange, "{offset} {length}");
    }
    let wrong = PageConditions { sequence_equal: Some(1), ..PageConditions::default() };
    assert_eq!(refused(write(0, 512, wrong)), Refusal::SequenceNumberNotMet);
    write(512, 512, PageConditions::default()).unwrap();
    let resize = |length| SetProperties { resize: Some(length), ..SetProperties::default() };
    world.run(world.store.set_properties(&blob("disk"), resize(512))).unwrap();
    world.run(world.store.set_properties(&blob("disk"), resize(1024))).unwrap();
    assert_eq!(world.read("disk"), [0; 1024], "what was cut off does not come back");
}

#[test]
fn a_flipped_bit_is_reported_and_not_served() {
    let world = World::new();
    world.put("a", &content(200_000, 1));
    world.files.flip(orrery_chunks::FileId(1), 100_000, 3);
    let read = world.try_read("a", Selector::Current, None);
    assert!(matches!(read, Err(Error::Engine(orrery_kv::Error::Corrupt(_)))), "{read:?}");
    assert!(world.try_read("a", Selector::Current, Some((0, 10))).is_ok(), "what is whole is served");
}

#[test]
fn a_blob_of_thousands_of_blocks_is_read_in_any_range() {
    let world = World::new();
    let ids: Vec<String> = (0..1500).map(|number| STANDARD.encode(format!("{number:05}"))).collect();
    let mut expected = Vec::new();
    for (number, id) in ids.iter().enumerate() {
        let bytes = content(number % 5 + 1, number as u64);
        world.stage("a", id, &bytes).unwrap();
        expected.extend_from_slice(&bytes);
    }
    world.commit("a", &ids.iter().map(String::as_str).collect::<Vec<_>>()).unwrap();
    assert_eq!(world.read("a"), expected);
    for (start, last) in [(0, 0), (3, 3000), (1000, 4499), (4499, 5000)] {
        let read = world.try_read("a", Selector::Current, Some((start, last))).unwrap();
        assert_eq!(read, expected[start as usize..(last as usize + 1).min(expected.len())]);
    }
}
