//! How much the engine does for a get does not depend on what else is, or was, in the queue.

use crate::tombstones::Tombstones;
use crate::world::{World, count, message, seconds};
use orrery_catalog::scope;
use orrery_kv::{Error, Sync, Txn};
use orrery_queue_store::{MessageId, NewMessage, ReceivedMessage};
use orrery_queues::messages::{self, Stamp};
use orrery_txn::Scope;

const MANY: usize = 100_000;
const AT_ONCE: usize = 1_000;

fn write(world: &World, body: impl Fn(&mut Txn<'_>, u32)) {
    let number = world.store.queue(&world.queue).unwrap().number;
    let scope = [&[scope::QUEUE], &number.to_be_bytes()[..]].concat();
    let body = |txn: &mut Txn<'_>| {
        body(txn, number);
        Ok::<_, Error>(())
    };
    world.store.txns().write_blocking(Scope::new(&scope), body).unwrap();
}

/// Puts many messages, in few transactions.
fn fill(world: &World, new: &NewMessage, count: usize) {
    let env = world.store.env();
    for _ in 0..count / AT_ONCE {
        write(world, |txn, number| {
            for _ in 0..AT_ONCE {
                let id = MessageId::new(world.store.txns().next_ordinal(), env.random_u64());
                let stamp = Stamp { now: env.now(), random: env.random_u64() };
                messages::put(txn, number, id, new, stamp).unwrap();
            }
        });
    }
}

fn drain(world: &World) {
    loop {
        let got: Vec<ReceivedMessage> = (0..AT_ONCE / 32).flat_map(|_| world.get(32, 30)).collect();
        if got.is_empty() {
            return;
        }
        let now = world.store.env().now();
        write(world, |txn, number| {
            for got in &got {
                messages::delete(txn, number, got.message.id, got.receipt, now).unwrap();
            }
        });
        // So that the store knows of a removal, as it does when it is asked for one.
        world.put("last");
        let last = world.get(1, 30).remove(0);
        world.delete(&last).unwrap();
    }
}

/// Rows that a get of some messages looks at.
fn looked_at(world: &World, engine: &Tombstones, wanted: i64) -> u64 {
    let (got, rows) = engine.looked_at_by(|| world.get(wanted, 60));
    assert_eq!(got.len(), wanted as usize);
    rows
}

/// The same where nothing else is in the queue, nor ever was.
fn looked_at_alone(wanted: i64) -> u64 {
    let engine = Tombstones::default();
    let world = World::over(engine.clone(), Sync::None);
    for _ in 0..wanted {
        world.put("alone");
    }
    looked_at(&world, &engine, wanted)
}

#[test]
fn a_get_from_a_long_backlog_reads_as_much_as_from_a_short_one() {
    let engine = Tombstones::default();
    let world = World::over(engine.clone(), Sync::None);
    fill(&world, &message("hidden", 600, -1), MANY / 2);
    fill(&world, &message("visible", 0, -1), MANY / 2);
    for wanted in [1, 32, 1] {
        assert_eq!(looked_at(&world, &engine, wanted), looked_at_alone(wanted), "{wanted} messages");
    }
    let (got, rows) = engine.looked_at_by(|| world.run(world.store.peek(&world.queue, count(1))));
    assert_eq!((got.unwrap().len(), rows), (1, 2));
}

#[test]
fn a_get_after_many_removed_messages_reads_as_much_as_from_a_new_queue() {
    let engine = Tombstones::default();
    let world = World::over(engine.clone(), Sync::None);
    fill(&world, &message("removed", 0, -1), MANY);
    drain(&world);
    world.put("new");
    assert_eq!(looked_at(&world, &engine, 1), looked_at_alone(1));
    world.advance(31);
    assert_eq!(world.round().unwrap(), orrery_txn::Progress::Idle);
    world.put("newer");
    assert_eq!(looked_at(&world, &engine, 1), looked_at_alone(1), "their time has come meanwhile");
    let (empty, rows) = engine.looked_at_by(|| world.get(1, 30));
    assert_eq!((empty.len(), rows), (0, 0));
}

#[test]
fn a_get_of_many_messages_is_one_commit_and_an_empty_one_is_none() {
    let engine = Tombstones::default();
    let world = World::over(engine.clone(), Sync::None);
    for _ in 0..32 {
        world.put("a");
    }
    let before = engine.writes();
    assert_eq!(world.get(32, 30).len(), 32);
    assert_eq!(engine.writes(), before + 1);
    assert!(world.get(32, 30).is_empty());
    assert_eq!(engine.writes(), before + 1);
}

#[test]
fn clearing_many_messages_is_a_transaction_of_two_rows() {
    let engine = Tombstones::default();
    let world = World::over(engine.clone(), Sync::None);
    fill(&world, &message("cleared", 0, -1), 10_000);
    let before = engine.writes();
    let (cleared, rows) = engine.looked_at_by(|| world.run(world.store.clear(&world.queue)));
    cleared.unwrap();
    assert_eq!((rows, engine.writes()), (0, before + 1));
    assert_eq!((world.count(), world.visible().len()), (0, 0));
    world.put("after");
    let got = world.run(world.store.get(&world.queue, count(32), seconds(1))).unwrap();
    assert_eq!(crate::world::texts(&got), ["after"]);
}
