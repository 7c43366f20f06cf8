//! Pushes that arrive, by the real protocols (S2-78).

mod support;

use orrery_api_push::Received;
use orrery_notifications::push::{Message, Outcome};
use orrery_notifications::records::Platform;
use support::{World, device, message};
use tokio::task::JoinSet;

fn check(received: &Received, token: &str, priority: &str) {
    assert_eq!((&*received.token, received.status), (token, 200));
    assert_eq!(received.collapse_id.as_deref(), Some("notification-1"));
    assert_eq!((&*received.title, &*received.body), ("Noor liked your post", "Morning on the pier"));
    assert_eq!(received.deeplink.as_deref(), Some("asora://post/post-42"));
    assert_eq!(received.priority.as_deref(), Some(priority));
}

#[tokio::test]
async fn a_push_arrives_at_either_provider() {
    let world = World::start();
    assert_eq!(world.push(Platform::Fcm, "phone").await, Outcome::Delivered);
    assert_eq!(world.push(Platform::Apns, "pad").await, Outcome::Delivered);
    let received = world.state.received();
    check(&received[0], "phone", "HIGH");
    check(&received[1], "pad", "10");
    assert_eq!(world.providers.troubles(), [""; 0]);
}

#[tokio::test]
async fn a_repeated_push_has_the_same_collapse_id_however_long_it_is() {
    // K6.
    let world = World::start();
    let long = Message { collapse_id: "n".repeat(300), ..message() };
    for platform in [Platform::Fcm, Platform::Apns, Platform::Fcm, Platform::Apns] {
        assert_eq!(world.providers.push(&device(platform, "d"), &long).await, Outcome::Delivered);
    }
    let ids: Vec<_> = world.state.received().into_iter().map(|received| received.collapse_id).collect();
    assert!(ids.iter().all(|id| *id == ids[0] && id.as_ref().is_some_and(|id| id.len() == 64)), "{ids:?}");
}

#[tokio::test]
async fn a_message_is_made_to_fit_what_providers_take() {
    let world = World::start();
    let large = Message { body: "\"ä\u{1F600}".repeat(4_000), ..message() };
    for platform in [Platform::Fcm, Platform::Apns] {
        assert_eq!(world.providers.push(&device(platform, "d"), &large).await, Outcome::Delivered);
    }
    for received in world.state.received() {
        assert!((4_000..=4_096).contains(&received.bytes), "{}", received.bytes);
        assert!(received.body.ends_with('…'));
    }
}

#[tokio::test]
async fn many_pushes_share_one_connection_and_one_token() {
    let world = World::start();
    let mut all = JoinSet::new();
    for n in 0..90 {
        let providers = world.providers.clone();
        all.spawn(async move {
            let platform = if n % 2 == 0 { Platform::Fcm } else { Platform::Apns };
            providers.push(&device(platform, &format!("d{n}")), &message()).await
        });
    }
    while let Some(outcome) = all.join_next().await {
        assert_eq!(outcome.expect("no panic"), Outcome::Delivered);
    }
    let counters = world.state.counters();
    assert_eq!((counters.received, counters.delivered), (90, 90));
    assert_eq!((counters.token_exchanges, counters.provider_tokens), (1, 1));
    assert_eq!((counters.fcm_connections, counters.apns_connections), (1, 1));
}

#[tokio::test]
async fn nobody_at_the_address_is_later_and_nothing_arrived() {
    let world = World::start_with(|name, text| match name {
        "providers.json" => support::edited(&text, |providers| {
            providers["apns"]["baseUrl"] = "https://127.0.0.1:1".into();
        }),
        _ => text,
    });
    let outcome = world.push(Platform::Apns, "pad").await;
    assert!(matches!(&outcome, Outcome::Later { may_have_arrived: false, status: None, .. }), "{outcome:?}");
}

#[tokio::test]
async fn a_provider_whose_certificate_is_not_trusted_gets_nothing() {
    let other = World::start();
    let theirs = other.files.iter().find(|file| file.name == "ca.pem").expect("a certificate").text.clone();
    let world = World::start_with(|name, text| if name == "ca.pem" { theirs.clone() } else { text });
    for platform in [Platform::Fcm, Platform::Apns] {
        let outcome = world.push(platform, "d").await;
        let Outcome::Later { reason, may_have_arrived: false, .. } = &outcome else { panic!("{outcome:?}") };
        assert!(reason.contains("certificate"), "{reason}");
    }
    assert_eq!(world.state.counters().received + world.state.counters().token_exchanges, 0);
}
