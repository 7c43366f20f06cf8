//! Decisions about events, case by case.

use super::*;
use crate::policy::Registry;
use crate::records::{Category, Payload, Status, TargetType, Toggles};
use std::time::Duration;

/// 10:00 in UTC, which is not quiet by default.
const NOW: Timestamp = Timestamp::from_seconds(1_794_736_800);

pub(in crate::dispatch) fn event() -> Event {
    Event {
        id: "e-1".to_owned(),
        user_id: "u-1".to_owned(),
        event_type: "POST_LIKE".to_owned(),
        category: Category::Social,
        payload: Payload {
            actor_id: None,
            actor_name: Some("Noor".to_owned()),
            target_id: "post-42".to_owned(),
            target_type: TargetType::Post,
            snippet: None,
            more: serde_json::Map::new(),
        },
        status: Status::Pending,
        retry_count: 0,
        next_retry_at: None,
        last_error: None,
        dedupe_key: None,
        created_at: time::format(NOW),
        processed_at: None,
        lease_owner: None,
        lease_until: None,
        lease_epoch: 0,
        outcome: None,
        defer_reason: None,
        dead_lettered_at: None,
        notification_id: None,
        unprojected: false,
        decision: None,
        attempts: Vec::new(),
        ttl: 1,
    }
}

fn of_type(event_type: &str, category: Category, key: Option<&str>) -> Event {
    let dedupe_key = key.map(str::to_owned);
    Event { event_type: event_type.to_owned(), category, dedupe_key, ..event() }
}

fn preferences(toggles: bool, quiet: impl Fn(usize) -> bool) -> Preferences {
    Preferences {
        id: "u-1".to_owned(),
        user_id: "u-1".to_owned(),
        timezone: "UTC".to_owned(),
        quiet_hours: (0..24).map(quiet).collect(),
        categories: Toggles { social: toggles, news: toggles, marketing: toggles },
        updated_at: time::format(NOW),
    }
}

/// The aggregate of the key, opened this many minutes ago.
fn opened(minutes: u64) -> Aggregate {
    let first = Event { id: "e-0".to_owned(), ..of_type("POST_LIKE", Category::Social, Some("k")) };
    let then = Timestamp::from_seconds(NOW.seconds() - minutes * 60);
    aggregate::join(None, &first, "aggregate:k", then, Duration::from_secs(3_600)).expect("a key").aggregate
}

fn decided(
    event: &Event,
    preferences: &Preferences,
    aggregate: Option<&Aggregate>,
    earlier: Earlier,
) -> Decided {
    let policy = Policy::default();
    let registry = Registry::of(&policy).expect("the seed's types");
    let kind = registry.find(&event.event_type).expect("its type");
    decide(&policy, kind, Known { event, preferences, aggregate, earlier, now: NOW })
}

const ALL: [(&str, Category); 5] = [
    ("POST_LIKE", Category::Social),
    ("SAFETY_ACCOUNT_WARNING", Category::Safety),
    ("SECURITY_NEW_DEVICE", Category::Security),
    ("NEWS_SYSTEM_UPDATE", Category::News),
    ("MARKETING_PROMOTION", Category::Marketing),
];

/// Every combination of inputs, against the order of checks.
#[test]
fn the_first_applicable_check_decides() {
    let over = Earlier { in_window: 1_000, of_target_in_its_window: 1_000 };
    let mut checked = 0;
    for (event_type, category) in ALL {
        let is_urgent = matches!(category, Category::Safety | Category::Security);
        for toggles in [true, false] {
            for key in [None, Some("k")] {
                for window in [None, Some(10), Some(60), Some(90)] {
                    for earlier in [Earlier::default(), over] {
                        for quiet in ["never", "now", "always"] {
                            let preferences = preferences(toggles, |hour| match quiet {
                                "never" => false,
                                "now" => hour == 10,
                                _ => true,
                            });
                            let event = of_type(event_type, category, key);
                            let aggregate = key.and(window).map(opened);
                            let expected = if !toggles && !is_urgent {
                                Ending::SuppressedCategory
                            } else if key.is_some() && window == Some(10) {
                                Ending::Deduplicated
                            } else if earlier == over {
                                Ending::RateLimited
                            } else if quiet == "always" && !is_urgent {
                                Ending::NeverPush
                            } else {
                                Ending::Push
                            };
                            let found = decided(&event, &preferences, aggregate.as_ref(), earlier);
                            assert_eq!(
                                found.decision.ending, expected,
                                "{event:?} {window:?} {earlier:?} {quiet}"
                            );
                            check_consistency(&event, aggregate.as_ref(), &found);
                            checked += 1;
                        }
                    }
                }
            }
        }
    }
    assert_eq!(checked, 480);
}

/// Invariants of any decision: the text is not empty, the event counts once, and the notification is the
/// right one.
fn check_consistency(event: &Event, before: Option<&Aggregate>, found: &Decided) {
    match found.decision.ending {
        Ending::SuppressedCategory => {
            assert_eq!(
                (&found.decision.says, &found.notification_id, &found.aggregate),
                (&None, &None, &None)
            );
            return;
        }
        Ending::Deduplicated => {
            let (before, after) =
                (before.expect("one to join"), found.aggregate.as_ref().expect("it changes"));
            assert_eq!((after.count, after.version), (before.count + 1, before.version + 1));
            assert_eq!(found.notification_id.as_ref(), Some(&before.notification_id));
        }
        _ => assert_eq!(found.notification_id.as_ref(), Some(&event.id)),
    }
    assert_eq!(found.aggregate.is_some(), event.dedupe_key.is_some());
    let says = found.decision.says.as_ref().expect("a text");
    assert!(!says.title.is_empty() && says.deeplink.starts_with("asora://"), "{says:?}");
    if let Some(aggregate) = &found.aggregate {
        assert_eq!((says.count, says.version), (aggregate.count, aggregate.version));
    }
}

/// S2-80: the text for several events names the first actor.
#[test]
fn a_joining_event_updates_the_count_in_the_text() {
    let mut joining = of_type("POST_LIKE", Category::Social, Some("k"));
    joining.payload.actor_name = Some("Ilse".to_owned());
    let found = decided(&joining, &preferences(true, |_| false), Some(&opened(1)), Earlier::default());
    let says = found.decision.says.expect("a text");
    assert!(says.title.contains("Noor and 1 other"), "{}", says.title);
}

#[test]
fn any_dedupe_key_has_its_own_aggregate() {
    let id = |key: &str| aggregate_id(&of_type("POST_LIKE", Category::Social, Some(key))).expect("a key");
    assert_ne!(id("a"), id("b"));
    assert_eq!(id("a/b?#\\").len(), id("a").len());
    assert_eq!(aggregate_id(&event()), None);
}
