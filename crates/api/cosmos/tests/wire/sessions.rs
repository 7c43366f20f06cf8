//! Consistency levels and session tokens.

use crate::call::Call;
use crate::world::{ITEMS, World};

const TOKEN: &str = "x-ms-session-token";

fn reads() -> [Call; 3] {
    [
        Call::get("dbs/d/colls/c/docs/i").partition(r#"["p"]"#),
        Call::get(ITEMS),
        Call::post(ITEMS, r#"{"query":"SELECT * FROM c"}"#).query(),
    ]
}

#[tokio::test]
async fn a_token_that_was_given_out_is_served() {
    let world = World::new().await;
    let token = world.item("i").await.header(TOKEN).unwrap().to_owned();
    let with_others = format!("{token},7:-1#1,8:-1#2#0=1");
    for token in [token.as_str(), with_others.as_str(), "0:-1#0", ""] {
        for read in reads() {
            world.answered(200, read.header(TOKEN, token)).await;
        }
    }
}

#[tokio::test]
async fn a_token_of_the_future_is_not_available() {
    let world = World::new().await;
    world.item("i").await;
    for token in ["0:-1#1000000", "0:-1#1,0:-1#1000000", "0:-1#18446744073709551615"] {
        for read in reads() {
            let reply =
                world.refused(read.header(TOKEN, token), (404, 1002), "session is not available").await;
            assert_eq!(reply.header(TOKEN), None, "a client would take it for its own");
        }
    }
}

#[tokio::test]
async fn a_malformed_token_is_a_bad_request() {
    let world = World::new().await;
    world.item("i").await;
    let long = "0:-1#1,".repeat(3000);
    for token in [
        "x",
        "0",
        "0:",
        "0:-1#",
        "0:x#1",
        "x:-1#1",
        "0:-1#x",
        "0:-1#1;1:-1#1",
        "0:-1#99999999999999999999",
        &long,
    ] {
        for read in reads() {
            world.refused(read.header(TOKEN, token), (400, 0), "is malformed").await;
        }
    }
}

#[tokio::test]
async fn only_the_accounts_level_or_a_weaker_one_may_be_asked_for() {
    let world = World::new().await;
    world.item("i").await;
    for read in reads() {
        for level in ["Session", "session", "ConsistentPrefix", "Eventual"] {
            world.answered(200, read.clone().header("x-ms-consistency-level", level)).await;
        }
        for level in ["Strong", "BoundedStaleness", "Whatever"] {
            world
                .refused(
                    read.clone().header("x-ms-consistency-level", level),
                    (400, 0),
                    "the account's level is Session",
                )
                .await;
        }
    }
}
