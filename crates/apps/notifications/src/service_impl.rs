//! Implements the kit's `Service` for the notification service: the view of the API, the server and the
//! doctor.

use crate::service::Notifications;
use crate::{dispatch, routes};
use orrery_kit::service::{
    Alias, BoxFuture, Check, Endpoint, Measure, MeasureKind, MeasureUnit, Service, Stores, Verdict,
};
use serde_json::Value;

impl Service for Notifications {
    fn name(&self) -> &'static str {
        "notifications"
    }

    fn routes(&self) -> Vec<Endpoint> {
        routes::endpoints(self)
    }

    fn schemas(&self) -> Vec<(&'static str, Value)> {
        routes::schemas()
    }

    fn aliases(&self) -> Vec<Alias> {
        routes::aliases()
    }

    fn stores(&self) -> &Stores {
        self.stores()
    }

    fn run<'a>(&'a self, stop: BoxFuture<'a, ()>) -> BoxFuture<'a, ()> {
        Box::pin(dispatch::run(self, stop))
    }

    fn wake(&self) {
        self.wake();
    }

    /// Reports problems that prevent pushes; every event is accepted and kept all the same.
    fn health(&self) -> Vec<Check> {
        let (troubles, missing) = (self.providers().troubles(), self.providers().missing());
        if troubles.is_empty() {
            return vec![Check::ok("providers", "nothing keeps pushes from going out")];
        }
        let check = |trouble: String| {
            // A provider that was never configured is not a fault.
            let verdict = if missing.contains(&trouble) { Verdict::Look } else { Verdict::Bad };
            Check::new("providers", verdict, format!("{trouble}; events are kept meanwhile"))
        };
        troubles.into_iter().map(check).collect()
    }

    fn measures(&self) -> Vec<Measure> {
        let counted = self.counters().all();
        let value = |name: &str| {
            let found = counted.iter().find(|(known, _)| *known == name);
            found.map_or(0.0, |(_, value)| *value as f64)
        };
        let counter = |(name, metric, help): &(&str, &'static str, &'static str)| Measure {
            name: metric,
            help,
            unit: MeasureUnit::None,
            kind: MeasureKind::Counter,
            value: value(name),
        };
        let mut measures: Vec<Measure> = COUNTS.iter().map(counter).collect();
        measures.push(Measure {
            name: "notifications.latency",
            help: "From acceptance to the end, of all events that ended.",
            unit: MeasureUnit::Milliseconds,
            kind: MeasureKind::Counter,
            value: value("latencyMillis"),
        });
        measures.push(Measure {
            name: "notifications.latency_max",
            help: "The longest from acceptance to the end.",
            unit: MeasureUnit::Milliseconds,
            kind: MeasureKind::Gauge,
            value: value("latencyMillisMax"),
        });
        measures.push(Measure {
            name: "notifications.provider_troubles",
            help: "Push providers that cannot be used.",
            unit: MeasureUnit::None,
            kind: MeasureKind::Gauge,
            value: self.providers().troubles().len() as f64,
        });
        measures
    }
}

/// The counters: name in the statistics, name of the metric, and help text (S2-92).
const COUNTS: [(&str, &str, &str); 15] = [
    ("enqueued", "notifications.enqueued", "Events accepted."),
    ("dropped", "notifications.dropped", "Events for erased users, not kept."),
    ("delivered", "notifications.delivered", "Events that ended with a push."),
    ("deduplicated", "notifications.deduplicated", "Events that joined another's notification."),
    ("rateLimited", "notifications.rate_limited", "Events shown in the app and not pushed, for a limit."),
    ("suppressed", "notifications.suppressed", "Events of a category that their user switched off."),
    ("inappOnly", "notifications.inapp_only", "Events shown in the app alone."),
    (
        "noDevices",
        "notifications.no_devices",
        "Events whose user has no active device, or none that is still registered.",
    ),
    (
        "deferred",
        "notifications.deferred",
        "Times that a push was put off, for quiet hours or a provider that is set up wrongly.",
    ),
    ("cancelled", "notifications.cancelled", "Events cancelled."),
    ("pushed", "notifications.pushed", "Pushes that a provider took."),
    ("failed", "notifications.failed", "Times that an event failed and is tried again."),
    (
        "deadLettered",
        "notifications.dead_lettered",
        "Events given up, after all retries or as they cannot be worked on.",
    ),
    ("devicesRevoked", "notifications.devices_revoked", "Devices revoked, for whatever reason."),
    ("latencyCount", "notifications.ended", "Events that ended."),
];
