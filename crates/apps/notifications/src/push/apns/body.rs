//! The APNs payload: the `aps` dictionary, and beside it the data for the app.

use crate::push::message::{Message, fitted};
use orrery_core::limits;
use serde_json::{Value, json};

pub fn write(message: &Message) -> Value {
    fitted(&message.title, &message.body, limits::PUSH_PAYLOAD_BYTES_MAX, |title, body| {
        json!({
            "aps": { "alert": { "title": title, "body": body }, "sound": "default" },
            "notificationId": message.notification_id,
            "eventType": message.event_type,
            "category": message.category.name(),
            "deeplink": message.deeplink,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::push::message::example;

    #[test]
    fn it_matches_the_documented_payload() {
        let expected = json!({
            "aps": { "alert": { "title": "Noor liked your post", "body": "Morning on the pier" }, "sound": "default" },
            "notificationId": "7b1f0a52-6a0e-4a3c-9a55-0d3a4f1c0001",
            "eventType": "POST_LIKE",
            "category": "SOCIAL",
            "deeplink": "asora://post/post-42",
        });
        assert_eq!(write(&example()), expected);
    }

    #[test]
    fn a_long_body_fits() {
        let message = Message { body: "\"".repeat(10_000), ..example() };
        let length = write(&message).to_string().len();
        assert!((4_080..=4_096).contains(&length), "{length}");
    }
}
