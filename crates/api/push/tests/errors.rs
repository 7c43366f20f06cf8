//! Every answer of the providers that is not a success, from its bytes on the wire to what becomes of the push.

mod support;

use orrery_notifications::push::Outcome;
use orrery_notifications::records::Platform;
use std::time::Duration;
use support::{World, to};

fn kind(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Delivered => "delivered",
        Outcome::Unregistered { .. } => "unregistered",
        Outcome::Later { .. } => "later",
        Outcome::Refused { .. } => "refused",
        Outcome::Misconfigured { .. } => "misconfigured",
    }
}

async fn check(platform: Platform, cases: &[(u16, &str, &str)]) {
    let world = World::start();
    for (status, reason, expected) in cases {
        world.script(to("secret-token"), *status, reason, None);
        let outcome = world.push(platform, "secret-token").await;
        assert_eq!((kind(&outcome), outcome.status()), (*expected, Some(*status)), "{outcome:?}");
        let shown = format!("{outcome:?} {:?}", world.providers);
        assert!(outcome.reason().contains(reason) && !shown.contains("secret-token"), "{shown}");
        assert_eq!(world.push(platform, "secret-token").await, Outcome::Delivered, "after {reason}");
    }
}

#[tokio::test]
async fn fcm() {
    // S2-79, B-6.
    let cases = [
        (404, "UNREGISTERED", "unregistered"),
        (400, "INVALID_ARGUMENT", "refused"),
        (403, "SENDER_ID_MISMATCH", "refused"),
        (429, "QUOTA_EXCEEDED", "later"),
        (503, "UNAVAILABLE", "later"),
        (500, "INTERNAL", "later"),
        (401, "THIRD_PARTY_AUTH_ERROR", "misconfigured"),
    ];
    check(Platform::Fcm, &cases).await;
}

#[tokio::test]
async fn apns() {
    let cases = [
        (410, "Unregistered", "unregistered"),
        (410, "ExpiredToken", "unregistered"),
        (400, "BadDeviceToken", "refused"),
        (400, "DeviceTokenNotForTopic", "refused"),
        (400, "TopicDisallowed", "misconfigured"),
        (403, "InvalidProviderToken", "misconfigured"),
        (400, "PayloadEmpty", "refused"),
        (413, "PayloadTooLarge", "refused"),
        (429, "TooManyRequests", "later"),
        (429, "TooManyProviderTokenUpdates", "later"),
        (500, "InternalServerError", "later"),
        (503, "ServiceUnavailable", "later"),
        (503, "Shutdown", "later"),
    ];
    check(Platform::Apns, &cases).await;
}

#[tokio::test]
async fn a_refusal_of_fcm_names_the_member() {
    // B-6: the device is kept.
    let world = World::start();
    world.script(to("d"), 400, "INVALID_ARGUMENT", None);
    let outcome = world.push(Platform::Fcm, "d").await;
    assert!(
        matches!(&outcome, Outcome::Refused { reason, .. } if reason.contains("message.token")),
        "{outcome:?}"
    );
}

#[tokio::test]
async fn the_wait_that_a_provider_asks_for_is_handed_on() {
    // B-6.
    let world = World::start();
    for (platform, status, reason) in [
        (Platform::Fcm, 503, "UNAVAILABLE"),
        (Platform::Fcm, 429, "QUOTA_EXCEEDED"),
        (Platform::Apns, 503, "ServiceUnavailable"),
        (Platform::Apns, 429, "TooManyRequests"),
    ] {
        world.script(to("d"), status, reason, Some(120));
        match world.push(platform, "d").await {
            Outcome::Later { after, may_have_arrived: false, .. } => {
                assert_eq!(after, Some(Duration::from_secs(120)))
            }
            other => panic!("{other:?}"),
        }
    }
}
