//! Policy decisions as pure functions: nothing here reads a clock, a store or the network.
//!
//! ```text
//! kinds      the types of events, their names, categories and texts
//! template   texts with placeholders
//! render     the text of a notification
//! check      request validation, with the member's name in errors
//! quiet      when a push may be sent
//! limits     pushes per time window
//! backoff    when a failed event is retried
//! aggregate  merges events of one dedupe key into one notification
//! ```
//!
//! A policy is data: [`Policy::parse`] reads it from JSON; missing members are those of [`Policy::default`].

pub mod aggregate;
pub mod backoff;
pub mod check;
pub mod kinds;
pub mod limits;
pub mod quiet;
pub mod render;
pub mod template;

pub use aggregate::Joined;
pub use backoff::{Backoff, Next};
pub use check::Invalid;
pub use kinds::{Kind, Registry};
pub use limits::{Earlier, Limit, Limits};
pub use quiet::{Release, Zone};
pub use render::Rendered;

use crate::records::{Category, Toggles};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// How notifications are processed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Policy {
    /// How long events of one dedupe key are merged into one notification (C-41).
    pub dedupe_minutes: u64,
    pub limits: Limits,
    pub backoff: Backoff,
    /// Defaults for users who have not chosen: the zone, quiet by local hour (C-43), the categories
    /// (C-44).
    pub default_timezone: String,
    pub default_quiet_hours: Vec<bool>,
    pub default_categories: Toggles,
    /// How long a worker holds an event before another may take it.
    pub lease_seconds: u64,
    /// Interval of scans for due events when nothing wakes the dispatcher (S2-73).
    pub tick_millis: u64,
    /// Event types besides the seed's; same names replace them (C-37).
    #[serde(rename = "eventTypes")]
    pub kinds: Vec<Kind>,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            dedupe_minutes: 60,
            limits: Limits::default(),
            backoff: Backoff::default(),
            default_timezone: "UTC".to_owned(),
            default_quiet_hours: quiet::DEFAULT_HOURS.to_vec(),
            default_categories: Toggles { social: true, news: true, marketing: true },
            lease_seconds: 30,
            tick_millis: 1_000,
            kinds: Vec::new(),
        }
    }
}

impl Policy {
    /// Parses a policy; the error is a sentence that names the member.
    pub fn parse(json: &[u8]) -> Result<Self, String> {
        let policy: Self = serde_json::from_slice(json)
            .map_err(|error| format!("the notification policy is not understood: {error}"))?;
        policy.validate()?;
        Ok(policy)
    }

    /// Checks that every member is in its range.
    pub fn validate(&self) -> Result<(), String> {
        for (member, value, most) in [
            ("dedupeMinutes", self.dedupe_minutes, MINUTES_MAX),
            ("leaseSeconds", self.lease_seconds, 3_600),
            ("tickMillis", self.tick_millis, 60_000),
        ] {
            if value == 0 || value > most {
                return Err(format!("{member} is {value}; give a number from 1 to {most}"));
            }
        }
        if self.push_time().is_zero() {
            let seconds = self.lease_seconds;
            return Err(format!(
                "leaseSeconds is {seconds}, which leaves no time for a push; give 2 or more"
            ));
        }
        Zone::parse(&self.default_timezone)
            .map_err(|invalid| format!("defaultTimezone: {}", invalid.reason))?;
        if self.default_quiet_hours.len() != quiet::HOURS {
            return Err("defaultQuietHours has to have 24 entries, one for each local hour".to_owned());
        }
        self.limits.validate()?;
        self.backoff.validate()?;
        Registry::of(self).map(drop)
    }

    pub fn dedupe_window(&self) -> Duration {
        Duration::from_secs(self.dedupe_minutes * 60)
    }

    pub fn lease(&self) -> Duration {
        Duration::from_secs(self.lease_seconds)
    }

    /// Time limit of a push: well within the lease, and so is recording it.
    pub fn push_time(&self) -> Duration {
        let margin = (self.lease() / 4).max(Duration::from_secs(1));
        let most = Duration::from_secs(crate::limits::PUSH_SECONDS_MAX);
        self.lease().saturating_sub(margin).min(most)
    }

    pub fn tick(&self) -> Duration {
        Duration::from_millis(self.tick_millis)
    }
}

/// Thirty days: an aggregate is not kept longer than its notification.
const MINUTES_MAX: u64 = 30 * 24 * 60;

/// Whether it is sent regardless of settings and quiet hours (S2-34, C-45).
pub fn is_urgent(category: Category) -> bool {
    matches!(category, Category::Safety | Category::Security)
}

/// Whether the user's settings allow this category.
pub fn is_wanted(category: Category, toggles: Toggles) -> bool {
    match category {
        Category::Safety | Category::Security => true,
        Category::Social => toggles.social,
        Category::News => toggles.news,
        Category::Marketing => toggles.marketing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_push_is_always_over_before_its_lease() {
        let seconds = |lease_seconds| Policy { lease_seconds, ..Policy::default() }.push_time().as_secs_f64();
        assert_eq!((seconds(2), seconds(3), seconds(20), seconds(30)), (1.0, 2.0, 15.0, 20.0));
        for lease in 2..=3_600 {
            assert!(seconds(lease) > 0.0 && seconds(lease) <= lease as f64 - 1.0, "{lease}");
        }
    }

    #[test]
    fn an_empty_policy_is_the_default() {
        assert_eq!(Policy::parse(b"{}"), Ok(Policy::default()));
        let defaults = Policy::default();
        assert_eq!(defaults.dedupe_window(), Duration::from_secs(3600));
        assert_eq!(defaults.lease(), Duration::from_secs(30));
        assert_eq!(defaults.tick(), Duration::from_secs(1));
        // C-43, S2-35.
        let quiet: Vec<usize> = (0..24).filter(|hour| defaults.default_quiet_hours[*hour]).collect();
        assert_eq!(quiet, [0, 1, 2, 3, 4, 5, 6, 22, 23]);
    }

    #[test]
    fn a_policy_is_written_and_read_again() {
        let policy = Policy { dedupe_minutes: 5, ..Policy::default() };
        let json = serde_json::to_vec(&policy).expect("JSON");
        assert_eq!(Policy::parse(&json), Ok(policy));
    }

    #[test]
    fn invalid_policies_are_refused_by_member() {
        let check = |json: &str, member: &str| {
            let sentence = Policy::parse(json.as_bytes()).expect_err(json);
            assert!(sentence.contains(member), "{json}: {sentence}");
        };
        check("{", "not understood");
        check(r#"{"dedupeMinute": 5}"#, "dedupeMinute");
        check(r#"{"dedupeMinutes": 0}"#, "dedupeMinutes");
        check(r#"{"leaseSeconds": 100000}"#, "leaseSeconds");
        check(r#"{"leaseSeconds": 1}"#, "no time for a push");
        check(r#"{"tickMillis": 0}"#, "tickMillis");
        check(r#"{"defaultTimezone": "Mars/Olympus"}"#, "defaultTimezone");
        check(r#"{"defaultQuietHours": [true]}"#, "defaultQuietHours");
        check(
            r#"{"limits": {"NEWS": {"count": 1, "windowMinutes": 0, "perTarget": {"count": 1, "windowMinutes": 1}}}}"#,
            "NEWS",
        );
        check(r#"{"backoff": {"seconds": []}}"#, "backoff");
        check(r#"{"eventTypes": [{"name": "x", "category": "NEWS", "title": "t"}]}"#, "eventTypes");
    }

    #[test]
    fn safety_and_security_ignore_what_is_switched_off() {
        let off = Toggles { social: false, news: false, marketing: false };
        let wanted = |category| is_wanted(category, off);
        assert!(wanted(Category::Safety) && wanted(Category::Security));
        assert!(!wanted(Category::Social) && !wanted(Category::News) && !wanted(Category::Marketing));
        let on = Toggles { social: true, news: true, marketing: true };
        assert!(
            [Category::Social, Category::News, Category::Marketing].iter().all(|one| is_wanted(*one, on))
        );
    }
}
