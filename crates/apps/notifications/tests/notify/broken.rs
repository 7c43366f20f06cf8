//! Unprocessable items affect only their own events, and delay no other user's.

use crate::fixture::like;
use crate::place::Place;
use orrery_kit::ports::documents::Write;
use orrery_notifications::dispatch::{Dispatcher, Options};
use orrery_notifications::records::Status;
use orrery_notifications::service::containers::{DEVICES, EVENTS, NOTIFICATIONS, PREFERENCES};
use serde_json::{Value, json};

/// Malformed settings and a malformed device, written by another client. Their users' events are
/// dead-lettered with the reason and can be queued again; the others' are delivered in the same scan.
pub async fn a_record_that_cannot_be_read_costs_its_own_users_events_alone(place: &Place) {
    let fixture = place.fixture().await;
    let preferences = json!({"id": "p", "userId": "p", "timezone": 5});
    fixture.documents.write(PREFERENCES, "p", Write::Create(preferences)).await.unwrap();
    let device =
        json!({"id": "half", "userId": "d", "deviceId": "half", "platform": "fcm", "revokedAt": null});
    fixture.documents.write(DEVICES, "d", Write::Create(device)).await.unwrap();
    fixture.register("w", "phone").await;
    let (of_p, of_d, of_w) = (
        fixture.like("p", "A", None).await,
        fixture.like("d", "A", None).await,
        fixture.like("w", "A", None).await,
    );
    let round = Dispatcher::new(&fixture.service, Options::default()).round().await.unwrap();
    assert_eq!((round.processed, round.troubled, round.stuck), (3, 0, 0), "{round:?}");
    for (user, id, names) in [("p", &of_p, "timezone"), ("d", &of_d, "half")] {
        let event = fixture.event(user, id).await;
        assert_eq!((event.status, event.retry_count), (Status::Failed, 5), "{event:?}");
        assert!(event.dead_lettered_at.is_some() && event.lease_owner.is_none());
        let said = event.last_error.unwrap();
        assert!(said.contains("not as expected") || said.contains(names), "{said}");
        assert!(fixture.told(EVENTS, user).await.contains(&"event.deadlettered".to_owned()));
    }
    assert_eq!(fixture.status("w", &of_w).await, (Status::Completed, Some("delivered".to_owned())));
    assert_eq!(fixture.service.stats().await.unwrap()["deadLettered"], 2);
    let round = Dispatcher::new(&fixture.service, Options::default()).round().await.unwrap();
    assert_eq!(round.claimed, 0, "they do not come back by themselves");
    // After the repair they are sent again, and there is one notification.
    let delete = |id: &str| Write::Delete { id: id.to_owned(), if_match: None };
    fixture.documents.write(PREFERENCES, "p", delete("p")).await.unwrap();
    fixture.documents.write(DEVICES, "d", delete("half")).await.unwrap();
    for (user, id) in [("p", &of_p), ("d", &of_d)] {
        fixture.register(user, &format!("phone-{user}")).await;
        fixture.service.requeue(user, id).await.unwrap();
        fixture.settle().await;
        assert_eq!(fixture.status(user, id).await, (Status::Completed, Some("delivered".to_owned())));
        assert_eq!(fixture.notifications(user).await.len(), 1);
    }
}

/// It was decided, and dead-lettered before its notification was written; queuing it again makes up for that.
pub async fn an_event_that_was_given_up_before_its_notification_gets_it_when_it_is_queued_again(
    place: &Place,
) {
    let fixture = place.fixture().await;
    fixture.register("u", "phone").await;
    let id = fixture.like("u", "Noor", None).await;
    // An obstacle to the notification: an item with its id that is not a notification.
    let other = json!({"id": id, "userId": "u", "note": "somebody else's"});
    fixture.documents.write(NOTIFICATIONS, "u", Write::Create(other)).await.unwrap();
    fixture.settle().await;
    let event = fixture.event("u", &id).await;
    assert!(event.dead_lettered_at.is_some() && event.unprojected, "{event:?}");
    assert_eq!(fixture.phones.pushes().len(), 0);
    let delete = Write::Delete { id: id.clone(), if_match: None };
    fixture.documents.write(NOTIFICATIONS, "u", delete).await.unwrap();
    fixture.service.requeue("u", &id).await.unwrap();
    fixture.settle().await;
    assert_eq!(fixture.status("u", &id).await, (Status::Completed, Some("delivered".to_owned())));
    let shown: Vec<Value> = fixture.notifications("u").await;
    assert_eq!((shown.len(), &shown[0]["id"]), (1, &json!(id)), "K5");
    assert!(!fixture.event("u", &id).await.unprojected);
    assert_eq!(
        fixture.told(EVENTS, "u").await,
        ["event.deadlettered", "notification.created", "push.delivered"]
    );
}

/// One user's events fill every page, and the first of them is at a slow provider: the others' are still
/// found.
pub async fn the_many_events_of_one_user_do_not_keep_the_others_waiting(place: &Place) {
    use orrery_notifications::push::Outcome;
    use std::sync::{Arc, Condvar, Mutex};
    use std::time::Duration;
    let fixture = place.fixture().await;
    fixture.register("hot", "hot").await;
    for at in 0..30 {
        fixture.send(like("hot", "Noor", &format!("post-{at}"), None)).await;
    }
    let others = ["a", "b", "c"];
    for user in others {
        fixture.register(user, user).await;
        fixture.like(user, "Noor", None).await;
    }
    let held = Arc::new((Mutex::new(true), Condvar::new()));
    let holding = held.clone();
    fixture.phones.answer(move |device, _| {
        if device.id == "hot" {
            tokio::task::block_in_place(|| {
                let is_held = holding.0.lock().unwrap();
                drop(holding.1.wait_while(is_held, |is_held| *is_held).unwrap());
            });
        }
        Outcome::Delivered
    });
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let mut watches: Vec<_> = others.iter().map(|user| fixture.service.watch(user)).collect();
    let options = Options { claim_max: 10, users_at_once: 2, ..Options::default() };
    let dispatcher = Dispatcher::new(&fixture.service, options);
    let running = tokio::spawn(async move { dispatcher.run(async { drop(stopped.await) }).await });
    for (user, watch) in others.iter().zip(&mut watches) {
        let found = tokio::time::timeout(Duration::from_secs(20), async {
            while fixture.notifications(user).await.is_empty() {
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
    fixture.settle().await;
    assert_eq!(fixture.phones.pushes().iter().filter(|push| push.device != "hot").count(), 3);
    assert_eq!(fixture.notifications("hot").await.len(), 30);
}
