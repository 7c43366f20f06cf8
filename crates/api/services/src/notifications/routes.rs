//! The rows of the table.

use super::Operation as Op;
use crate::api::Operation;
use crate::route::{Parameter, ParameterKind, Route, Shape, Who};
use http::Method;
use orrery_core::limits;

const SENDER: Who = Who::Role("send");
const ADMIN: Who = Who::Role("admin");

const WHOSE: &[Parameter] = &[Parameter {
    name: "userId",
    about: "Whose event it is; without it, it is looked for over all users, which costs more",
    kind: ParameterKind::Text,
}];

const LISTING: &[Parameter] = &[
    Parameter {
        name: "category",
        about: "Only SOCIAL, SAFETY, SECURITY, NEWS or MARKETING",
        kind: ParameterKind::Text,
    },
    Parameter { name: "unread", about: "Only those that were not read", kind: ParameterKind::Switch },
    Parameter {
        name: "limit",
        about: "Items of a page; 20 unless it is said",
        kind: ParameterKind::Number { from: 1, to: limits::NOTIFICATION_LIST_MAX as u64 },
    },
    Parameter {
        name: "continuation",
        about: "Where an earlier page ended, as it said",
        kind: ParameterKind::Text,
    },
];

const PICKING: &[Parameter] = &[
    Parameter { name: "userId", about: "Only this user's, which costs less", kind: ParameterKind::Text },
    Parameter {
        name: "status",
        about: "Only PENDING, PROCESSING, COMPLETED, FAILED, RATE_LIMITED or DEDUPLICATED",
        kind: ParameterKind::Text,
    },
    LISTING[2],
    LISTING[3],
];

const RESUMING: &[Parameter] = &[Parameter {
    name: "lastEventId",
    about: "What the header Last-Event-ID says, for who cannot set it",
    kind: ParameterKind::Text,
}];

pub fn routes() -> Vec<Route<Operation>> {
    let mut routes = events();
    routes.extend(centre());
    routes.extend(settings());
    routes.extend(devices());
    routes.extend(administration());
    routes
}

fn events() -> Vec<Route<Operation>> {
    let named = Shape::Named("Event");
    vec![
        post(
            Op::Enqueue,
            "/v1/notifications/events",
            "enqueueEvents",
            "Accept an event for one user or several",
            SENDER,
        )
        .takes(Shape::Named("Enqueue"))
        .gives(202, Shape::Several("Accepted"))
        .once(),
        get(
            Op::Events,
            "/v1/notifications/events",
            "listEvents",
            "Events of a user or of all, in no particular order",
            SENDER,
        )
        .asks(PICKING)
        .gives(200, Shape::Page("Event")),
        get(
            Op::Event,
            "/v1/notifications/events/{id}",
            "getEvent",
            "An event, with its log of attempts",
            SENDER,
        )
        .asks(WHOSE)
        .gives(200, named),
        post(
            Op::Cancel,
            "/v1/notifications/events/{id}/cancel",
            "cancelEvent",
            "Cancel an event that is PENDING",
            SENDER,
        )
        .asks(WHOSE)
        .gives(200, named)
        .once(),
        post(
            Op::Requeue,
            "/v1/notifications/events/{id}/requeue",
            "requeueEvent",
            "Queue an event again that was dead-lettered",
            ADMIN,
        )
        .asks(WHOSE)
        .gives(200, named)
        .once(),
    ]
}

fn centre() -> Vec<Route<Operation>> {
    let named = Shape::Named("Notification");
    let own = Who::Owner;
    vec![
        get(
            Op::List,
            "/v1/users/{user}/notifications",
            "listNotifications",
            "What a user was notified of, newest first",
            own,
        )
        .asks(LISTING)
        .gives(200, Shape::Page("Notification")),
        get(
            Op::UnreadCount,
            "/v1/users/{user}/notifications/unread-count",
            "getUnreadCount",
            "How many are not read",
            own,
        )
        .gives(200, Shape::Named("UnreadCount")),
        get(
            Op::Stream,
            "/v1/users/{user}/notifications/stream",
            "streamNotifications",
            "What changes, as it changes: server-sent events, resumed with Last-Event-ID",
            own,
        )
        .asks(RESUMING)
        .gives(200, Shape::Events("Notification")),
        post(
            Op::ReadAll,
            "/v1/users/{user}/notifications/read-all",
            "readAllNotifications",
            "Mark all as read, or those before a time",
            own,
        )
        .takes(Shape::Named("ReadAll"))
        .gives(200, Shape::Named("ReadCount")),
        post(
            Op::Read,
            "/v1/users/{user}/notifications/{id}/read",
            "readNotification",
            "Mark one as read",
            own,
        )
        .gives(200, named)
        .guarded(),
        post(
            Op::Dismiss,
            "/v1/users/{user}/notifications/{id}/dismiss",
            "dismissNotification",
            "Dismiss one",
            own,
        )
        .gives(200, named)
        .guarded(),
    ]
}

fn settings() -> Vec<Route<Operation>> {
    let (path, named, own) = ("/v1/users/{user}/preferences", Shape::Named("Preferences"), Who::Owner);
    vec![
        get(
            Op::Preferences,
            path,
            "getPreferences",
            "Time zone, quiet hours and categories; the defaults if none are set",
            own,
        )
        .gives(200, named),
        of(Method::PUT, Op::PutPreferences, path, "putPreferences", "Set them", own)
            .takes(named)
            .gives(200, named)
            .guarded(),
        of(
            Method::PATCH,
            Op::PatchPreferences,
            path,
            "patchPreferences",
            "Change some of them (a JSON merge patch)",
            own,
        )
        .takes(Shape::Named("PreferencesPatch"))
        .gives(200, named)
        .guarded(),
    ]
}

fn devices() -> Vec<Route<Operation>> {
    let (path, named, own) = ("/v1/users/{user}/devices", Shape::Named("Device"), Who::Owner);
    vec![
        get(
            Op::Devices,
            path,
            "listDevices",
            "The devices of a user, revoked ones too, the one seen last first",
            own,
        )
        .gives(200, Shape::Page("Device")),
        post(
            Op::RegisterDevice,
            path,
            "registerDevice",
            "Register a device, or again; beyond three the one seen longest ago is revoked",
            own,
        )
        .takes(Shape::Named("DeviceRegistration"))
        .gives(201, named)
        .once(),
        of(
            Method::PATCH,
            Op::PatchDevice,
            "/v1/users/{user}/devices/{device}",
            "patchDevice",
            "It was seen; perhaps with a new push token or label",
            own,
        )
        .takes(Shape::Named("DevicePatch"))
        .gives(200, named)
        .guarded(),
        post(
            Op::RevokeDevice,
            "/v1/users/{user}/devices/{device}/revoke",
            "revokeDevice",
            "Push to it no more",
            own,
        )
        .gives(200, named),
    ]
}

fn administration() -> Vec<Route<Operation>> {
    vec![
        of(
            Method::DELETE,
            Op::Erase,
            "/v1/users/{user}",
            "eraseUser",
            "Erase all that is kept of a user; later events for them are dropped",
            Who::Owner,
        )
        .gives(200, Shape::Object),
        get(
            Op::Stats,
            "/v1/notifications/stats",
            "getStats",
            "Counts of events, pushes and what they cost",
            ADMIN,
        )
        .gives(200, Shape::Object),
        get(
            Op::Jobs,
            "/v1/notifications/jobs",
            "listJobs",
            "What runs by the calendar, and when it ran",
            ADMIN,
        )
        .gives(200, Shape::Several("Job")),
        post(
            Op::PurgeDevices,
            "/v1/notifications/devices/purge",
            "purgeDevices",
            "Delete devices that were revoked long ago",
            ADMIN,
        )
        .takes(Shape::Named("PurgeDevices"))
        .gives(200, Shape::Object),
    ]
}

fn get(
    operation: Op,
    path: &'static str,
    id: &'static str,
    summary: &'static str,
    who: Who,
) -> Route<Operation> {
    of(Method::GET, operation, path, id, summary, who)
}

fn post(
    operation: Op,
    path: &'static str,
    id: &'static str,
    summary: &'static str,
    who: Who,
) -> Route<Operation> {
    of(Method::POST, operation, path, id, summary, who)
}

fn of(
    method: Method,
    operation: Op,
    path: &'static str,
    id: &'static str,
    summary: &'static str,
    who: Who,
) -> Route<Operation> {
    Route {
        operation: Operation::Notifications(operation),
        method,
        path,
        id,
        summary,
        service: "notifications",
        who,
        query: &[],
        request: None,
        success: (200, Shape::Object),
        takes_if_match: false,
        takes_idempotency_key: false,
    }
}

impl Route<Operation> {
    fn asks(self, query: &'static [Parameter]) -> Self {
        Self { query, ..self }
    }

    fn takes(self, shape: Shape) -> Self {
        Self { request: Some(shape), ..self }
    }

    fn gives(self, status: u16, shape: Shape) -> Self {
        Self { success: (status, shape), ..self }
    }

    fn guarded(self) -> Self {
        Self { takes_if_match: true, ..self }
    }

    fn once(self) -> Self {
        Self { takes_idempotency_key: true, ..self }
    }
}
