//! Queues as such: created, listed, changed, deleted.

use crate::world::{World, count, message, queue_id, seconds};
use orrery_catalog::storage::{AccountName, ServiceProperties, SignedIdentifier, SignedIdentifiers};
use orrery_core::Env;
use orrery_kv::{MemoryEngine, Sync};
use orrery_queue_store::{Creation, Error, ListQueues, Metadata, QueueStore};
use orrery_queues::spaces::SPACES;

fn metadata(pairs: &[(&str, &str)]) -> Metadata {
    Metadata::new(pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))).unwrap()
}

fn names(world: &World, prefix: &str, marker: &str, count_max: usize) -> (Vec<String>, Option<String>) {
    let account = world.queue.account.clone();
    let (prefix, marker) = (prefix.to_owned(), marker.to_owned());
    let page = world.store.list_queues(&ListQueues { account, prefix, marker, count_max });
    (page.queues.iter().map(|queue| queue.id.name.as_str().to_owned()).collect(), page.next)
}

#[test]
fn a_queue_is_created_once_and_again_only_with_the_same_metadata() {
    let world = World::new();
    let (id, owner) = (queue_id("orders"), metadata(&[("Owner", "a")]));
    let create = |metadata: &Metadata| world.run(world.store.create_queue(&id, metadata.clone()));
    assert_eq!(create(&owner).unwrap(), Creation::New);
    assert_eq!(create(&metadata(&[("owner", "a")])).unwrap(), Creation::Existing);
    assert!(matches!(create(&Metadata::default()), Err(Error::QueueAlreadyExists)));
    let known = world.store.queue(&id).unwrap();
    assert_eq!(known.metadata.iter().collect::<Vec<_>>(), [("Owner", "a")], "as it was first written");
}

#[test]
fn lists_are_by_name_in_pages_of_one_account_and_prefix() {
    let world = World::new();
    for name in ["a-2", "b-1", "a-3", "a-1"] {
        world.run(world.store.create_queue(&queue_id(name), Metadata::default())).unwrap();
    }
    let mut elsewhere = queue_id("a-0");
    elsewhere.account = AccountName::parse("other").unwrap();
    world.run(world.store.create_queue(&elsewhere, Metadata::default())).unwrap();
    let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    assert_eq!(names(&world, "", "", 10), (owned(&["a-1", "a-2", "a-3", "b-1", "turns"]), None));
    assert_eq!(names(&world, "a-", "", 2), (owned(&["a-1", "a-2"]), Some("a-3".into())));
    assert_eq!(names(&world, "a-", "a-3", 2), (owned(&["a-3"]), None));
    assert_eq!(names(&world, "zz", "", 2), (owned(&[]), None));
}

#[test]
fn a_deleted_queue_is_gone_with_its_messages_and_may_be_created_again() {
    let world = World::new();
    let old = world.put("old");
    let number = world.store.queue(&world.queue).unwrap().number;
    world.run(world.store.delete_queue(&world.queue)).unwrap();
    assert!(matches!(world.try_get(1, 1), Err(Error::QueueNotFound)));
    assert!(matches!(world.store.approximate_count(&world.queue), Err(Error::QueueNotFound)));
    assert!(matches!(world.run(world.store.delete_queue(&world.queue)), Err(Error::QueueNotFound)));
    world.run(world.store.create_queue(&world.queue, Metadata::default())).unwrap();
    assert_ne!(world.store.queue(&world.queue).unwrap().number, number);
    assert_eq!((world.get(32, 30), world.count()), (vec![], 0));
    let delete = world.run(world.store.delete(&world.queue, old.id, old.receipt));
    assert!(matches!(delete, Err(Error::MessageNotFound)));
}

#[test]
fn definitions_and_messages_are_there_after_a_restart() {
    let engine = MemoryEngine::new(&SPACES);
    let world = World::over(engine.clone(), Sync::Data);
    let policy = SignedIdentifier { id: "p".into(), policy: Default::default() };
    let policies = SignedIdentifiers::new(vec![policy]).unwrap();
    world.run(world.store.set_metadata(&world.queue, metadata(&[("A", "1")]))).unwrap();
    world.run(world.store.set_policies(&world.queue, policies.clone())).unwrap();
    let account = world.queue.account.clone();
    let mut properties = ServiceProperties::default();
    properties.logging.read = true;
    world.run(world.store.set_service_properties(&account, properties)).unwrap();
    world.put("kept");
    world.store.close();
    let store = QueueStore::standalone(engine, Env::seeded(crate::world::START, 8), Sync::Data).unwrap();
    let queue = store.queue(&world.queue).unwrap();
    assert_eq!((&queue.metadata, &queue.policies), (&metadata(&[("A", "1")]), &policies));
    assert!(store.service_properties(&account).unwrap().logging.read);
    let got = world.run(store.get(&world.queue, count(1), seconds(30))).unwrap();
    assert_eq!(crate::world::texts(&got), ["kept"]);
}

#[test]
fn what_was_done_to_a_queue_is_counted() {
    let world = World::new();
    world.put("a");
    world.run(world.store.put(&world.queue, message("b", 0, 5))).unwrap();
    world.visible();
    let got = world.get(2, 1);
    world.delete(&got[0]).unwrap();
    world.get(1, 1);
    world.run(world.store.clear(&world.queue)).unwrap();
    let counts = world.store.counts();
    let (queue, counts) = &counts[0];
    assert_eq!(queue.id, world.queue);
    assert_eq!((counts.puts, counts.gets, counts.peeks, counts.updates), (2, 2, 1, 0));
    assert_eq!((counts.deletes, counts.clears, counts.messages_got, counts.empty_gets), (1, 1, 2, 1));
}
