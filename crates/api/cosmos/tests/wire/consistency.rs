//! The account's consistency level, and what a request may ask for (S1-22, S1-64, S3-03; wire guide §3, §6, §21).

use crate::call::Call;
use crate::world::{ITEMS, World};
use orrery_api_cosmos::Consistency;
use orrery_core::{Env, Timestamp};
use orrery_documents::spaces::SPACES;
use orrery_kv::MemoryEngine;

const LEVELS: [&str; 5] = ["Eventual", "ConsistentPrefix", "Session", "BoundedStaleness", "Strong"];

async fn account(level: &str) -> World {
    let env = Env::seeded(Timestamp::from_seconds(1_800_000_000), 7);
    let level: Consistency = level.parse().unwrap();
    let world = World::with(MemoryEngine::new(&SPACES), env, |options| options.consistency = level);
    world.make_container().await;
    world.item("i").await;
    world
}

/// One of every kind of request about items.
fn calls(id: usize) -> [Call; 6] {
    let item = format!(r#"{{"id":"n{id}","pk":"p","email":"n{id}"}}"#);
    [
        Call::get("dbs/d/colls/c/docs/i").partition(r#"["p"]"#),
        Call::get(ITEMS),
        Call::post(ITEMS, r#"{"query":"SELECT * FROM c"}"#).query(),
        Call::post(ITEMS, item.clone()).partition(r#"["p"]"#),
        Call::put(&format!("{ITEMS}/n{id}"), item).partition(r#"["p"]"#),
        Call::delete(&format!("{ITEMS}/n{id}")).partition(r#"["p"]"#),
    ]
}

#[tokio::test]
async fn the_account_shows_its_level() {
    for level in LEVELS {
        let world = account(level).await;
        let policy =
            world.answered(200, Call::get("")).await.json().unwrap()["userConsistencyPolicy"].clone();
        assert_eq!(policy["defaultConsistencyLevel"], level);
        assert_eq!(policy["maxStalenessPrefix"].is_number(), level == "BoundedStaleness");
    }
}

#[tokio::test]
async fn a_request_may_ask_for_the_accounts_level_or_a_weaker_one() {
    for (strength, level) in LEVELS.into_iter().enumerate() {
        let world = account(level).await;
        for (asked_strength, asked) in LEVELS.into_iter().enumerate() {
            for call in calls(asked_strength) {
                let call = call.header("x-ms-consistency-level", asked);
                if asked_strength <= strength {
                    let status = world.call(&call).await.status;
                    assert!((200..300).contains(&status), "{asked} of {level}: {status}");
                } else {
                    let sentence = format!("the account's level is {level}");
                    world.refused(call, (400, 0), &sentence).await;
                }
            }
        }
        world
            .refused(calls(9)[0].clone().header("x-ms-consistency-level", "Whatever"), (400, 0), "not valid")
            .await;
    }
}

/// At every level an answer is as strong as at the strongest: what was acknowledged is there.
#[tokio::test]
async fn every_level_reads_the_newest_write() {
    for level in LEVELS {
        let world = account(level).await;
        for n in 0..5 {
            let body = format!(r#"{{"id":"i","pk":"p","email":"i","n":{n}}}"#);
            world.answered(200, Call::put("dbs/d/colls/c/docs/i", body).partition(r#"["p"]"#)).await;
            let read = calls(0)[0].clone().header("x-ms-consistency-level", "Eventual");
            assert_eq!(world.answered(200, read).await.json().unwrap()["n"], n, "{level}");
        }
    }
}
