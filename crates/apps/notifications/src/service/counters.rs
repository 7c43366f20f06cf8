//! Counters since the start (S2-92) and store charges (S2-56 to S2-61): reads for lists, writes for
//! everything else.

use serde_json::{Value, json};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Relaxed counters: each is exact, but together they are only approximately simultaneous.
#[derive(Debug, Default)]
pub struct Counters {
    pub enqueued: Counter,
    /// Sent to an erased user and dropped.
    pub dropped: Counter,
    pub delivered: Counter,
    pub deduplicated: Counter,
    pub rate_limited: Counter,
    pub suppressed: Counter,
    pub inapp_only: Counter,
    pub no_devices: Counter,
    pub deferred: Counter,
    pub cancelled: Counter,
    /// Pushes that a provider accepted.
    pub pushed: Counter,
    /// Events that failed and will be retried.
    pub failed: Counter,
    pub dead_lettered: Counter,
    pub devices_revoked: Counter,
    /// Events held by another worker, or whose lease was lost.
    pub lost: Counter,
    /// Milliseconds from an event's creation to its end.
    latency_count: Counter,
    latency_millis: Counter,
    latency_millis_max: Counter,
    charges: [Charge; Step::ALL.len()],
}

#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

#[derive(Debug, Default)]
struct Charge {
    times: Counter,
    /// Hundredths of a request unit.
    hundredths: Counter,
}

/// The steps in the seed's table of costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    Enqueue,
    Process,
    List,
    Mark,
    Preferences,
    Register,
}

impl Step {
    pub const ALL: [Self; 6] =
        [Self::Enqueue, Self::Process, Self::List, Self::Mark, Self::Preferences, Self::Register];

    pub fn name(self) -> &'static str {
        match self {
            Self::Enqueue => "enqueue",
            Self::Process => "process",
            Self::List => "list",
            Self::Mark => "mark",
            Self::Preferences => "preferences",
            Self::Register => "register",
        }
    }
}

impl Counter {
    pub fn one(&self) {
        self.add(1);
    }

    pub fn add(&self, more: u64) {
        self.0.fetch_add(more, Ordering::Relaxed);
    }

    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Counters {
    /// Records that an event ended this long after its creation.
    pub fn ended(&self, after: Duration) {
        let millis = after.as_millis() as u64;
        self.latency_count.one();
        self.latency_millis.add(millis);
        self.latency_millis_max.0.fetch_max(millis, Ordering::Relaxed);
    }

    /// Records the charge of one step.
    pub fn spent(&self, step: Step, charge: f64) {
        let of = &self.charges[step as usize];
        of.times.one();
        of.hundredths.add((charge * 100.0).round() as u64);
    }

    /// All counters with their names in the statistics and in the metrics.
    pub fn all(&self) -> Vec<(&'static str, u64)> {
        vec![
            ("enqueued", self.enqueued.get()),
            ("dropped", self.dropped.get()),
            ("delivered", self.delivered.get()),
            ("deduplicated", self.deduplicated.get()),
            ("rateLimited", self.rate_limited.get()),
            ("suppressed", self.suppressed.get()),
            ("inappOnly", self.inapp_only.get()),
            ("noDevices", self.no_devices.get()),
            ("deferred", self.deferred.get()),
            ("cancelled", self.cancelled.get()),
            ("pushed", self.pushed.get()),
            ("failed", self.failed.get()),
            ("deadLettered", self.dead_lettered.get()),
            ("devicesRevoked", self.devices_revoked.get()),
            ("lost", self.lost.get()),
            ("latencyCount", self.latency_count.get()),
            ("latencyMillis", self.latency_millis.get()),
            ("latencyMillisMax", self.latency_millis_max.get()),
        ]
    }

    /// The average charge of each step that has run, in request units.
    pub fn charges(&self) -> Value {
        let published = Step::ALL.iter().filter_map(|step| {
            let of = &self.charges[*step as usize];
            let times = of.times.get();
            let average = of.hundredths.get() as f64 / 100.0 / times as f64;
            (times > 0).then(|| (step.name().to_owned(), json!({"times": times, "average": average})))
        });
        Value::Object(published.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn charges_are_averages_per_step() {
        let counters = Counters::default();
        counters.spent(Step::Enqueue, 5.0);
        counters.spent(Step::Enqueue, 6.5);
        assert_eq!(counters.charges(), json!({"enqueue": {"times": 2, "average": 5.75}}));
    }

    #[test]
    fn latencies_add_up() {
        let counters = Counters::default();
        counters.ended(Duration::from_millis(40));
        counters.ended(Duration::from_millis(10));
        let of = |name| counters.all().iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
        assert_eq!(
            (of("latencyCount"), of("latencyMillis"), of("latencyMillisMax")),
            (Some(2), Some(50), Some(40))
        );
    }
}
