//! A power cut after any step: what is found again is a state that was there, with its receipts.

use crate::world::{START, World, count, seconds};
use orrery_core::Env;
use orrery_kv::{MemoryEngine, Sync};
use orrery_queue_store::ReceivedMessage;
use orrery_queues::spaces::SPACES;
use std::collections::BTreeMap;
use std::time::Duration;

/// What was there after so many engine writes.
struct Seen {
    visible: Vec<String>,
    count: u64,
    held: Vec<ReceivedMessage>,
}

fn pick(env: &Env, choices: u64) -> u64 {
    env.random_u64() % choices
}

fn step(world: &World, number: usize, held: &mut Vec<ReceivedMessage>) {
    let env = world.store.env().clone();
    match pick(&env, 8) {
        0..4 => {
            world.put(&number.to_string());
        }
        4 | 5 => held.extend(world.get(1 + pick(&env, 3) as i64, 1000)),
        6 if !held.is_empty() => {
            let done = held.swap_remove(pick(&env, held.len() as u64) as usize);
            world.delete(&done).unwrap();
        }
        6 => {}
        _ if pick(&env, 6) == 0 => {
            world.run(world.store.clear(&world.queue)).unwrap();
            held.clear();
        }
        _ => drop(world.round().unwrap()),
    }
}

#[test]
fn a_restart_after_a_power_cut_finds_what_was_there() {
    let engine = MemoryEngine::new(&SPACES);
    let world = World::over(engine.clone(), Sync::None);
    let (mut seen, mut held) = (BTreeMap::new(), Vec::new());
    for number in 0..80 {
        step(&world, number, &mut held);
        let state = Seen { visible: world.visible(), count: world.count(), held: held.clone() };
        seen.insert(engine.unsynced(), state);
    }
    world.store.close();
    for (kept, seen) in seen {
        let env = Env::seeded(START.plus(Duration::from_secs(1)), 99);
        let found = World::at(engine.crash(kept), Sync::Data, env);
        assert_eq!((found.visible(), found.count()), (seen.visible, seen.count), "after {kept} writes");
        seen.held.iter().for_each(|held| found.delete(held).expect("its receipt is good"));
        found.put("later");
        let rest = found.run(found.store.get(&found.queue, count(32), seconds(30))).unwrap();
        assert!(rest.iter().any(|got| got.message.text.as_str() == "later") || rest.len() == 32);
        found.settle();
        found.store.close();
    }
}
