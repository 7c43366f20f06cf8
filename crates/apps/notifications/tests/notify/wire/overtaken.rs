//! A request in flight while another process is faster.

use super::proxy::Proxy;
use super::troubled::{by, register};
use crate::fixture::{Fixture, like};
use crate::place::Place;
use orrery_notifications::service::Notifications;
use orrery_notifications::service::containers::{DEVICES, EVENTS};
use serde_json::json;

/// A process whose requests can be held back, and one beside it.
async fn slow_and_quick(place: &Place) -> (Fixture, Proxy, Notifications) {
    let fixture = place.fixture().await;
    let Place::Server(server) = place else { panic!("it is a server") };
    let proxy = Proxy::to(server.port(), 5).await;
    let slow = by(&fixture, &proxy, "slow").await;
    (fixture, proxy, slow)
}

/// K3: a registration that receives the guard only after another one was made sees that one's device.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_registration_that_is_overtaken_while_it_reads_makes_no_fourth_device() {
    let (fixture, proxy, slow) = slow_and_quick(&Place::server()).await;
    for device in ["one", "two"] {
        fixture.register("u", device).await;
        fixture.advance(1);
    }
    proxy.hold("/docs/guard ");
    let registering = tokio::spawn(async move { register(&slow, "u", "slow").await });
    proxy.reached().await;
    fixture.register("u", "other").await;
    proxy.let_go();
    registering.await.unwrap();
    let active = fixture.rows(DEVICES, Some("u"), "SELECT VALUE c.id FROM c WHERE c.revokedAt = null").await;
    assert_eq!(active.len(), 3, "{active:?}");
}

/// K4: an event that reaches the store after its user was erased is deleted, even if it would stay unread for
/// weeks.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn an_event_that_comes_after_an_erasure_does_not_stay() {
    let (fixture, proxy, slow) = slow_and_quick(&Place::server()).await;
    for scheduled in [true, false] {
        let user = format!("u-{scheduled}");
        let mut body = like(&user, "Noor", "post-1", None);
        if scheduled {
            body["scheduledAt"] = json!("2026-12-10T10:00:00Z");
        }
        proxy.hold("/colls/notification_events/docs ");
        let slow = slow.clone();
        let sending = tokio::spawn(async move { slow.enqueue(&body, None).await.unwrap() });
        proxy.reached().await;
        fixture.service.erase(&user).await.unwrap();
        proxy.let_go();
        assert_eq!(sending.await.unwrap()[0].status, "dropped");
        assert_eq!(fixture.rows(EVENTS, Some(&user), "SELECT c.id FROM c").await.len(), 0);
    }
}
