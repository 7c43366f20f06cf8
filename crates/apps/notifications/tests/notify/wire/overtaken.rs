//! A request that is on its way while another process is faster.

use super::troubled::{by, register};
use super::way::Way;
use crate::place::Place;
use crate::world::{World, like};
use orrery_notifications::service::Notifications;
use orrery_notifications::service::containers::{DEVICES, EVENTS};
use serde_json::json;

/// A process whose requests can be held, and one beside it.
async fn slow_and_quick(place: &Place) -> (World, Way, Notifications) {
    let world = place.world().await;
    let Place::Server(server) = place else { panic!("it is a server") };
    let way = Way::to(server.port(), 5).await;
    let slow = by(&world, &way, "slow").await;
    (world, way, slow)
}

/// K3: one that has asked for the guard, and gets its answer after another registration was made, sees that one's device.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_registration_that_is_overtaken_while_it_reads_makes_no_fourth_device() {
    let (world, way, slow) = slow_and_quick(&Place::server()).await;
    for device in ["one", "two"] {
        world.register("u", device).await;
        world.advance(1);
    }
    way.hold("/docs/guard ");
    let registering = tokio::spawn(async move { register(&slow, "u", "slow").await });
    way.reached().await;
    world.register("u", "other").await;
    way.let_go();
    registering.await.unwrap();
    let active = world.rows(DEVICES, Some("u"), "SELECT VALUE c.id FROM c WHERE c.revokedAt = null").await;
    assert_eq!(active.len(), 3, "{active:?}");
}

/// K4: an event that arrives at the store after its user is erased is taken back, though nobody looks at it for weeks.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn an_event_that_comes_after_an_erasure_does_not_stay() {
    let (world, way, slow) = slow_and_quick(&Place::server()).await;
    for scheduled in [true, false] {
        let user = format!("u-{scheduled}");
        let mut body = like(&user, "Noor", "post-1", None);
        if scheduled {
            body["scheduledAt"] = json!("2026-12-10T10:00:00Z");
        }
        way.hold("/colls/notification_events/docs ");
        let slow = slow.clone();
        let sending = tokio::spawn(async move { slow.enqueue(&body, None).await.unwrap() });
        way.reached().await;
        world.service.erase(&user).await.unwrap();
        way.let_go();
        assert_eq!(sending.await.unwrap()[0].status, "dropped");
        assert_eq!(world.rows(EVENTS, Some(&user), "SELECT c.id FROM c").await.len(), 0);
    }
}
