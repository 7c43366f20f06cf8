//! Responses of the queue service: lists of messages and of queues.

use super::message::{AcceptedMessage, PeekedMessage, QueueList, QueueSummary, ReceivedMessage};
use crate::storage::error::StorageError;
use crate::storage::xml::{self, Element};
use orrery_core::Timestamp;

/// The last second of the year 9999 stands for no expiry.
const NEVER: Timestamp = Timestamp::from_seconds(253_402_300_799);

pub fn accepted(body: &[u8]) -> Result<AcceptedMessage, StorageError> {
    let list = xml::read(body)?;
    let message = list.child("QueueMessage").ok_or_else(|| StorageError::not_understood("no message"))?;
    Ok(AcceptedMessage {
        id: message.required("MessageId")?.to_owned(),
        receipt: message.required("PopReceipt")?.to_owned(),
        inserted: date(message, "InsertionTime")?,
        expires: expiry(message)?,
        next_visible: date(message, "TimeNextVisible")?,
    })
}

pub fn received(body: &[u8]) -> Result<Vec<ReceivedMessage>, StorageError> {
    let list = xml::read(body)?;
    let messages = list.children_named("QueueMessage").map(|message| {
        Ok(ReceivedMessage {
            message: peeked_one(message)?,
            receipt: message.required("PopReceipt")?.to_owned(),
            next_visible: date(message, "TimeNextVisible")?,
        })
    });
    messages.collect()
}

pub fn peeked(body: &[u8]) -> Result<Vec<PeekedMessage>, StorageError> {
    xml::read(body)?.children_named("QueueMessage").map(peeked_one).collect()
}

fn peeked_one(message: &Element) -> Result<PeekedMessage, StorageError> {
    let count = message.required("DequeueCount")?;
    Ok(PeekedMessage {
        id: message.required("MessageId")?.to_owned(),
        inserted: date(message, "InsertionTime")?,
        expires: expiry(message)?,
        dequeue_count: count.parse().map_err(StorageError::not_understood)?,
        text: message.required("MessageText")?.to_owned(),
    })
}

fn date(message: &Element, name: &str) -> Result<Timestamp, StorageError> {
    let text = message.required(name)?;
    Timestamp::parse_http(text).ok_or_else(|| StorageError::not_understood(format!("'{text}' is no date")))
}

fn expiry(message: &Element) -> Result<Option<Timestamp>, StorageError> {
    Ok(Some(date(message, "ExpirationTime")?).filter(|at| *at < NEVER))
}

pub fn queues(body: &[u8]) -> Result<QueueList, StorageError> {
    let results = xml::read(body)?;
    let queues = results.child("Queues").into_iter().flat_map(|queues| queues.children_named("Queue"));
    let queues = queues.map(|queue| {
        let metadata = queue.child("Metadata").into_iter().flat_map(|metadata| &metadata.children);
        Ok(QueueSummary {
            name: queue.required("Name")?.to_owned(),
            metadata: metadata.map(|pair| (pair.name.clone(), pair.text.clone())).collect(),
        })
    });
    let next = results.text_of("NextMarker").filter(|marker| !marker.is_empty()).map(str::to_owned);
    Ok(QueueList { queues: queues.collect::<Result<_, StorageError>>()?, next })
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECEIVED: &str = "<?xml version=\"1.0\"?><QueueMessagesList><QueueMessage><MessageId>i</MessageId>\
        <InsertionTime>Sun, 15 Nov 2026 01:02:43 GMT</InsertionTime>\
        <ExpirationTime>Fri, 31 Dec 9999 23:59:59 GMT</ExpirationTime><PopReceipt>r+/=</PopReceipt>\
        <TimeNextVisible>Sun, 15 Nov 2026 01:03:13 GMT</TimeNextVisible><DequeueCount>2</DequeueCount>\
        <MessageText> a&amp;b\n</MessageText></QueueMessage></QueueMessagesList>";

    #[test]
    fn a_message_is_read_to_the_letter() {
        let at = Timestamp::from_seconds(1_794_704_563);
        let message = PeekedMessage {
            id: "i".to_owned(),
            inserted: at,
            expires: None,
            dequeue_count: 2,
            text: " a&b\n".to_owned(),
        };
        assert_eq!(peeked(RECEIVED.as_bytes()), Ok(vec![message.clone()]));
        let next_visible = Timestamp::from_seconds(1_794_704_593);
        let expected = ReceivedMessage { message, receipt: "r+/=".to_owned(), next_visible };
        assert_eq!(received(RECEIVED.as_bytes()), Ok(vec![expected]));
        assert_eq!(accepted(RECEIVED.as_bytes()).map(|accepted| accepted.expires), Ok(None));
    }

    #[test]
    fn an_empty_list_has_no_messages() {
        assert_eq!(received(b"<QueueMessagesList />"), Ok(Vec::new()));
        assert!(accepted(b"<QueueMessagesList />").is_err());
        let broken = RECEIVED.replace("<DequeueCount>2", "<DequeueCount>x");
        assert!(peeked(broken.as_bytes()).is_err());
    }

    #[test]
    fn queues_are_read_with_their_metadata() {
        let body = "<EnumerationResults><Prefix/><Queues><Queue><Name>a</Name><Metadata><Owner>me</Owner></Metadata></Queue>\
            <Queue><Name>b</Name></Queue></Queues><NextMarker>c</NextMarker></EnumerationResults>";
        let list = queues(body.as_bytes()).expect("a list");
        let owner = [("Owner".to_owned(), "me".to_owned())];
        assert_eq!((list.queues[0].metadata.as_slice(), list.queues[1].name.as_str()), (&owner[..], "b"));
        assert_eq!(list.next.as_deref(), Some("c"));
        assert_eq!(
            queues(b"<EnumerationResults><NextMarker/></EnumerationResults>").map(|list| list.next),
            Ok(None)
        );
    }
}
