//! Messages: a table for people, JSON for programs, with the names that the protocol has for their parts.

use crate::terminal::{Screen, Table};
use orrery_client::storage::queues::{AcceptedMessage, PeekedMessage, ReceivedMessage};
use orrery_core::Timestamp;
use orrery_protocol::storage::format_time_seconds;
use serde_json::{Value, json};

pub fn accepted(message: &AcceptedMessage) -> Value {
    json!({
        "messageId": message.id,
        "popReceipt": message.receipt,
        "insertionTime": format_time_seconds(message.inserted),
        "expirationTime": message.expires.map(format_time_seconds),
        "timeNextVisible": format_time_seconds(message.next_visible),
    })
}

pub fn peeked(message: &PeekedMessage) -> Value {
    json!({
        "messageId": message.id,
        "insertionTime": format_time_seconds(message.inserted),
        "expirationTime": message.expires.map(format_time_seconds),
        "dequeueCount": message.dequeue_count,
        "messageText": message.text,
    })
}

pub fn received(received: &ReceivedMessage) -> Value {
    let mut value = peeked(&received.message);
    value["popReceipt"] = received.receipt.as_str().into();
    value["timeNextVisible"] = format_time_seconds(received.next_visible).into();
    value
}

/// With what `rm` wants: the id and the receipt, whole.
pub fn received_table(messages: &[ReceivedMessage], screen: &Screen) -> String {
    if messages.is_empty() {
        return NOTHING.to_owned();
    }
    let row = |one: &ReceivedMessage| {
        let ReceivedMessage { message, receipt, next_visible } = one;
        let count = message.dequeue_count.to_string();
        vec![message.id.clone(), receipt.clone(), count, time(*next_visible), message.text.clone()]
    };
    let table = Table::new(&["id", "receipt", "tries", "hidden until", "text"]).ruled();
    table.whole(0).whole(1).numbers(2..3).rows(messages.iter().map(row)).draw(screen)
}

pub fn peeked_table(messages: &[PeekedMessage], screen: &Screen) -> String {
    if messages.is_empty() {
        return NOTHING.to_owned();
    }
    let row = |message: &PeekedMessage| {
        let expires = message.expires.map_or_else(|| "never".to_owned(), time);
        let count = message.dequeue_count.to_string();
        vec![message.id.clone(), count, time(message.inserted), expires, message.text.clone()]
    };
    let table = Table::new(&["id", "tries", "inserted", "expires", "text"]).ruled();
    table.whole(0).numbers(1..2).rows(messages.iter().map(row)).draw(screen)
}

const NOTHING: &str = "no message is visible\n";

fn time(at: Timestamp) -> String {
    format_time_seconds(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_shown_with_what_rm_wants() {
        let message = PeekedMessage {
            id: "i".to_owned(),
            inserted: Timestamp::from_seconds(0),
            expires: None,
            dequeue_count: 2,
            text: "a\nb".to_owned(),
        };
        let received = ReceivedMessage {
            message: message.clone(),
            receipt: "r".to_owned(),
            next_visible: Timestamp::from_seconds(30),
        };
        let drawn = received_table(std::slice::from_ref(&received), &Screen::PIPE);
        assert!(drawn.contains("i   r            2  1970-01-01T00:00:30Z  a b\n"), "{drawn}");
        assert!(peeked_table(&[message], &Screen::PIPE).contains("never"));
        assert_eq!(peeked_table(&[], &Screen::PIPE), "no message is visible\n");
        assert_eq!(super::received(&received)["popReceipt"], "r");
    }
}
