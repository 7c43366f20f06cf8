//! Events of one dedupe key are merged into one notification (K2, C-41).

use crate::fixture::{Fixture, like};
use crate::place::Place;
use orrery_notifications::records::Status;
use orrery_notifications::service::List;
use orrery_notifications::service::containers::EVENTS;
use std::collections::HashMap;
use tokio::task::JoinSet;

async fn statuses(fixture: &Fixture, user: &str) -> HashMap<String, usize> {
    let mut counts = HashMap::new();
    for event in fixture.events(user).await {
        *counts.entry(event["status"].as_str().unwrap().to_owned()).or_default() += 1;
    }
    counts
}

/// B-2: 50 likes with one key within a second from 8 clients, while two dispatchers work.
pub async fn fifty_likes_are_one_notification_and_one_push(place: &Place) {
    let fixture = place.fixture().await;
    fixture.register("u", "phone").await;
    let second = fixture.another("worker-2").await;
    let mut clients = JoinSet::new();
    for client in 0..8usize {
        let service = fixture.service.clone();
        clients.spawn(async move {
            for at in (client..50).step_by(8) {
                let actor = if at == 0 { "A".to_owned() } else { format!("N{at}") };
                service
                    .enqueue(&like("u", &actor, "post-42", Some("POST_LIKE:post-42")), None)
                    .await
                    .unwrap();
            }
        });
    }
    let (first, other) = (fixture.service.clone(), second.clone());
    clients.spawn(async move { crate::fixture::settle(&first).await });
    clients.spawn(async move { crate::fixture::settle(&other).await });
    clients.join_all().await;
    fixture.settle().await;
    let counts = statuses(&fixture, "u").await;
    assert_eq!(counts, HashMap::from([("COMPLETED".to_owned(), 1), ("DEDUPLICATED".to_owned(), 49)]));
    let notifications = fixture.notifications("u").await;
    assert_eq!(notifications.len(), 1, "K2");
    assert_eq!(notifications[0]["count"], 50);
    let title = notifications[0]["title"].as_str().unwrap();
    assert!(title.contains("and 49 others"), "{title}");
    assert_eq!(fixture.phones.pushes().len(), 1);
    assert_eq!(fixture.service.unread_count("u").await.unwrap(), 1);
}

pub async fn the_first_of_a_window_is_named_and_the_next_window_is_another_notification(place: &Place) {
    let fixture = place.fixture().await;
    fixture.register("u", "phone").await;
    for actor in ["A", "B", "C"] {
        fixture.like("u", actor, Some("k")).await;
        fixture.settle().await;
        fixture.advance(10 * 60);
    }
    let listed = fixture.service.list("u", &List::default()).await.unwrap().items;
    assert_eq!(listed.len(), 1);
    assert!(listed[0].title.contains("A and 2 others"), "{}", listed[0].title);
    // The window began with the first event, an hour ago.
    fixture.advance(30 * 60);
    let fourth = fixture.like("u", "D", Some("k")).await;
    fixture.settle().await;
    assert_eq!(fixture.event("u", &fourth).await.status, Status::Completed);
    assert_eq!((fixture.notifications("u").await.len(), fixture.phones.pushes().len()), (2, 2));
    let told = fixture.told(EVENTS, "u").await;
    assert_eq!(told.iter().filter(|kind| *kind == "notification.updated").count(), 2);
}

pub async fn keys_of_different_users_and_different_keys_do_not_meet(place: &Place) {
    let fixture = place.fixture().await;
    for (user, key) in [("u", "k"), ("v", "k"), ("u", "l")] {
        fixture.like(user, "A", Some(key)).await;
    }
    fixture.settle().await;
    assert_eq!((fixture.notifications("u").await.len(), fixture.notifications("v").await.len()), (2, 1));
}

/// C-41: moved to the top, unread again if it was read, visible again if it was dismissed.
pub async fn news_bring_a_notification_back(place: &Place) {
    let fixture = place.fixture().await;
    fixture.like("u", "A", Some("k")).await;
    fixture.settle().await;
    fixture.advance(60);
    fixture.send(like("u", "X", "post-7", None)).await;
    fixture.settle().await;
    let listed = fixture.service.list("u", &List::default()).await.unwrap().items;
    let old = listed[1].id.clone();
    fixture.service.read("u", &old, None).await.unwrap();
    fixture.service.dismiss("u", &old, None).await.unwrap();
    fixture.advance(60);
    fixture.like("u", "B", Some("k")).await;
    fixture.settle().await;
    let listed = fixture.service.list("u", &List::default()).await.unwrap().items;
    assert_eq!((listed.len(), &listed[0].id), (2, &old));
    assert!(!listed[0].read && listed[0].read_at.is_none() && !listed[0].dismissed);
}

/// The seed's own query finds the events of a window, and none of the service's auxiliary items.
pub async fn the_aggregate_is_in_no_answer_of_the_seeds_queries(place: &Place) {
    let fixture = place.fixture().await;
    fixture.like("u", "A", Some("k")).await;
    fixture.settle().await;
    for text in [
        "SELECT * FROM c WHERE c.userId = 'u' AND c.dedupeKey = 'k' AND c.createdAt >= '2026-01-01T00:00:00Z'",
        "SELECT * FROM c WHERE c.status = 'COMPLETED'",
    ] {
        let rows = fixture.rows(EVENTS, Some("u"), text).await;
        assert_eq!(rows.len(), 1, "{text}");
        assert!(rows[0].get("kind").is_none());
    }
}
