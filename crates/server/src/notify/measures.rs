//! What the notification service counts, for `/metrics` and OpenTelemetry (S2-92).

use orrery_api_admin::monitor::family::{Family, Unit, Values};
use orrery_notifications::service::Notifications;

/// Each by its name in the service's own statistics, and what it means.
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

pub fn families(notifications: &Notifications) -> Vec<Family> {
    let counted = notifications.counters().all();
    let value = |name: &str| {
        let found = counted.iter().find(|(known, _)| *known == name);
        vec![(Vec::new(), found.map_or(0.0, |(_, value)| *value as f64))]
    };
    let mut families: Vec<Family> =
        COUNTS.iter().map(|(name, told, help)| Family::counter(told, help, value(name))).collect();
    families.push(Family {
        name: "notifications.latency".to_owned(),
        help: "From acceptance to the end, of all events that ended.",
        unit: Unit::Milliseconds,
        values: Values::Counter(value("latencyMillis")),
    });
    let slowest = "The longest from acceptance to the end.";
    families.push(Family::gauge(
        "notifications.latency_max",
        slowest,
        Unit::Milliseconds,
        value("latencyMillisMax"),
    ));
    let troubles = notifications.providers().troubles().len() as f64;
    let help = "Push providers that cannot be used.";
    families.push(Family::gauge(
        "notifications.provider_troubles",
        help,
        Unit::None,
        vec![(Vec::new(), troubles)],
    ));
    families
}
