//! JSON Schemas of the bodies. The service validates requests itself, with more precise errors than a schema
//! gives.

use serde_json::{Value, json};

/// By name.
pub fn all() -> Vec<(&'static str, Value)> {
    vec![
        ("Enqueue", enqueue()),
        ("Payload", payload()),
        ("Accepted", accepted()),
        ("Event", event()),
        ("Attempt", attempt()),
        ("Notification", notification()),
        ("UnreadCount", object(json!({ "unreadCount": count() }), &["unreadCount"])),
        ("ReadAll", object(json!({ "before": time() }), &[])),
        ("ReadCount", object(json!({ "read": count() }), &["read"])),
        ("Preferences", preferences(&["timezone", "quietHours", "categories"])),
        ("PreferencesPatch", preferences(&[])),
        ("Device", device()),
        ("DeviceRegistration", registration()),
        ("DevicePatch", object(json!({ "pushToken": text(), "label": text() }), &[])),
        ("Job", job()),
        ("PurgeDevices", object(json!({ "olderThanDays": count() }), &[])),
    ]
}

fn job() -> Value {
    let run = object(
        json!({
            "startedAt": time(),
            "endedAt": time(),
            "worker": text(),
            "count": { "type": "integer", "description": "How much was done" },
            "error": { "type": "string", "description": "Why not" },
        }),
        &["startedAt", "endedAt", "worker"],
    );
    let or_null = |schema: Value| json!({ "anyOf": [schema, { "type": "null" }] });
    object(
        json!({
            "name": text(),
            "schedule": { "type": "string", "description": "As cron writes it, in UTC" },
            "nextRunAt": or_null(time()),
            "runningOn": or_null(text()),
            "runs": { "type": "array", "items": run, "description": "The newest first" },
        }),
        &["name", "schedule", "runs"],
    )
}

fn enqueue() -> Value {
    let mut schema = object(
        json!({
            "userId": { "type": "string", "description": "For whom; or give userIds" },
            "userIds": { "type": "array", "items": text(), "minItems": 1, "maxItems": 50 },
            "eventType": event_type(),
            "category": { "$ref": "#/components/schemas/Event/properties/category",
                "description": "Follows from eventType; if it is given, it must be that" },
            "payload": reference("Payload"),
            "dedupeKey": { "type": "string",
                "description": "Events of one key within the window become one notification" },
            "scheduledAt": time(),
        }),
        &["eventType", "payload"],
    );
    schema["oneOf"] = json!([{ "required": ["userId"] }, { "required": ["userIds"] }]);
    schema
}

fn event_type() -> Value {
    let seeds = "POST_LIKE, POST_COMMENT, POST_SHARE, COMMENT_REPLY, FOLLOWER_NEW, SAFETY_CONTENT_FLAGGED, \
        SAFETY_ACCOUNT_WARNING, SECURITY_NEW_DEVICE, SECURITY_PASSWORD_CHANGED, SECURITY_ACCOUNT_LOCKED, \
        NEWS_SYSTEM_UPDATE, MARKETING_PROMOTION";
    json!({ "type": "string", "description": format!("{seeds}, and what the server's policy adds") })
}

fn payload() -> Value {
    let mut schema = object(
        json!({
            "actorId": text(),
            "actorName": text(),
            "targetId": text(),
            "targetType": { "enum": ["post", "comment", "user"] },
            "snippet": { "type": "string", "description": "Cut after 140 characters" },
        }),
        &["targetId", "targetType"],
    );
    schema["description"] = json!("What it is about, and whatever is particular to the type of event");
    schema
}

fn accepted() -> Value {
    object(
        json!({
            "userId": text(),
            "id": { "type": "string", "description": "Of the event; none if it was dropped" },
            "status": { "type": "string", "description": "PENDING, or dropped" },
            "reason": { "type": "string", "description": "Why it was dropped: user_erased" },
        }),
        &["userId", "status"],
    )
}

fn event() -> Value {
    object(
        json!({
            "id": text(),
            "userId": text(),
            "eventType": event_type(),
            "category": { "enum": ["SOCIAL", "SAFETY", "SECURITY", "NEWS", "MARKETING"] },
            "payload": reference("Payload"),
            "status": { "enum": ["PENDING", "PROCESSING", "COMPLETED", "FAILED", "RATE_LIMITED", "DEDUPLICATED"] },
            "outcome": { "type": "string", "description": "delivered, inapp_only, suppressed_category, no_devices, …" },
            "retryCount": { "type": "integer", "minimum": 0, "maximum": 5 },
            "nextRetryAt": maybe(time()),
            "deferReason": text(),
            "lastError": maybe(text()),
            "deadLetteredAt": time(),
            "dedupeKey": maybe(text()),
            "notificationId": text(),
            "createdAt": time(),
            "processedAt": maybe(time()),
            "attempts": { "type": "array", "items": reference("Attempt") },
        }),
        &["id", "userId", "eventType", "category", "payload", "status", "retryCount", "createdAt"],
    )
}

fn attempt() -> Value {
    object(
        json!({
            "deviceId": text(),
            "platform": platform(),
            "at": time(),
            "result": { "type": "string", "description": "delivered, or why not" },
            "status": { "type": "integer", "description": "What the provider answered" },
        }),
        &["deviceId", "platform", "at", "result"],
    )
}

fn notification() -> Value {
    object(
        json!({
            "id": text(),
            "userId": text(),
            "category": { "$ref": "#/components/schemas/Event/properties/category" },
            "eventType": event_type(),
            "title": text(),
            "body": text(),
            "deeplink": text(),
            "targetId": maybe(text()),
            "targetType": maybe(text()),
            "read": flag(),
            "readAt": maybe(time()),
            "dismissed": flag(),
            "dismissedAt": maybe(time()),
            "createdAt": time(),
            "count": { "type": "integer", "description": "How many events it stands for" },
        }),
        &[
            "id",
            "userId",
            "category",
            "eventType",
            "title",
            "body",
            "deeplink",
            "read",
            "dismissed",
            "createdAt",
        ],
    )
}

fn preferences(required: &[&str]) -> Value {
    object(
        json!({
            "timezone": { "type": "string", "description": "A name of the IANA database, such as Asia/Kolkata" },
            "quietHours": { "type": "array", "items": flag(), "minItems": 24, "maxItems": 24,
                "description": "By local hour; true is quiet" },
            "categories": object(json!({ "social": flag(), "news": flag(), "marketing": flag() }), &[]),
        }),
        required,
    )
}

fn device() -> Value {
    object(
        json!({
            "id": text(),
            "userId": text(),
            "deviceId": text(),
            "platform": platform(),
            "label": text(),
            "createdAt": time(),
            "lastSeenAt": time(),
            "revokedAt": maybe(time()),
            "revokeReason": { "type": "string", "description": "user, evicted or invalid" },
        }),
        &["id", "userId", "deviceId", "platform", "createdAt", "lastSeenAt", "revokedAt"],
    )
}

fn registration() -> Value {
    object(
        json!({
            "deviceId": text(),
            "pushToken": { "type": "string", "writeOnly": true },
            "platform": platform(),
            "label": text(),
        }),
        &["deviceId", "pushToken", "platform"],
    )
}

fn object(properties: Value, required: &[&str]) -> Value {
    json!({ "type": "object", "properties": properties, "required": required })
}

fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

fn maybe(schema: Value) -> Value {
    json!({ "anyOf": [schema, { "type": "null" }] })
}

fn platform() -> Value {
    json!({ "enum": ["fcm", "apns"] })
}

fn text() -> Value {
    json!({ "type": "string" })
}

fn time() -> Value {
    json!({ "type": "string", "format": "date-time" })
}

fn flag() -> Value {
    json!({ "type": "boolean" })
}

fn count() -> Value {
    json!({ "type": "integer", "minimum": 0 })
}
