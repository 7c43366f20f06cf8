//! Queues and their messages.
//!
//! ```text
//! message     messages as they are put and received, metadata, lists
//! read        answers in XML
//! ```
//!
//! Ids and pop receipts are opaque. Metadata names are returned in lower case, like headers; they are case-insensitive.

mod message;
mod read;

pub use message::{
    AcceptedMessage, ListQueues, MessageLife, NewMessage, PeekedMessage, QueueList, QueueProperties,
    QueueSummary, ReceivedMessage, UpdatedMessage,
};

use super::call::{Call, Repeat};
use super::endpoint::Endpoint;
use super::error::StorageError;
use super::xml;
use crate::answer::Answer;
use crate::call::segment;
use http::Method;
use orrery_core::Timestamp;

const METADATA: &str = "x-ms-meta-";
const XML: &str = "application/xml";

/// The queues of an account. A cheap handle.
#[derive(Clone)]
pub struct Queues(Endpoint);

impl Queues {
    pub fn new(endpoint: Endpoint) -> Self {
        Self(endpoint)
    }

    pub fn endpoint(&self) -> &Endpoint {
        &self.0
    }

    /// False: it existed with the same metadata.
    pub async fn create(&self, queue: &str, metadata: &[(String, String)]) -> Result<bool, StorageError> {
        let call = with_metadata(Call::new(Method::PUT, path(queue)), metadata).repeat(Repeat::Safe);
        Ok(self.0.send(&call).await?.status == 201)
    }

    pub async fn delete(&self, queue: &str) -> Result<(), StorageError> {
        self.0.send(&Call::new(Method::DELETE, path(queue))).await.map(drop)
    }

    pub async fn list(&self, list: &ListQueues) -> Result<QueueList, StorageError> {
        let call = Call::new(Method::GET, "/")
            .parameter("comp", "list")
            .parameter_if("prefix", list.prefix.as_ref())
            .parameter_if("marker", list.marker.as_ref())
            .parameter_if("maxresults", list.count_max)
            .parameter_if("include", list.with_metadata.then_some("metadata"));
        read::queues(&self.0.send(&call).await?.body)
    }

    /// Its metadata, and the number of its messages, visible or not.
    pub async fn properties(&self, queue: &str) -> Result<QueueProperties, StorageError> {
        let call = Call::new(Method::GET, path(queue)).parameter("comp", "metadata");
        let answer = self.0.send(&call).await?;
        let count = answer.header("x-ms-approximate-messages-count").and_then(|count| count.parse().ok());
        let count = count.ok_or_else(|| StorageError::not_understood("it has no count of messages"))?;
        Ok(QueueProperties { metadata: metadata_of(&answer), approximate_count: count })
    }

    pub async fn count(&self, queue: &str) -> Result<u64, StorageError> {
        Ok(self.properties(queue).await?.approximate_count)
    }

    /// Replaces all metadata.
    pub async fn set_metadata(&self, queue: &str, metadata: &[(String, String)]) -> Result<(), StorageError> {
        let call = Call::new(Method::PUT, path(queue)).parameter("comp", "metadata");
        self.0.send(&with_metadata(call, metadata)).await.map(drop)
    }

    pub async fn put(&self, queue: &str, new: &NewMessage) -> Result<AcceptedMessage, StorageError> {
        let call = Call::new(Method::POST, messages(queue))
            .parameter_if("visibilitytimeout", new.visibility_seconds)
            .parameter_if("messagettl", new.time_to_live.map(MessageLife::seconds))
            .body(XML, body(&new.text)?);
        read::accepted(&self.0.send(&call).await?.body)
    }

    /// Receives visible messages, and hides them for a while. If the response is lost, they become visible again after
    /// that time.
    pub async fn get(
        &self,
        queue: &str,
        count: u32,
        hidden_seconds: Option<u64>,
    ) -> Result<Vec<ReceivedMessage>, StorageError> {
        let call = Call::new(Method::GET, messages(queue))
            .parameter("numofmessages", count)
            .parameter_if("visibilitytimeout", hidden_seconds);
        read::received(&self.0.send(&call).await?.body)
    }

    /// The messages that a get would receive.
    pub async fn peek(&self, queue: &str, count: u32) -> Result<Vec<PeekedMessage>, StorageError> {
        let call = Call::new(Method::GET, messages(queue))
            .parameter("peekonly", "true")
            .parameter("numofmessages", count);
        read::peeked(&self.0.send(&call).await?.body)
    }

    /// Hides a message for this long from now on; with a text, replaces its text.
    pub async fn update(
        &self,
        queue: &str,
        id: &str,
        receipt: &str,
        hidden_seconds: u64,
        text: Option<&str>,
    ) -> Result<UpdatedMessage, StorageError> {
        let mut call = Call::new(Method::PUT, message(queue, id))
            .parameter("popreceipt", receipt)
            .parameter("visibilitytimeout", hidden_seconds)
            .repeat(Repeat::Safe);
        if let Some(text) = text {
            call = call.body(XML, body(text)?);
        }
        let answer = self.0.send(&call).await?;
        let receipt = answer.header("x-ms-popreceipt").map(str::to_owned);
        let next_visible = answer.header("x-ms-time-next-visible").and_then(Timestamp::parse_http);
        match (receipt, next_visible) {
            (Some(receipt), Some(next_visible)) => Ok(UpdatedMessage { receipt, next_visible }),
            _ => Err(StorageError::not_understood("it has no receipt")),
        }
    }

    pub async fn delete_message(&self, queue: &str, id: &str, receipt: &str) -> Result<(), StorageError> {
        let call = Call::new(Method::DELETE, message(queue, id)).parameter("popreceipt", receipt);
        self.0.send(&call.repeat(Repeat::Safe)).await.map(drop)
    }

    /// Removes all messages.
    pub async fn clear(&self, queue: &str) -> Result<(), StorageError> {
        self.0.send(&Call::new(Method::DELETE, messages(queue))).await.map(drop)
    }
}

/// Whether a text can be sent: XML has no control characters.
pub fn check_text(text: &str) -> Result<(), StorageError> {
    xml::escaped(text).map(drop)
}

fn path(queue: &str) -> String {
    format!("/{}", segment(queue))
}

fn messages(queue: &str) -> String {
    format!("/{}/messages", segment(queue))
}

fn message(queue: &str, id: &str) -> String {
    format!("/{}/messages/{}", segment(queue), segment(id))
}

fn body(text: &str) -> Result<String, StorageError> {
    Ok(format!("<QueueMessage><MessageText>{}</MessageText></QueueMessage>", xml::escaped(text)?))
}

fn with_metadata(call: Call, metadata: &[(String, String)]) -> Call {
    metadata.iter().fold(call, |call, (name, value)| call.header(format!("{METADATA}{name}"), value))
}

fn metadata_of(answer: &Answer) -> Vec<(String, String)> {
    let pairs = answer.headers.iter().filter_map(|(name, value)| {
        let name = name.as_str().strip_prefix(METADATA)?;
        Some((name.to_owned(), value.to_str().ok()?.to_owned()))
    });
    pairs.collect()
}
