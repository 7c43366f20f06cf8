//! The message as FCM takes it.
//!
//! `collapse_key` lets a later try replace an earlier one that waits for a device that is off; `tag` replaces one that is
//! shown already. FCM keeps at most four collapse keys for a device that is off: of more, it drops some.

use crate::push::message::{Message, fitted};
use orrery_core::{Timestamp, limits};
use serde_json::{Map, Value, json};

pub fn write(token: &str, message: &Message, now: Timestamp) -> Value {
    let collapse = message.short_collapse_id();
    fitted(&message.title, &message.body, limits::PUSH_PAYLOAD_BYTES_MAX, |title, body| {
        let mut android = Map::new();
        android.insert("collapse_key".to_owned(), json!(collapse));
        android.insert("priority".to_owned(), json!(if message.is_pressing() { "HIGH" } else { "NORMAL" }));
        if let Some(expires) = message.expires_at {
            let seconds = expires.seconds().saturating_sub(now.seconds()).min(TTL_SECONDS_MAX);
            android.insert("ttl".to_owned(), json!(format!("{seconds}s")));
        }
        android.insert("notification".to_owned(), json!({ "tag": collapse }));
        json!({ "message": {
            "token": token,
            "notification": { "title": title, "body": body },
            "data": data(message),
            "android": android,
        } })
    })
}

/// Four weeks, which is FCM's.
const TTL_SECONDS_MAX: u64 = 28 * 24 * 60 * 60;

/// Texts only, and no names that FCM keeps for itself.
fn data(message: &Message) -> Value {
    let mut data = json!({
        "notificationId": message.notification_id,
        "eventType": message.event_type,
        "category": message.category_name(),
        "deeplink": message.deeplink,
    });
    if let Some(badge) = message.badge {
        data["badge"] = json!(badge.to_string());
    }
    data
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::push::message::example;
    use crate::records::Category;

    #[test]
    fn it_is_the_message_of_the_documentation() {
        let now = Timestamp::from_seconds(1_000);
        let message =
            Message { badge: Some(3), expires_at: Some(Timestamp::from_seconds(1_060)), ..example() };
        let id = "7b1f0a52-6a0e-4a3c-9a55-0d3a4f1c0001";
        let expected = json!({ "message": {
            "token": "t",
            "notification": { "title": "Noor liked your post", "body": "Morning on the pier" },
            "data": { "notificationId": id, "eventType": "POST_LIKE", "category": "SOCIAL",
                "deeplink": "asora://post/post-42", "badge": "3" },
            "android": { "collapse_key": id, "priority": "HIGH", "ttl": "60s", "notification": { "tag": id } },
        } });
        assert_eq!(write("t", &message, now), expected);
        let news = write("t", &Message { category: Category::News, ..example() }, now);
        assert_eq!(news["message"]["android"]["priority"], "NORMAL");
        assert!(
            news["message"]["android"].get("ttl").is_none() && news["message"]["data"].get("badge").is_none()
        );
    }

    #[test]
    fn a_long_body_fits() {
        let message = Message { body: "ä".repeat(10_000), ..example() };
        assert!(
            write("t", &message, Timestamp::default()).to_string().len() <= limits::PUSH_PAYLOAD_BYTES_MAX
        );
    }
}
