//! How an event ends, from values alone. It is decided once: what comes out is stored with the event.
//!
//! ```text
//! category off ────────────▶ SuppressedCategory     nothing is written
//! window open ─────────────▶ Deduplicated           the notification that is there says one more
//! over the limit ──────────▶ RateLimited            in-app only
//! quiet at all hours ──────▶ NeverPush              in-app only
//! else ────────────────────▶ Push                   now, or when the quiet hours are over
//! ```
//!
//! That a user was erased is looked at before this, as there is nothing to store then.

use crate::policy::{self, Earlier, Joined, Policy, Release, Zone, aggregate, quiet, render};
use crate::records::{Aggregate, Decision, Ending, Event, Preferences, Says};
use orrery_core::Timestamp;
use orrery_kit::time;

/// All that a decision depends on, beside the policy.
#[derive(Clone, Copy, Debug)]
pub struct Known<'a> {
    pub event: &'a Event,
    pub preferences: &'a Preferences,
    /// Of the event's dedupe key, if there is one.
    pub aggregate: Option<&'a Aggregate>,
    pub earlier: Earlier,
    pub now: Timestamp,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Decided {
    pub decision: Decision,
    /// Whose text it is; none if nothing is written.
    pub notification_id: Option<String>,
    /// To be written with the event.
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

/// Where the aggregate of an event's dedupe key is.
pub(super) fn aggregate_id(event: &Event) -> Option<String> {
    use sha2::{Digest, Sha256};
    let key = event.dedupe_key.as_deref()?;
    let hash = Sha256::digest(key);
    let hex: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    Some(format!("aggregate:{hex}"))
}

/// Of an event with a notification of its own.
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

/// When a push of now may go out. A zone that is none, which a user's own client may have stored, is UTC.
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
