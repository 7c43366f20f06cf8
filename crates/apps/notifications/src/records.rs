//! The items as stored: plain documents in the seed's shapes, readable with any SDK.
//!
//! Members that the seed does not have are marked as ours. Missing values are omitted: every null would be an
//! index entry, and only `revokedAt` is queried for null. Times are ISO 8601 in UTC.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Category {
    Social,
    Safety,
    Security,
    News,
    Marketing,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Status {
    Pending,
    Processing,
    Completed,
    Failed,
    RateLimited,
    Deduplicated,
}

impl Status {
    pub const ALL: [Self; 6] = [
        Self::Pending,
        Self::Processing,
        Self::Completed,
        Self::Failed,
        Self::RateLimited,
        Self::Deduplicated,
    ];

    /// As it is stored.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pending => "PENDING",
            Self::Processing => "PROCESSING",
            Self::Completed => "COMPLETED",
            Self::Failed => "FAILED",
            Self::RateLimited => "RATE_LIMITED",
            Self::Deduplicated => "DEDUPLICATED",
        }
    }
}

impl Category {
    /// As it is stored.
    pub fn name(self) -> &'static str {
        match self {
            Self::Social => "SOCIAL",
            Self::Safety => "SAFETY",
            Self::Security => "SECURITY",
            Self::News => "NEWS",
            Self::Marketing => "MARKETING",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Payload {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor_name: Option<String>,
    pub target_id: String,
    pub target_type: TargetType,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snippet: Option<String>,
    /// The data specific to the event type.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TargetType {
    Post,
    Comment,
    User,
}

/// An event of `notification_events`. Its etag is in the port's `Item`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Event {
    pub id: String,
    pub user_id: String,
    pub event_type: String,
    pub category: Category,
    pub payload: Payload,
    pub status: Status,
    /// The retries begun: the first attempt is not one, so 5 retries are 6 attempts (C-40).
    #[serde(default)]
    pub retry_count: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_retry_at: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_error: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dedupe_key: Option<String>,
    pub created_at: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processed_at: Option<String>,
    /// Ours: the worker that holds it, until when, and how often it was claimed (the fencing token).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease_owner: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease_until: Option<String>,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub lease_epoch: u64,
    /// Ours: its outcome, besides the status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub defer_reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dead_lettered_at: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notification_id: Option<String>,
    /// Ours: it was dead-lettered when its notification may not have been written yet.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unprojected: bool,
    /// Ours: the decision of the first claim; never decided twice.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "as_text")]
    pub decision: Option<Decision>,
    /// Ours: the log of pushes, one entry per device and attempt (the newest 50 are kept).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attempts: Vec<Attempt>,
    #[serde(default)]
    pub ttl: u64,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Stored as one string: only this service reads it, and a container that indexes every path has one entry
/// for it.
mod as_text {
    use super::Decision;
    use serde::de::Error as _;
    use serde::ser::Error as _;
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(decision: &Option<Decision>, to: S) -> Result<S::Ok, S::Error> {
        match decision {
            None => to.serialize_none(),
            Some(decision) => to.serialize_str(&serde_json::to_string(decision).map_err(S::Error::custom)?),
        }
    }

    pub fn deserialize<'d, D: Deserializer<'d>>(from: D) -> Result<Option<Decision>, D::Error> {
        let text = Option::<String>::deserialize(from)?;
        text.map(|text| serde_json::from_str(&text).map_err(D::Error::custom)).transpose()
    }
}

/// The decision about an event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Decision {
    /// Its outcome unless a push determines another.
    pub ending: Ending,
    pub at: String,
    /// The notification's text; none if the category is switched off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub says: Option<Says>,
}

/// The decided parts of a notification that its event lacks: everything is indexed, so nothing is stored
/// twice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Says {
    pub title: String,
    pub body: String,
    pub deeplink: String,
    /// The number of events it represents, and the version of its aggregate.
    pub count: u64,
    pub version: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    Push,
    SuppressedCategory,
    Deduplicated,
    RateLimited,
    /// Quiet at all hours: in-app only.
    NeverPush,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Attempt {
    pub device_id: String,
    pub platform: Platform,
    pub at: String,
    /// `delivered`, or the reason why not.
    pub result: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
}

/// An entry of the in-app centre, in `notifications`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Notification {
    pub id: String,
    pub user_id: String,
    pub category: Category,
    pub event_type: String,
    pub title: String,
    pub body: String,
    pub deeplink: String,
    pub target_id: Option<String>,
    pub target_type: Option<TargetType>,
    pub read: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_at: Option<String>,
    pub dismissed: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dismissed_at: Option<String>,
    pub created_at: String,
    /// Ours: the number of events it represents, and the version of its aggregate.
    #[serde(default)]
    pub count: u64,
    #[serde(default)]
    pub version: u64,
    #[serde(default)]
    pub ttl: u64,
}

/// The settings of a user, in `notification_preferences`; id = userId.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Preferences {
    pub id: String,
    pub user_id: String,
    /// An IANA time zone name.
    pub timezone: String,
    /// By local hour; true is quiet. 24 entries.
    pub quiet_hours: Vec<bool>,
    pub categories: Toggles,
    pub updated_at: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Toggles {
    pub social: bool,
    pub news: bool,
    pub marketing: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Platform {
    Fcm,
    Apns,
}

/// A device of a user, in `device_tokens`; id = deviceId. A push token is never logged.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Device {
    pub id: String,
    pub user_id: String,
    pub device_id: String,
    pub push_token: String,
    pub platform: Platform,
    #[serde(default)]
    pub label: String,
    pub created_at: String,
    pub last_seen_at: String,
    /// Null while it is active: missing is not null (C-47).
    pub revoked_at: Option<String>,
    /// Ours: user, evicted or invalid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoke_reason: Option<String>,
}

impl std::fmt::Debug for Device {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Device").field("user_id", &self.user_id).field("id", &self.id).finish_non_exhaustive()
    }
}

/// The events of one dedupe key in one window, stored beside the events it counts (`kind` is `aggregate`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Aggregate {
    pub id: String,
    pub user_id: String,
    pub kind: String,
    pub dedupe_key: String,
    pub notification_id: String,
    pub opened_at: String,
    pub count: u64,
    /// The first few distinct names, in order of arrival.
    pub actors: Vec<String>,
    pub version: u64,
    pub ttl: u64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn names_are_as_they_are_stored() {
        for status in Status::ALL {
            assert_eq!(json!(status), status.name());
        }
        let categories =
            [Category::Social, Category::Safety, Category::Security, Category::News, Category::Marketing];
        for category in categories {
            assert_eq!(json!(category), category.name());
        }
    }

    /// An event of the seed without our members: other writers may create events (S2-03 to S2-12).
    #[test]
    fn an_event_of_the_seed_is_read() {
        let event: Event = serde_json::from_value(json!({
            "id": "e-1", "userId": "u-1", "eventType": "FOLLOWER_NEW", "category": "SOCIAL",
            "payload": {"targetId": "u-1", "targetType": "user", "mutual": 3},
            "status": "PENDING", "retryCount": 0, "createdAt": "2025-11-20T09:45:00Z", "_ts": 1
        }))
        .expect("an event");
        assert_eq!((event.status, event.lease_epoch, event.ttl), (Status::Pending, 0, 0));
        assert_eq!(event.payload.more["mutual"], 3);
    }
}
