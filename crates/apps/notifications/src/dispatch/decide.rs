//! Decides how an event ends, as a pure function. The decision is made once and stored with the event.
//!
//! ```text
//! category off ────────────▶ SuppressedCategory     nothing is written
//! window open ─────────────▶ Deduplicated           the existing notification counts one more
//! over the limit ──────────▶ RateLimited            in-app only
//! quiet at all hours ──────▶ NeverPush              in-app only
//! else ────────────────────▶ Push                   now, or when the quiet hours are over
//! ```
//!
//! Erased users are handled before, as there is nothing to store for them.

use crate::policy::{self, Earlier, Joined, Policy, Release, Zone, aggregate, quiet, render};
use crate::records::{Aggregate, Decision, Ending, Event, Preferences, Says};
use orrery_core::Timestamp;
use orrery_kit::time;

/// The inputs of a decision besides the policy.
#[derive(Clone, Copy, Debug)]
pub struct Known<'a> {
    pub event: &'a Event,
    pub preferences: &'a Preferences,
    /// The aggregate of the event's dedupe key, if there is one.
    pub aggregate: Option<&'a Aggregate>,
    pub earlier: Earlier,
    pub now: Timestamp,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Decided {
    pub decision: Decision,
    /// The notification's text; none if no notification is written.
    pub notification_id: Option<String>,
    /// The aggregate to write with the event.
    pub aggregate: Option<Aggregate>,
}

pub fn decide(policy: &Policy, kind: &policy::kinds::Known, known: Known<'_>) -> Decided {
    orrery_core::tour_step!();
    let Known { event, now, .. } = known;
    if !policy::is_wanted(event.category, known.preferences.categories) {
        let decision = Decision { ending: Ending::SuppressedCategory, at: time::format(now), says: None };
        return Decided { decision, notification_id: None, aggregate: None };
    }
    let joined = joined(policy, known);
    let is_first = joined.as_ref().is_none_or(|joined| joined.is_first);
    let ending = if is_first { ending(policy, known) } else { Ending::Deduplicated };
    let says = says(kind, event, joined.as_ref());
    let aggregate = joined.map(|joined| joined.aggregate);
    let notification_id =
        aggregate.as_ref().map_or_else(|| event.id.clone(), |one| one.notification_id.clone());
    Decided {
        decision: Decision { ending, at: time::format(now), says: Some(says) },
        notification_id: Some(notification_id),
        aggregate,
    }
}

fn joined(policy: &Policy, known: Known<'_>) -> Option<Joined> {
    let id = aggregate_id(known.event)?;
    aggregate::join(known.aggregate, known.event, &id, known.now, policy.dedupe_window())
}

/// The id of the aggregate of an event's dedupe key.
pub(super) fn aggregate_id(event: &Event) -> Option<String> {
    use sha2::{Digest, Sha256};
    let key = event.dedupe_key.as_deref()?;
    let hash = Sha256::digest(key);
    let hex: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    Some(format!("aggregate:{hex}"))
}

/// The text of an event with its own notification.
fn ending(policy: &Policy, known: Known<'_>) -> Ending {
    let category = known.event.category;
    if policy.limits.of(category).is_over(known.earlier) {
        return Ending::RateLimited;
    }
    match release(known.preferences, known.event, known.now) {
        Release::Never => Ending::NeverPush,
        Release::Now | Release::At(_) => Ending::Push,
    }
}

/// When a push may be sent. An invalid zone, which a user's own client may have stored, counts as UTC.
pub(super) fn release(preferences: &Preferences, event: &Event, now: Timestamp) -> Release {
    let zone = Zone::parse(&preferences.timezone).unwrap_or_else(|_| Zone::utc());
    quiet::release(now, &zone, &preferences.quiet_hours, event.category)
}

fn says(kind: &policy::kinds::Known, event: &Event, joined: Option<&Joined>) -> Says {
    let (rendered, count, version) = match joined {
        Some(Joined { aggregate, .. }) if aggregate.count > 1 => {
            let many = render::many(kind, &event.payload, &aggregate.actors, aggregate.count);
            (many, aggregate.count, aggregate.version)
        }
        Some(Joined { aggregate, .. }) => (render::one(kind, &event.payload), 1, aggregate.version),
        None => (render::one(kind, &event.payload), 1, 1),
    };
    Says { title: rendered.title, body: rendered.body, deeplink: rendered.deeplink, count, version }
}

#[cfg(test)]
#[path = "decide_tests.rs"]
pub(super) mod tests;
