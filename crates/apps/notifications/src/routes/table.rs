//! The route table: verb, path, name, permissions, bodies, handler.

use super::handlers;
use super::public_error;
use crate::limits;
use crate::service::{Notifications, ServiceError};
use http::Method;
use orrery_kit::service::{Alias, Endpoint, Parameter, ParameterKind, Request, Response, Route, Shape, Who};

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

pub fn endpoints(service: &Notifications) -> Vec<Endpoint> {
    let mut endpoints = events(service);
    endpoints.extend(centre(service));
    endpoints.extend(settings(service));
    endpoints.extend(devices(service));
    endpoints.extend(administration(service));
    endpoints
}

fn events(service: &Notifications) -> Vec<Endpoint> {
    let named = Shape::Named("Event");
    vec![
        to(
            service,
            handlers::enqueue,
            Route::post(
                "/v1/notifications/events",
                "enqueueEvents",
                "Accept an event for one user or several",
                SENDER,
            )
            .with_body(Shape::Named("Enqueue"))
            .returns(202, Shape::Several("Accepted"))
            .idempotent(),
        ),
        to(
            service,
            handlers::events,
            Route::get(
                "/v1/notifications/events",
                "listEvents",
                "Events of a user or of all, in no particular order",
                SENDER,
            )
            .with_query(PICKING)
            .returns(200, Shape::Page("Event")),
        ),
        to(
            service,
            handlers::event,
            Route::get(
                "/v1/notifications/events/{id}",
                "getEvent",
                "An event, with its log of attempts",
                SENDER,
            )
            .with_query(WHOSE)
            .returns(200, named),
        ),
        to(
            service,
            handlers::cancel,
            Route::post(
                "/v1/notifications/events/{id}/cancel",
                "cancelEvent",
                "Cancel an event that is PENDING",
                SENDER,
            )
            .with_query(WHOSE)
            .returns(200, named)
            .idempotent(),
        ),
        to(
            service,
            handlers::requeue,
            Route::post(
                "/v1/notifications/events/{id}/requeue",
                "requeueEvent",
                "Queue an event again that was dead-lettered",
                ADMIN,
            )
            .with_query(WHOSE)
            .returns(200, named)
            .idempotent(),
        ),
    ]
}

fn centre(service: &Notifications) -> Vec<Endpoint> {
    let named = Shape::Named("Notification");
    let own = Who::Owner;
    vec![
        to(
            service,
            handlers::list,
            Route::get(
                "/v1/users/{user}/notifications",
                "listNotifications",
                "What a user was notified of, newest first",
                own,
            )
            .with_query(LISTING)
            .returns(200, Shape::Page("Notification")),
        ),
        to(
            service,
            handlers::unread_count,
            Route::get(
                "/v1/users/{user}/notifications/unread-count",
                "getUnreadCount",
                "How many are not read",
                own,
            )
            .returns(200, Shape::Named("UnreadCount")),
        ),
        to(
            service,
            handlers::stream,
            Route::get(
                "/v1/users/{user}/notifications/stream",
                "streamNotifications",
                "What changes, as it changes: server-sent events, resumed with Last-Event-ID",
                own,
            )
            .with_query(RESUMING)
            .returns(200, Shape::Events("Notification")),
        ),
        to(
            service,
            handlers::read_all,
            Route::post(
                "/v1/users/{user}/notifications/read-all",
                "readAllNotifications",
                "Mark all as read, or those before a time",
                own,
            )
            .with_optional_body(Shape::Named("ReadAll"))
            .returns(200, Shape::Named("ReadCount")),
        ),
        to(
            service,
            handlers::read,
            Route::post(
                "/v1/users/{user}/notifications/{id}/read",
                "readNotification",
                "Mark one as read",
                own,
            )
            .returns(200, named)
            .conditional(),
        ),
        to(
            service,
            handlers::dismiss,
            Route::post(
                "/v1/users/{user}/notifications/{id}/dismiss",
                "dismissNotification",
                "Dismiss one",
                own,
            )
            .returns(200, named)
            .conditional(),
        ),
    ]
}

fn settings(service: &Notifications) -> Vec<Endpoint> {
    let (path, named, own) = ("/v1/users/{user}/preferences", Shape::Named("Preferences"), Who::Owner);
    vec![
        to(
            service,
            handlers::preferences,
            Route::get(
                path,
                "getPreferences",
                "Time zone, quiet hours and categories; the defaults if none are set",
                own,
            )
            .returns(200, named),
        ),
        to(
            service,
            handlers::put_preferences,
            Route::new(Method::PUT, path, "putPreferences", "Set them", own)
                .with_body(named)
                .returns(200, named)
                .conditional(),
        ),
        to(
            service,
            handlers::patch_preferences,
            Route::new(
                Method::PATCH,
                path,
                "patchPreferences",
                "Change some of them (a JSON merge patch)",
                own,
            )
            .with_body(Shape::Named("PreferencesPatch"))
            .returns(200, named)
            .conditional(),
        ),
    ]
}

fn devices(service: &Notifications) -> Vec<Endpoint> {
    let (path, named, own) = ("/v1/users/{user}/devices", Shape::Named("Device"), Who::Owner);
    vec![
        to(
            service,
            handlers::devices,
            Route::get(
                path,
                "listDevices",
                "The devices of a user, revoked ones too, the one seen last first",
                own,
            )
            .returns(200, Shape::Page("Device")),
        ),
        to(
            service,
            handlers::register_device,
            Route::post(
                path,
                "registerDevice",
                "Register a device, or again; beyond three the one seen longest ago is revoked",
                own,
            )
            .with_body(Shape::Named("DeviceRegistration"))
            .returns(201, named)
            .idempotent(),
        ),
        to(
            service,
            handlers::patch_device,
            Route::new(
                Method::PATCH,
                "/v1/users/{user}/devices/{device}",
                "patchDevice",
                "It was seen; perhaps with a new push token or label",
                own,
            )
            .with_optional_body(Shape::Named("DevicePatch"))
            .returns(200, named)
            .conditional(),
        ),
        to(
            service,
            handlers::revoke_device,
            Route::post(
                "/v1/users/{user}/devices/{device}/revoke",
                "revokeDevice",
                "Push to it no more",
                own,
            )
            .returns(200, named),
        ),
    ]
}

fn administration(service: &Notifications) -> Vec<Endpoint> {
    vec![
        to(
            service,
            handlers::erase,
            Route::new(
                Method::DELETE,
                "/v1/users/{user}",
                "eraseUser",
                "Erase all that is kept of a user; later events for them are dropped",
                Who::Owner,
            )
            .returns(200, Shape::Object),
        ),
        to(
            service,
            handlers::stats,
            Route::get(
                "/v1/notifications/stats",
                "getStats",
                "Counts of events, pushes and what they cost",
                ADMIN,
            )
            .returns(200, Shape::Object),
        ),
        to(
            service,
            handlers::jobs,
            Route::get(
                "/v1/notifications/jobs",
                "listJobs",
                "What runs by the calendar, and when it ran",
                ADMIN,
            )
            .returns(200, Shape::Several("Job")),
        ),
        to(
            service,
            handlers::purge_devices,
            Route::post(
                "/v1/notifications/devices/purge",
                "purgeDevices",
                "Delete devices that were revoked long ago",
                ADMIN,
            )
            .with_optional_body(Shape::Named("PurgeDevices"))
            .returns(200, Shape::Object),
        ),
    ]
}

/// Removes the record's private members from the handler's errors.
fn to<F, R>(service: &Notifications, handler: F, route: Route) -> Endpoint
where
    F: Fn(Notifications, Request) -> R + Send + Sync + 'static,
    R: Future<Output = Result<Response, ServiceError>> + Send + 'static,
{
    route.to(service, move |service, request| {
        let answer = handler(service, request);
        async move { answer.await.map_err(public_error) }
    })
}

/// The paths of the application that the seed comes from. They name no user, since they refer to the caller.
pub fn aliases() -> Vec<Alias> {
    let alias = |prefix, path| Alias { prefix, path };
    vec![
        alias("/api/notifications/events", "/v1/notifications/events"),
        alias("/api/notifications/stats", "/v1/notifications/stats"),
        alias("/api/notifications/preferences", "/v1/users/{user}/preferences"),
        alias("/api/notifications/devices", "/v1/users/{user}/devices"),
        alias("/api/notifications", "/v1/users/{user}/notifications"),
    ]
}
