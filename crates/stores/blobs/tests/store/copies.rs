//! Copies within the store and from elsewhere.

use crate::world::{START, World, blob, container, content, metadata, refused, tags};
use orrery_blob_store::model::blob::CopyStatus;
use orrery_blob_store::model::operations::{CopyOptions, CopyTags, PutOptions, RangeRequest};
use orrery_blob_store::model::spaces::SPACES;
use orrery_blob_store::model::{BlobName, Conditions, ETagMatch, Refusal, Selector};
use orrery_catalog::storage::AccountName;
use orrery_chunks::files::MemoryFiles;
use orrery_core::Env;
use orrery_kv::{MemoryEngine, Sync};

#[test]
fn a_copy_shares_its_chunks_and_outlives_its_source() {
    let world = World::new();
    let bytes = content(300_000, 1);
    let options = PutOptions {
        metadata: metadata(&[("k", "v")]),
        tags: tags(&[("status", "done")]),
        ..PutOptions::default()
    };
    world.try_put("from", &bytes, options).unwrap();
    let before = world.chunks();
    let options =
        CopyOptions { records_copy: true, source_url: "http://x/from".into(), ..CopyOptions::default() };
    let copied =
        world.run(world.store.copy_blob(&blob("from"), Selector::Current, &blob("to"), options)).unwrap();
    assert_eq!(world.chunks(), before);
    assert_eq!(
        copied.copy.map(|copy| (copy.status, copy.bytes_copied)),
        Some((CopyStatus::Success, 300_000))
    );
    world.delete("from").unwrap();
    world.advance(8 * 86_400);
    world.settle();
    assert_eq!(world.read("to"), bytes);
    let blob = world.store.blob(&blob("to"), Selector::Current, &Conditions::default()).unwrap();
    assert_eq!((blob.metadata.iter().next(), blob.tags.len()), (Some(("k", "v")), 0));
}

#[test]
fn a_copy_may_come_from_another_container_and_account() {
    let world = World::new();
    world.create("other");
    world.put("a", b"here");
    let mut to = container("other").blob(BlobName::parse("b").unwrap());
    let copy = |to: &_, options| world.run(world.store.copy_blob(&blob("a"), Selector::Current, to, options));
    let options = CopyOptions { tags: CopyTags::Replace(tags(&[("a", "b")])), ..CopyOptions::default() };
    assert_eq!(copy(&to, options).unwrap().copy, None);
    assert_eq!(world.store.tags(&to, Selector::Current, &Conditions::default()).unwrap().len(), 1);
    to.container.account = AccountName::parse("otheraccount").unwrap();
    assert_eq!(refused(copy(&to, CopyOptions::default())), Refusal::ContainerNotFound);
}

#[test]
fn a_source_that_is_not_there_or_changed_is_named() {
    let world = World::new();
    world.put("a", b"1");
    let copy = |from: &str, options| {
        world.run(world.store.copy_blob(&blob(from), Selector::Current, &blob("b"), options))
    };
    let missing = Refusal::CopySource(Box::new(Refusal::BlobNotFound));
    assert_eq!(refused(copy("missing", CopyOptions::default())), missing);
    let source_conditions = Conditions { if_none_match: Some(ETagMatch::Any), ..Conditions::default() };
    let changed = copy("a", CopyOptions { source_conditions, ..CopyOptions::default() });
    assert_eq!(refused(changed), Refusal::SourceConditionNotMet);
    let conditions = Conditions { if_match: Some(ETagMatch::Any), ..Conditions::default() };
    let to = copy("a", CopyOptions { conditions, ..CopyOptions::default() });
    assert_eq!(refused(to), Refusal::ConditionNotMet { is_not_modified: false });
}

#[test]
fn a_range_of_a_blob_becomes_an_upload() {
    let world = World::new();
    let bytes = content(500_000, 1);
    world.put("a", &bytes);
    let range = Some(RangeRequest { start: 1000, last: Some(400_999) });
    let uploaded = world
        .run(world.store.upload_from(&blob("a"), Selector::Current, range, &Conditions::default(), u64::MAX))
        .unwrap();
    world.run(world.store.put_blob(&blob("b"), uploaded, PutOptions::default())).unwrap();
    assert_eq!(world.read("b"), bytes[1000..401_000]);
}

#[test]
fn a_copy_from_elsewhere_is_pending_until_it_is_finished_or_aborted() {
    let world = World::new();
    world.put("a", b"old");
    let begin =
        || world.run(world.store.begin_copy(&blob("a"), "http://elsewhere/x".into(), PutOptions::default()));
    let pending = begin().unwrap();
    assert_eq!(refused(begin()), Refusal::PendingCopy);
    assert_eq!(refused(world.try_put("a", b"x", PutOptions::default())), Refusal::PendingCopy);
    world.run(world.store.note_copy_progress(&blob("a"), pending.id, 5, Some(10))).unwrap();
    let uploaded = world.upload(&content(100_000, 1));
    world.run(world.store.finish_copy(&blob("a"), pending.id, uploaded, PutOptions::default())).unwrap();
    assert_eq!(world.read("a"), content(100_000, 1));
    let shown = world.store.blob(&blob("a"), Selector::Current, &Conditions::default()).unwrap();
    assert_eq!(shown.copy.map(|copy| copy.status), Some(CopyStatus::Success));
    let abort = |id| world.run(world.store.abort_copy(&blob("a"), id, None));
    assert_eq!(refused(abort(pending.id)), Refusal::NoPendingCopy);
    let second = begin().unwrap();
    assert_eq!(refused(abort(pending.id)), Refusal::CopyIdMismatch);
    abort(second.id).unwrap();
    assert_eq!(world.read("a"), b"");
    assert_eq!(
        refused(world.run(world.store.finish_copy(
            &blob("a"),
            second.id,
            world.upload(b"late"),
            PutOptions::default()
        ))),
        Refusal::NoPendingCopy
    );
}

#[test]
fn a_copy_fails_when_the_process_is_gone_that_brought_its_content() {
    let engine = MemoryEngine::new(&SPACES);
    let world = World::over(engine.clone(), MemoryFiles::new(), Sync::Data, Env::seeded(START, 1));
    world.create("runs");
    let begin = |name: &str| {
        world
            .run(world.store.begin_copy(&blob(name), "http://elsewhere/x".into(), PutOptions::default()))
            .unwrap()
    };
    let (lost, finished) = (begin("lost"), begin("finished"));
    world.settle();
    let uploaded = world.upload(b"content");
    world
        .run(world.store.finish_copy(&blob("finished"), finished.id, uploaded, PutOptions::default()))
        .unwrap();
    let status = |world: &World, name: &str| {
        let found = world.store.blob(&blob(name), Selector::Current, &Conditions::default()).unwrap();
        found.copy.unwrap().status
    };
    assert_eq!(status(&world, "lost"), CopyStatus::Pending, "as long as the process is there");
    world.store.close();
    let again = World::over(engine.crash(0), world.files.crash(|| true), Sync::Data, Env::seeded(START, 2));
    again.settle();
    assert_eq!(status(&again, "lost"), CopyStatus::Failed);
    assert_eq!(status(&again, "finished"), CopyStatus::Success);
    assert_eq!(
        refused(again.run(again.store.abort_copy(&blob("lost"), lost.id, None))),
        Refusal::NoPendingCopy
    );
}
