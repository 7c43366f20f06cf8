//! Properties, metadata, tags, tiers, leases, conditions, the last access.

use crate::world::{World, blob, metadata, refused, tags};
use orrery_blob_store::model::blob::ContentHeaders;
use orrery_blob_store::model::lease::{LeaseAction, LeaseConflict, LeaseDuration, LeaseId};
use orrery_blob_store::model::operations::{
    NewPageBlob, PutOptions, SequenceAction, SetProperties, SetTier, TierSet,
};
use orrery_blob_store::model::tags::TagExpression;
use orrery_blob_store::model::tier::{RehydratePriority, Tier};
use orrery_blob_store::model::{Blob, Conditions, ETagMatch, Refusal, Selector};
use orrery_core::Timestamp;

fn look(world: &World, name: &str) -> Blob {
    world.store.blob(&blob(name), Selector::Current, &Conditions::default()).unwrap()
}

fn etag(world: &World, name: &str) -> Option<ETagMatch> {
    Some(ETagMatch::OneOf(vec![look(world, name).etag()]))
}

#[test]
fn a_put_replaces_everything_and_properties_are_replaced_alone() {
    let world = World::new();
    let headers = ContentHeaders { content_type: Some("text/plain".into()), ..ContentHeaders::default() };
    let options = PutOptions {
        headers: headers.clone(),
        metadata: metadata(&[("Foo", "bar")]),
        tags: tags(&[("a", "1")]),
        tier: Some(Tier::Cool),
        ..PutOptions::default()
    };
    world.try_put("a", b"1", options).unwrap();
    let first = look(&world, "a");
    assert_eq!((first.metadata.iter().next(), first.tags.get("a")), (Some(("Foo", "bar")), Some("1")));
    let now = world.store.env().now();
    assert_eq!((first.tier.tier(now), first.tier.is_inferred()), (Tier::Cool, false));
    let cache = ContentHeaders { cache_control: Some("no-cache".into()), ..ContentHeaders::default() };
    let set = SetProperties { headers: Some(cache.clone()), ..SetProperties::default() };
    world.run(world.store.set_properties(&blob("a"), set)).unwrap();
    let second = look(&world, "a");
    assert_eq!((second.headers, second.metadata), (cache, first.metadata));
    assert!(second.modified > first.modified);
    world.put("a", b"2");
    let third = look(&world, "a");
    assert!(third.metadata.is_empty() && third.tags.is_empty() && third.tier.is_inferred());
    assert_eq!(third.created, first.created);
}

#[test]
fn page_blobs_have_sequence_numbers() {
    let world = World::new();
    let new = NewPageBlob { length: 512, sequence: 5 };
    world.run(world.store.put_page_blob(&blob("disk"), new, PutOptions::default())).unwrap();
    let apply = |action| {
        let set = SetProperties { sequence: Some(action), ..SetProperties::default() };
        world.run(world.store.set_properties(&blob("disk"), set)).map(|set| set.sequence)
    };
    assert_eq!(apply(SequenceAction::Max(3)).unwrap(), Some(5));
    assert_eq!(apply(SequenceAction::Max(9)).unwrap(), Some(9));
    assert_eq!(apply(SequenceAction::Update(2)).unwrap(), Some(2));
    assert_eq!(apply(SequenceAction::Increment).unwrap(), Some(3));
    apply(SequenceAction::Update(i64::MAX as u64)).unwrap();
    assert_eq!(refused(apply(SequenceAction::Increment)), Refusal::SequenceNumberOverflow);
}

#[test]
fn writes_keep_their_conditions() {
    let world = World::new();
    let put = |conditions| world.try_put("a", b"x", PutOptions { conditions, ..PutOptions::default() });
    let any = Conditions { if_match: Some(ETagMatch::Any), ..Conditions::default() };
    let new = Conditions { if_none_match: Some(ETagMatch::Any), ..Conditions::default() };
    assert_eq!(refused(put(any.clone())), Refusal::ConditionNotMet { is_not_modified: false });
    put(new.clone()).unwrap();
    assert_eq!(refused(put(new)), Refusal::BlobAlreadyExists);
    put(any).unwrap();
    let same = Conditions { if_match: etag(&world, "a"), ..Conditions::default() };
    put(same.clone()).unwrap();
    assert_eq!(refused(put(same)), Refusal::ConditionNotMet { is_not_modified: false });
    let changed = Conditions { if_none_match: etag(&world, "a"), ..Conditions::default() };
    assert_eq!(refused(put(changed)), Refusal::ConditionNotMet { is_not_modified: true });
    let tagged = TagExpression::parse("status = 'done' OR status = 'failed'").unwrap();
    let tagged = Conditions { if_tags: Some(tagged), ..Conditions::default() };
    assert_eq!(refused(put(tagged.clone())), Refusal::ConditionNotMet { is_not_modified: false });
    world.put_tagged("a", &[("status", "failed")]);
    put(tagged).unwrap();
    let second = look(&world, "a").modified.timestamp();
    let before = Timestamp::from_seconds(second.seconds() - 1);
    let unmodified = |moment| Conditions { if_unmodified_since: Some(moment), ..Conditions::default() };
    assert_eq!(refused(put(unmodified(before))), Refusal::ConditionNotMet { is_not_modified: false });
    put(unmodified(second)).unwrap();
    let modified = |moment| Conditions { if_modified_since: Some(moment), ..Conditions::default() };
    assert_eq!(refused(put(modified(second))), Refusal::ConditionNotMet { is_not_modified: true });
    put(modified(before)).unwrap();
}

#[test]
fn a_lease_is_asked_for_by_every_write() {
    let world = World::new();
    world.put("a", b"1");
    let act = |action| world.run(world.store.lease_blob(&blob("a"), action, Conditions::default()));
    let acquire = LeaseAction::Acquire { duration: LeaseDuration::Seconds(15), proposed: None };
    let id = act(acquire).unwrap().0.id.unwrap();
    let put = |lease| {
        let conditions = Conditions { lease, ..Conditions::default() };
        world.try_put("a", b"2", PutOptions { conditions, ..PutOptions::default() })
    };
    let other = LeaseId::new(7);
    assert_eq!(refused(put(None)), Refusal::BlobLease(LeaseConflict::IdMissing));
    assert_eq!(refused(put(Some(other))), Refusal::BlobLease(LeaseConflict::IdMismatch));
    put(Some(id)).unwrap();
    assert_eq!(refused(world.delete("a")), Refusal::BlobLease(LeaseConflict::IdMissing));
    assert_eq!(refused(world.stage("a", "QQ==", b"x")), Refusal::BlobLease(LeaseConflict::IdMissing));
    world.advance(16);
    assert_eq!(refused(put(Some(id))), Refusal::BlobLease(LeaseConflict::Lost));
    put(None).unwrap();
    assert_eq!(refused(put(Some(id))), Refusal::BlobLease(LeaseConflict::NotPresent));
    world.put_tagged("a", &[]);
}

#[test]
fn tiers_change_at_once_and_out_of_the_archive_after_a_while() {
    let world = World::new();
    let created = world.put("a", b"1").modified;
    let set = |tier, priority| {
        let set = SetTier { selector: Selector::Current, tier, priority, conditions: Conditions::default() };
        world.run(world.store.set_tier(&blob("a"), set))
    };
    let tier = || look(&world, "a").tier.tier(world.store.env().now());
    assert_eq!((set(Tier::Cool, None).unwrap(), tier()), (TierSet::Done, Tier::Cool));
    assert_eq!((set(Tier::Archive, None).unwrap(), tier()), (TierSet::Done, Tier::Archive));
    assert_eq!(refused(world.try_read("a", Selector::Current, None)), Refusal::BlobArchived);
    assert_eq!(set(Tier::Hot, None).unwrap(), TierSet::Pending);
    assert_eq!(refused(set(Tier::Cool, None)), Refusal::BlobBeingRehydrated);
    let pending = look(&world, "a").tier.pending(world.store.env().now()).unwrap();
    assert_eq!((pending.to, pending.priority), (Tier::Hot, RehydratePriority::Standard));
    world.advance(59);
    assert_eq!(tier(), Tier::Archive);
    world.advance(1);
    assert_eq!(tier(), Tier::Hot, "whoever looks sees it, whether the job has come to it or not");
    assert_eq!(world.read("a"), b"1");
    world.settle();
    assert_eq!((tier(), look(&world, "a").tier.rehydration), (Tier::Hot, None));
    assert_eq!(look(&world, "a").modified, created);
    assert_eq!(refused(set(Tier::Premium(10), None)), Refusal::InvalidBlobTier);
}

#[test]
fn the_last_access_is_recorded_once_a_day() {
    let world = World::new();
    world.put("a", b"1");
    world.read("a");
    assert_eq!(look(&world, "a").last_access, None);
    world.settings(|settings| settings.last_access_tracking = true);
    let day = world.store.env().now();
    world.read("a");
    world.advance(3600);
    world.read("a");
    assert_eq!(look(&world, "a").last_access, Some(day));
    world.advance(24 * 3600);
    world.read("a");
    assert_eq!(look(&world, "a").last_access, Some(world.store.env().now()));
}
