//! Heads: the activity id, headers that are too large or too many, and sentences that stay short whatever was sent.

use crate::call::Call;
use crate::world::{CONTAINER, ITEMS, World};
use orrery_api_common::limits::HEADERS_MAX;
use orrery_core::limits::HEAD_BYTES_MAX;

#[tokio::test]
async fn the_activity_id_is_the_clients_or_a_new_one() {
    let world = World::new().await;
    let id = "11111111-2222-3333-4444-555555555555";
    for call in [
        Call::get("dbs/d"),
        Call::get("dbs/no"),
        Call::get("").target("/nothing"),
        Call::get("dbs/d").unsigned(),
    ] {
        let reply = world.call(&call.clone().header("x-ms-activity-id", id)).await;
        assert_eq!(reply.header("x-ms-activity-id"), Some(id));
        let (one, two) = (world.call(&call).await, world.call(&call).await);
        assert_ne!(one.header("x-ms-activity-id"), two.header("x-ms-activity-id"));
        assert_eq!(one.header("x-ms-activity-id").unwrap().len(), 36);
    }
    let long = "x".repeat(65);
    for odd in [&b""[..], long.as_bytes(), b"\xff\xfe"] {
        let reply = world.answered(200, Call::get("dbs/d").header("x-ms-activity-id", odd)).await;
        assert_eq!(reply.header("x-ms-activity-id").unwrap().len(), 36);
    }
}

#[tokio::test]
async fn an_oversized_head_is_refused_and_the_server_continues() {
    let world = World::new().await;
    let head = |call: Call| call.header("connection", "close").encode(&world.env.now().to_http());
    let large = head(Call::get("dbs/d").header("x-much", "y".repeat(HEAD_BYTES_MAX)));
    let answer = world.raw(&large[..HEAD_BYTES_MAX]).await;
    assert!(answer.starts_with("HTTP/1.1 431 "), "{answer}");
    let many = (0..HEADERS_MAX).fold(Call::get("dbs/d"), |call, n| call.header(&format!("x-{n}"), "y"));
    let answer = world.raw(&head(many)).await;
    assert!(answer.starts_with("HTTP/1.1 431 "), "{answer}");
    world.answered(200, Call::get("dbs/d")).await;
}

/// `World::call` checks the length of every sentence; here are the requests that could make one long.
#[tokio::test]
async fn no_sentence_repeats_at_length_what_a_client_sent() {
    let world = World::new().await;
    let long = "y".repeat(20_000);
    let item = || Call::get("dbs/d/colls/c/docs/i").partition(r#"["p"]"#);
    let feed = || Call::get(ITEMS);
    let calls = [
        Call::get(&format!("dbs/{long}")),
        Call::get(&format!("dbs/d/colls/{long}/docs")),
        Call::get(&format!("dbs/d/colls/c/docs/{long}")).partition(r#"["p"]"#),
        Call::get(&format!("offers/{long}")),
        Call::get(&format!("dbs/{long}")).signed_with("bm90IGEga2V5"),
        Call::get("dbs/d").date(&long),
        Call::get("dbs/d").authorization(&long),
        Call::get(&format!("dbs/d/colls/c/{long}")),
        item().header("x-ms-consistency-level", long.as_str()),
        item().header("x-ms-session-token", long.as_str()),
        Call::get("dbs/d/colls/c/docs/i").partition(&long),
        feed().header("x-ms-max-item-count", long.as_str()),
        feed().header("x-ms-continuation", long.as_str()),
        feed().header("x-ms-documentdb-partitionkeyrangeid", long.as_str()),
        feed().header("x-ms-start-epk", long.as_str()),
        Call::post("dbs", r#"{"id":"x"}"#).header("x-ms-offer-throughput", long.as_str()),
        Call::post("dbs", format!(r#"{{"{long}":1,"{long}":2}}"#)),
        Call::post("dbs", format!(r#"{{"id":"{long}"}}"#)),
        Call::post("dbs/d/colls", format!(r#"{{"id":"x","partitionKey":{{"paths":["{long}"]}}}}"#)),
        Call::post(
            "dbs/d/colls",
            format!(r#"{{"id":"x","partitionKey":{{"paths":["/pk"]}},"defaultTtl":"{long}"}}"#),
        ),
        Call::put(CONTAINER, format!(r#"{{"id":"{long}","partitionKey":{{"paths":["/pk"]}}}}"#)),
        Call::post(ITEMS, format!(r#"{{"{long}":1,"{long}":2}}"#)),
        Call::post(ITEMS, format!(r#"{{"id":"i","pk":"p","ttl":"{long}"}}"#)),
        Call::post(ITEMS, format!(r#"{{"query":"SELECT {long}"}}"#)).query(),
    ];
    for call in calls {
        let reply = world.call(&call).await;
        assert!(reply.status >= 400 || reply.status == 200, "{}", reply.status);
    }
}
