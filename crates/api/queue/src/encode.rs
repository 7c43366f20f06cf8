//! Lists of messages and of queues as XML (wire guide §6.2).

use bytes::Bytes;
use orrery_api_storage::metadata;
use orrery_api_storage::xml::Writer;
use orrery_core::Timestamp;
use orrery_queue_store::{Accepted, Message, QueuePage, ReceivedMessage};

/// 9999-12-31 23:59:59, for a message that never expires.
const LAST_SECOND: Timestamp = Timestamp::from_seconds(253_402_300_799);

pub fn accepted(accepted: &Accepted) -> Bytes {
    list(|writer| {
        writer.element("QueueMessage", |message| {
            message.text("MessageId", &accepted.id.to_string());
            message.text("InsertionTime", &date(accepted.inserted));
            message.text("ExpirationTime", &expiration(accepted.expires));
            message.text("PopReceipt", &accepted.receipt.to_string());
            message.text("TimeNextVisible", &date(accepted.next_visible));
        });
    })
}

pub fn received(messages: &[ReceivedMessage]) -> Bytes {
    list(|writer| {
        for received in messages {
            writer.element("QueueMessage", |message| {
                write_head(message, &received.message);
                message.text("PopReceipt", &received.receipt.to_string());
                message.text("TimeNextVisible", &date(received.next_visible));
                write_content(message, &received.message);
            });
        }
    })
}

pub fn peeked(messages: &[Message]) -> Bytes {
    list(|writer| {
        for peeked in messages {
            writer.element("QueueMessage", |message| {
                write_head(message, peeked);
                write_content(message, peeked);
            });
        }
    })
}

fn list(inside: impl FnOnce(&mut Writer)) -> Bytes {
    let mut writer = Writer::new();
    writer.element("QueueMessagesList", inside);
    writer.finish()
}

fn write_head(writer: &mut Writer, message: &Message) {
    writer.text("MessageId", &message.id.to_string());
    writer.text("InsertionTime", &date(message.inserted));
    writer.text("ExpirationTime", &expiration(message.expires));
}

fn write_content(writer: &mut Writer, message: &Message) {
    writer.text("DequeueCount", &message.dequeue_count.to_string());
    writer.text("MessageText", message.text.as_str());
}

/// What was asked of a list of queues, as the answer repeats it.
#[derive(Clone, Debug)]
pub struct ListHead {
    /// The account's URL, with a slash at its end.
    pub endpoint: String,
    pub prefix: String,
    pub marker: String,
    pub results_max: usize,
    pub with_metadata: bool,
}

pub fn queues(head: &ListHead, page: &QueuePage) -> Bytes {
    let mut writer = Writer::new();
    writer.element_with("EnumerationResults", &[("ServiceEndpoint", &head.endpoint)], |results| {
        results.text("Prefix", &head.prefix);
        results.text("Marker", &head.marker);
        results.text("MaxResults", &head.results_max.to_string());
        results.element("Queues", |queues| {
            for queue in &page.queues {
                queues.element("Queue", |inside| {
                    inside.text("Name", queue.id.name.as_str());
                    if head.with_metadata {
                        metadata::write_xml(inside, queue.metadata.iter());
                    }
                });
            }
        });
        results.text("NextMarker", page.next.as_deref().unwrap_or_default());
    });
    writer.finish()
}

/// As headers have dates, too; none is after the last that the form has.
pub fn date(at: Timestamp) -> String {
    at.min(LAST_SECOND).to_http()
}

fn expiration(at: Option<Timestamp>) -> String {
    date(at.unwrap_or(LAST_SECOND))
}
