//! What cannot be worked on costs its own events, and nobody else's time.

use crate::place::Place;
use crate::world::like;
use orrery_kit::ports::documents::Write;
use orrery_notifications::dispatch::{Dispatcher, Options};
use orrery_notifications::records::Status;
use orrery_notifications::service::containers::{DEVICES, EVENTS, NOTIFICATIONS, PREFERENCES};
use serde_json::{Value, json};

/// Settings and a device that somebody else wrote and that are none. Their users' events are given up with the reason and can
/// be queued again; the others' are delivered in the same look.
pub async fn a_record_that_cannot_be_read_costs_its_own_users_events_alone(place: &Place) {
    let world = place.world().await;
    let preferences = json!({"id": "p", "userId": "p", "timezone": 5});
    world.documents.write(PREFERENCES, "p", Write::Create(preferences)).await.unwrap();
    let device =
        json!({"id": "half", "userId": "d", "deviceId": "half", "platform": "fcm", "revokedAt": null});
    world.documents.write(DEVICES, "d", Write::Create(device)).await.unwrap();
    world.register("w", "phone").await;
    let (of_p, of_d, of_w) = (
        world.like("p", "A", None).await,
        world.like("d", "A", None).await,
        world.like("w", "A", None).await,
    );
    let round = Dispatcher::new(&world.service, Options::default()).round().await.unwrap();
    assert_eq!((round.processed, round.troubled, round.stuck), (3, 0, 0), "{round:?}");
    for (user, id, names) in [("p", &of_p, "timezone"), ("d", &of_d, "half")] {
        let event = world.event(user, id).await;
        assert_eq!((event.status, event.retry_count), (Status::Failed, 5), "{event:?}");
        assert!(event.dead_lettered_at.is_some() && event.lease_owner.is_none());
        let said = event.last_error.unwrap();
        assert!(said.contains("not as expected") || said.contains(names), "{said}");
        assert!(world.told(EVENTS, user).await.contains(&"event.deadlettered".to_owned()));
    }
    assert_eq!(world.status("w", &of_w).await, (Status::Completed, Some("delivered".to_owned())));
    assert_eq!(world.service.stats().await.unwrap()["deadLettered"], 2);
    let round = Dispatcher::new(&world.service, Options::default()).round().await.unwrap();
    assert_eq!(round.claimed, 0, "they do not come back by themselves");
    // Once it is mended they are sent again, and there is one notification.
    let delete = |id: &str| Write::Delete { id: id.to_owned(), if_match: None };
    world.documents.write(PREFERENCES, "p", delete("p")).await.unwrap();
    world.documents.write(DEVICES, "d", delete("half")).await.unwrap();
    for (user, id) in [("p", &of_p), ("d", &of_d)] {
        world.register(user, &format!("phone-{user}")).await;
        world.service.requeue(user, id).await.unwrap();
        world.settle().await;
        assert_eq!(world.status(user, id).await, (Status::Completed, Some("delivered".to_owned())));
        assert_eq!(world.notifications(user).await.len(), 1);
    }
}

/// It was decided, and given up before its notification was written; when it is queued again, that is made up for.
pub async fn an_event_that_was_given_up_before_its_notification_gets_it_when_it_is_queued_again(
    place: &Place,
) {
    let world = place.world().await;
    world.register("u", "phone").await;
    let id = world.like("u", "Noor", None).await;
    // In the way of the notification: no notification.
    let other = json!({"id": id, "userId": "u", "note": "somebody else's"});
    world.documents.write(NOTIFICATIONS, "u", Write::Create(other)).await.unwrap();
    world.settle().await;
    let event = world.event("u", &id).await;
    assert!(event.dead_lettered_at.is_some() && event.unprojected, "{event:?}");
    assert_eq!(world.phones.pushes().len(), 0);
    let delete = Write::Delete { id: id.clone(), if_match: None };
    world.documents.write(NOTIFICATIONS, "u", delete).await.unwrap();
    world.service.requeue("u", &id).await.unwrap();
    world.settle().await;
    assert_eq!(world.status("u", &id).await, (Status::Completed, Some("delivered".to_owned())));
    let shown: Vec<Value> = world.notifications("u").await;
    assert_eq!((shown.len(), &shown[0]["id"]), (1, &json!(id)), "K5");
    assert!(!world.event("u", &id).await.unprojected);
    assert_eq!(
        world.told(EVENTS, "u").await,
        ["event.deadlettered", "notification.created", "push.delivered"]
    );
}

/// One user's events fill every look, and the first of them is at a provider that takes its time: the others' are found.
pub async fn the_many_events_of_one_user_do_not_keep_the_others_waiting(place: &Place) {
    use orrery_notifications::push::Outcome;
    use std::sync::{Arc, Condvar, Mutex};
    use std::time::Duration;
    let world = place.world().await;
    world.register("hot", "hot").await;
    for at in 0..30 {
        world.send(like("hot", "Noor", &format!("post-{at}"), None)).await;
    }
    let others = ["a", "b", "c"];
    for user in others {
        world.register(user, user).await;
        world.like(user, "Noor", None).await;
    }
    let held = Arc::new((Mutex::new(true), Condvar::new()));
    let holding = held.clone();
    world.phones.answer(move |device, _| {
        if device.id == "hot" {
            tokio::task::block_in_place(|| {
                let is_held = holding.0.lock().unwrap();
                drop(holding.1.wait_while(is_held, |is_held| *is_held).unwrap());
            });
        }
        Outcome::Delivered
    });
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let mut watches: Vec<_> = others.iter().map(|user| world.service.watch(user)).collect();
    let options = Options { claim_max: 10, users_at_once: 2, ..Options::default() };
    let dispatcher = Dispatcher::new(&world.service, options);
    let running = tokio::spawn(async move { dispatcher.run(async { drop(stopped.await) }).await });
    for (user, watch) in others.iter().zip(&mut watches) {
        let found = tokio::time::timeout(Duration::from_secs(20), async {
            while world.notifications(user).await.is_empty() {
                watch.changed().await.unwrap();
            }
        });
        let is_found = found.await.is_ok();
        if !is_found {
            *held.0.lock().unwrap() = false;
            held.1.notify_all();
        }
        assert!(is_found, "{user} waits for another");
    }
    *held.0.lock().unwrap() = false;
    held.1.notify_all();
    stop.send(()).unwrap();
    running.await.unwrap();
    world.settle().await;
    assert_eq!(world.phones.pushes().iter().filter(|push| push.device != "hot").count(), 3);
    assert_eq!(world.notifications("hot").await.len(), 30);
}
