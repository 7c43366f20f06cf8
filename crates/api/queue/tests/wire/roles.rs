//! Bearer tokens: what the data roles of queues allow.

use crate::call::Call;
use crate::world::World;

const READER: &str = "Storage Queue Data Reader";
const CONTRIBUTOR: &str = "Storage Queue Data Contributor";
const SENDER: &str = "Storage Queue Data Message Sender";
const PROCESSOR: &str = "Storage Queue Data Message Processor";

/// Whether roles allow the request: of a reader, a contributor, a sender, a processor.
fn calls() -> Vec<(Call, [bool; 4])> {
    let messages = "/turns/messages";
    let one =
        "/turns/messages/00000000-0000-8000-8000-000000000000?popreceipt=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    vec![
        (Call::get("?comp=list"), [true, true, false, false]),
        (Call::get("/turns?comp=metadata"), [true, true, false, false]),
        (Call::get("/turns/messages?peekonly=true"), [true, true, false, true]),
        (Call::send(messages, "a"), [false, true, true, false]),
        (Call::get(messages), [false, true, false, true]),
        (Call::delete(one), [false, true, false, true]),
        (Call::put(&format!("{one}&visibilitytimeout=0")), [false, true, false, false]),
        (Call::delete(messages), [false, true, false, false]),
        (Call::put("/orders"), [false, true, false, false]),
        (Call::put("/turns?comp=metadata"), [false, true, false, false]),
    ]
}

#[tokio::test]
async fn each_role_allows_what_it_is_for() {
    let world = World::new().await;
    for (call, allowed) in calls() {
        for (role, is_allowed) in [READER, CONTRIBUTOR, SENDER, PROCESSOR].into_iter().zip(allowed) {
            let reply = world.call(&call.clone().authorization(&world.bearer(role, "/"))).await;
            assert_eq!(reply.status != 403, is_allowed, "{role}: {}", String::from_utf8_lossy(&reply.body));
        }
    }
}

#[tokio::test]
async fn a_role_may_be_for_one_queue() {
    let world = World::new().await;
    world.answered(201, Call::put("/orders")).await;
    let token = world.bearer(SENDER, "/devstoreaccount1/turns");
    world.answered(201, Call::send("/turns/messages", "a").authorization(&token)).await;
    let elsewhere = Call::send("/orders/messages", "a").authorization(&token);
    world.refused(elsewhere, 403, "AuthorizationPermissionMismatch").await;
}

#[tokio::test]
async fn a_token_that_is_not_believed_is_challenged() {
    let world = World::new().await;
    let reply = world.answered(401, Call::get("?comp=list").authorization("Bearer a.b.c")).await;
    assert!(reply.header("www-authenticate").is_some());
}
