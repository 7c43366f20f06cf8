//! The FCM message.
//!
//! `collapse_key` lets a retry replace an earlier attempt that waits for an offline device; `tag` replaces
//! one already shown. FCM keeps at most four collapse keys for an offline device and drops the rest.

use crate::push::message::{Message, fitted};
use orrery_core::limits;
use serde_json::{Value, json};

pub fn write(token: &str, message: &Message) -> Value {
    let collapse = message.short_collapse_id();
    fitted(&message.title, &message.body, limits::PUSH_PAYLOAD_BYTES_MAX, |title, body| {
        json!({ "message": {
            "token": token,
            "notification": { "title": title, "body": body },
            "data": data(message),
            "android": {
                "collapse_key": collapse,
                "priority": if message.is_pressing() { "HIGH" } else { "NORMAL" },
                "notification": { "tag": collapse },
            },
        } })
    })
}

/// String values only, without the names that FCM reserves.
fn data(message: &Message) -> Value {
    json!({
        "notificationId": message.notification_id,
        "eventType": message.event_type,
        "category": message.category.name(),
        "deeplink": message.deeplink,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::push::message::example;
    use crate::records::Category;

    #[test]
    fn it_matches_the_documented_message() {
        let id = "7b1f0a52-6a0e-4a3c-9a55-0d3a4f1c0001";
        let expected = json!({ "message": {
            "token": "t",
            "notification": { "title": "Noor liked your post", "body": "Morning on the pier" },
            "data": { "notificationId": id, "eventType": "POST_LIKE", "category": "SOCIAL",
                "deeplink": "asora://post/post-42" },
            "android": { "collapse_key": id, "priority": "HIGH", "notification": { "tag": id } },
        } });
        assert_eq!(write("t", &example()), expected);
        let news = write("t", &Message { category: Category::News, ..example() });
        assert_eq!(news["message"]["android"]["priority"], "NORMAL");
    }

    #[test]
    fn a_long_body_fits() {
        let message = Message { body: "ä".repeat(10_000), ..example() };
        assert!(write("t", &message).to_string().len() <= limits::PUSH_PAYLOAD_BYTES_MAX);
    }
}
