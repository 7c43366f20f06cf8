//! Bearer and provider tokens: kept, replaced, and what happens with credentials that are wrong.

mod support;

use orrery_api_push::Platform as At;
use orrery_notifications::push::Outcome;
use orrery_notifications::records::Platform;
use support::{World, all, edited};

fn misconfigured(outcome: &Outcome) -> &str {
    match outcome {
        Outcome::Misconfigured { reason, .. } => reason,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_bearer_token_is_used_until_shortly_before_it_ends() {
    let world = World::start();
    let exchanges = || world.state.counters().token_exchanges;
    for _ in 0..3 {
        assert_eq!(world.push(Platform::Fcm, "d").await, Outcome::Delivered);
    }
    world.advance(3_500);
    assert_eq!(world.push(Platform::Fcm, "d").await, Outcome::Delivered);
    assert_eq!(exchanges(), 1);
    world.advance(45);
    assert_eq!(world.push(Platform::Fcm, "d").await, Outcome::Delivered);
    assert_eq!(exchanges(), 2);
}

#[tokio::test]
async fn a_bearer_token_that_is_refused_is_replaced_once() {
    let world = World::start();
    assert_eq!(world.push(Platform::Fcm, "d").await, Outcome::Delivered);
    world.state.forget_bearers();
    assert_eq!(world.push(Platform::Fcm, "d").await, Outcome::Delivered);
    assert_eq!(world.state.counters().token_exchanges, 2);
    world.script_times(all(At::Fcm), 401, "UNAUTHENTICATED", None, Some(2));
    let outcome = world.push(Platform::Fcm, "d").await;
    assert!(misconfigured(&outcome).contains("bearer token"), "{outcome:?}");
    assert_eq!(world.state.counters().token_exchanges, 3);
    assert_eq!(world.providers.troubles().len(), 1, "whoever asks is told");
    assert_eq!(world.push(Platform::Fcm, "d").await, Outcome::Delivered);
    assert_eq!(world.providers.troubles(), [""; 0]);
}

#[tokio::test]
async fn a_token_endpoint_in_trouble_is_asked_once_in_a_while() {
    let world = World::start();
    world.script(all(At::Oauth), 503, "backend_error", Some(7));
    for _ in 0..3 {
        let outcome = world.push(Platform::Fcm, "d").await;
        assert!(
            matches!(&outcome, Outcome::Later { after: Some(after), .. } if after.as_secs() == 7),
            "{outcome:?}"
        );
    }
    world.advance(6);
    assert_eq!(world.push(Platform::Fcm, "d").await, Outcome::Delivered);
    assert_eq!(world.state.counters().token_exchanges, 1);
}

#[tokio::test]
async fn a_service_account_that_google_does_not_know_is_misconfigured() {
    let wrong = |member: &'static str, value: &'static str| {
        World::start_with(move |name, text| match name {
            "service-account.json" => edited(&text, |account| account[member] = value.into()),
            _ => text,
        })
    };
    for (world, fragment) in [
        (wrong("private_key_id", "another"), "Invalid JWT Signature"),
        (wrong("client_email", "somebody@else"), "account not found"),
        (wrong("project_id", "another-project"), "403"),
    ] {
        let outcome = world.push(Platform::Fcm, "d").await;
        assert!(misconfigured(&outcome).contains(fragment), "{outcome:?}");
        assert_eq!(world.state.counters().delivered, 0);
    }
}

#[tokio::test]
async fn a_clock_that_is_wrong_is_told() {
    let world = World::start();
    // The providers' clock is two hours ahead of the stand-ins'.
    let env = orrery_core::Env::seeded(world.env.now().plus(std::time::Duration::from_secs(7_200)), 1);
    let providers = support::providers(&world.files, &env).expect("credentials");
    for platform in [Platform::Fcm, Platform::Apns] {
        let outcome = providers.push(&support::device(platform, "d"), &support::message()).await;
        misconfigured(&outcome);
    }
}

#[tokio::test]
async fn a_provider_token_is_used_for_fifty_minutes() {
    let world = World::start();
    let tokens = || world.state.counters().provider_tokens;
    for minutes in [0, 20, 29] {
        world.advance(minutes * 60);
        assert_eq!(world.push(Platform::Apns, "d").await, Outcome::Delivered);
    }
    assert_eq!(tokens(), 1);
    world.advance(60);
    assert_eq!(world.push(Platform::Apns, "d").await, Outcome::Delivered);
    assert_eq!(tokens(), 2);
}

#[tokio::test]
async fn an_expired_provider_token_is_replaced_once() {
    let world = World::start();
    assert_eq!(world.push(Platform::Apns, "d").await, Outcome::Delivered);
    world.advance(60);
    world.script(all(At::Apns), 403, "ExpiredProviderToken", None);
    assert_eq!(world.push(Platform::Apns, "d").await, Outcome::Delivered);
    assert_eq!(world.state.counters().provider_tokens, 2);
    world.script_times(all(At::Apns), 403, "ExpiredProviderToken", None, None);
    let before = world.state.counters().received;
    for _ in 0..3 {
        let outcome = world.push(Platform::Apns, "d").await;
        assert!(misconfigured(&outcome).contains("clock"), "{outcome:?}");
    }
    assert_eq!(world.state.counters().provider_tokens, 2, "no new token in twenty minutes");
    assert_eq!(world.state.counters().received - before, 3);
}

#[tokio::test]
async fn an_apns_key_that_apple_does_not_know_is_misconfigured() {
    let wrong = |member: &'static str, value: &'static str| {
        World::start_with(move |name, text| match name {
            "providers.json" => edited(&text, |providers| providers["apns"][member] = value.into()),
            _ => text,
        })
    };
    for (world, fragment) in [
        (wrong("keyId", "ABCDEFGHIJ"), "InvalidProviderToken"),
        (wrong("teamId", "ABCDEFGHIJ"), "InvalidProviderToken"),
        (wrong("topic", "app.other"), "TopicDisallowed"),
    ] {
        let outcome = world.push(Platform::Apns, "d").await;
        assert!(misconfigured(&outcome).contains(fragment), "{outcome:?}");
    }
}
