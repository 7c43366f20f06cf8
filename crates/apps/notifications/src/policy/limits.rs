//! Rate limits of pushes, per category and per target (C-42, C-45).
//!
//! A notification over the limit is still written to the in-app centre; only its push is omitted.

use crate::records::Category;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The limit of one category. A notification is limited if `count` came before it in the window, or
/// `perTarget.count` about the same target; but never while there were fewer than `perTargetAtLeast` about
/// that target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Limit {
    pub count: u64,
    pub window_minutes: u64,
    pub per_target: Sublimit,
    #[serde(default)]
    pub per_target_at_least: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Sublimit {
    pub count: u64,
    pub window_minutes: u64,
}

/// Earlier notifications of the same user and category.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Earlier {
    pub in_window: u64,
    pub of_target_in_its_window: u64,
}

impl Limit {
    pub fn is_over(&self, earlier: Earlier) -> bool {
        let Earlier { in_window, of_target_in_its_window: of_target } = earlier;
        if of_target < self.per_target_at_least {
            return false;
        }
        in_window >= self.count || of_target >= self.per_target.count
    }

    pub fn window(&self) -> Duration {
        Duration::from_secs(self.window_minutes * 60)
    }

    pub fn target_window(&self) -> Duration {
        Duration::from_secs(self.per_target.window_minutes * 60)
    }
}

/// The limits of all categories.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE", default, deny_unknown_fields)]
pub struct Limits {
    pub social: Limit,
    pub safety: Limit,
    pub security: Limit,
    pub news: Limit,
    pub marketing: Limit,
}

const DAY_MINUTES: u64 = 24 * 60;
const WINDOW_MINUTES_MAX: u64 = 30 * DAY_MINUTES;

impl Default for Limits {
    fn default() -> Self {
        let limit = |count, window_minutes, of_target, target_minutes| Limit {
            count,
            window_minutes,
            per_target: Sublimit { count: of_target, window_minutes: target_minutes },
            per_target_at_least: 0,
        };
        Self {
            social: limit(24, 60, 4, 15),
            safety: limit(12, 60, 3, 30),
            security: Limit { per_target_at_least: 1, ..limit(8, 60, 2, 60) },
            news: limit(6, DAY_MINUTES, 2, DAY_MINUTES),
            marketing: limit(2, DAY_MINUTES, 1, DAY_MINUTES),
        }
    }
}

impl Limits {
    pub fn of(&self, category: Category) -> &Limit {
        match category {
            Category::Social => &self.social,
            Category::Safety => &self.safety,
            Category::Security => &self.security,
            Category::News => &self.news,
            Category::Marketing => &self.marketing,
        }
    }

    pub fn validate(&self) -> Result<(), String> {
        for (name, limit) in [
            ("SOCIAL", self.social),
            ("SAFETY", self.safety),
            ("SECURITY", self.security),
            ("NEWS", self.news),
            ("MARKETING", self.marketing),
        ] {
            let windows = [limit.window_minutes, limit.per_target.window_minutes];
            if windows.iter().any(|minutes| !(1..=WINDOW_MINUTES_MAX).contains(minutes)) {
                return Err(format!("limits, {name}: a windowMinutes is not from 1 to {WINDOW_MINUTES_MAX}"));
            }
        }
        if self.security.per_target_at_least == 0 {
            return Err(
                "limits, SECURITY: perTargetAtLeast has to be 1 or more; an alarm is never kept back"
                    .to_owned(),
            );
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_over(category: Category, in_window: u64, of_target: u64) -> bool {
        Limits::default().of(category).is_over(Earlier { in_window, of_target_in_its_window: of_target })
    }

    #[test]
    fn the_first_beyond_the_number_is_limited() {
        // B-3: the 25th SOCIAL of an hour, the third MARKETING of a day.
        for (category, count, of_target) in [
            (Category::Social, 24, 4),
            (Category::Safety, 12, 3),
            (Category::News, 6, 2),
            (Category::Marketing, 2, 1),
        ] {
            assert!(!is_over(category, count - 1, 0), "{category:?}");
            assert!(is_over(category, count, 0), "{category:?}");
            assert!(!is_over(category, of_target - 1, of_target - 1), "{category:?}");
            assert!(is_over(category, of_target, of_target), "{category:?}");
        }
    }

    #[test]
    fn security_always_has_one_per_target() {
        // C-45, S2-86.
        assert!(!is_over(Category::Security, 1_000, 0));
        assert!(is_over(Category::Security, 8, 1));
        assert!(!is_over(Category::Security, 7, 1));
        assert!(is_over(Category::Security, 2, 2));
    }

    #[test]
    fn windows_match_the_table() {
        let limits = Limits::default();
        let check = |category, minutes: u64, of_target: u64| {
            let limit = limits.of(category);
            assert_eq!(limit.window(), Duration::from_secs(minutes * 60), "{category:?}");
            assert_eq!(limit.target_window(), Duration::from_secs(of_target * 60), "{category:?}");
        };
        check(Category::Social, 60, 15);
        check(Category::Safety, 60, 30);
        check(Category::Security, 60, 60);
        check(Category::News, 1440, 1440);
        check(Category::Marketing, 1440, 1440);
    }

    #[test]
    fn limits_that_make_no_sense_are_refused() {
        let defaults = Limits::default();
        assert_eq!(defaults.validate(), Ok(()));
        let mut wrong = defaults;
        wrong.news.window_minutes = 0;
        assert!(wrong.validate().is_err_and(|sentence| sentence.contains("NEWS")));
        let mut wrong = defaults;
        wrong.security.per_target_at_least = 0;
        assert!(wrong.validate().is_err_and(|sentence| sentence.contains("SECURITY")));
    }
}
