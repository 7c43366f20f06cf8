//! Samples of the counters, so that a window is the difference of two.

use crate::limits;
use orrery_core::Timestamp;
use orrery_document_store::monitor::{Class, MeterTotals, Subject, Totals};
use std::collections::{BTreeMap, VecDeque};

/// Reads, writes and queries of a container.
pub type Classes = [Totals; 3];

pub const CLASSES: [Class; 3] = [Class::Read, Class::Write, Class::Query];

#[derive(Clone, Debug, Default)]
pub struct Look {
    pub at: Timestamp,
    pub containers: BTreeMap<u32, Classes>,
}

impl Look {
    pub fn of(meters: &[(Subject, MeterTotals)], at: Timestamp) -> Self {
        let containers = meters.iter().filter_map(|(subject, totals)| match subject {
            Subject::Container(number) => Some((*number, CLASSES.map(|class| totals.class(class)))),
            Subject::Account | Subject::Others => None,
        });
        Self { at, containers: containers.collect() }
    }
}

/// The difference of two samples.
#[derive(Clone, Debug, Default)]
pub struct Between {
    pub seconds: f64,
    pub containers: BTreeMap<u32, Classes>,
}

#[derive(Default)]
pub struct Looks {
    kept: VecDeque<Look>,
}

impl Looks {
    /// Adds a sample, if the last one is old enough for these windows. Samples that no window needs are dropped.
    pub fn keep(&mut self, look: &Look, window_seconds_max: u64) {
        let apart = (window_seconds_max * 1000 / limits::ALERT_SAMPLES_MAX as u64).max(1);
        // If the clock was set back, sampling restarts.
        if self.kept.back().is_some_and(|last| last.at > look.at) {
            self.kept.clear();
        }
        if self.kept.back().is_none_or(|last| look.at.millis() >= last.at.millis() + apart) {
            self.kept.push_back(look.clone());
        }
        let start = look.at.millis().saturating_sub(window_seconds_max * 1000);
        while self.kept.len() > 1 && self.kept[1].at.millis() <= start {
            self.kept.pop_front();
        }
    }

    /// The difference within a number of seconds before a sample, or since the oldest one; `None` if no time has
    /// passed.
    pub fn within(&self, seconds: u64, now: &Look) -> Option<Between> {
        let start = now.at.millis().saturating_sub(seconds * 1000);
        let before = |look: &&Look| look.at.millis() <= start;
        let base =
            self.kept.iter().rev().find(before).or(self.kept.front()).filter(|base| base.at < now.at)?;
        let since = |number: &u32, classes: &Classes| match base.containers.get(number) {
            None => classes.clone(),
            Some(earlier) => std::array::from_fn(|at| classes[at].since(&earlier[at])),
        };
        Some(Between {
            seconds: (now.at.millis() - base.at.millis()) as f64 / 1000.0,
            containers: now.containers.iter().map(|(number, it)| (*number, since(number, it))).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(seconds: u64, hundredths: u64) -> Look {
        let totals = Totals { hundredths, ..Totals::default() };
        let containers = [(1, [totals, Totals::default(), Totals::default()])].into();
        Look { at: Timestamp::from_seconds(seconds), containers }
    }

    #[test]
    fn a_window_is_what_came_within_it() {
        let mut looks = Looks::default();
        let mut told = Vec::new();
        for second in 100..400 {
            let now = look(second, second * 10);
            looks.keep(&now, 64);
            told.push(looks.within(64, &now).map(|it| (it.seconds, it.containers[&1][0].hundredths)));
        }
        assert_eq!(told[0], None, "no time has passed");
        assert_eq!(told[10], Some((10.0, 100)), "not a window's time yet, but since the first");
        // Samples are four seconds apart, so a window may be that much longer.
        for (seconds, hundredths) in told[70..].iter().flatten() {
            assert!((64.0..68.0).contains(seconds) && *hundredths == *seconds as u64 * 10, "{seconds}");
        }
        assert!(looks.kept.len() <= limits::ALERT_SAMPLES_MAX + 2, "{}", looks.kept.len());
    }

    #[test]
    fn a_clock_that_is_set_back_begins_anew() {
        let mut looks = Looks::default();
        looks.keep(&look(1000, 5), 60);
        looks.keep(&look(10, 7), 60);
        assert!(looks.within(60, &look(10, 7)).is_none());
        assert_eq!(looks.within(60, &look(11, 9)).map(|it| it.containers[&1][0].hundredths), Some(2));
    }
}
