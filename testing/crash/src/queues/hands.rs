//! What has a connection to the queue: each of its operations is sent once, and recorded with its outcome.

use super::QUEUE;
use super::history::{Act, MessageOperation, MessageRecord, OpenGet, Outcome};
use super::message;
use crate::history::{Seq, Tick};
use crate::writer::Shared;
use orrery_core::{Env, Timestamp};
use orrery_testing_client::{
    Client, Method, OwnedReply, QueueMessage, StorageRequest, message_body, read_messages,
};
use std::net::SocketAddr;

const XML: &str = "application/xml";

/// The server does not answer any more.
#[derive(Debug)]
pub(super) struct Gone;

/// A message as it was given, and the receipt that it is held by.
#[derive(Clone, Debug)]
pub(super) struct Held {
    pub message: Seq,
    pub id: String,
    pub receipt: String,
}

pub(super) struct Hands {
    client: Client,
    pub shared: Shared,
    pub random: Env,
    pub record: MessageRecord,
}

impl Hands {
    pub fn new(address: SocketAddr, shared: Shared, seed: u64) -> Self {
        let client = Client::new(address, shared.env.clone());
        let random = Env::seeded(Timestamp::default(), seed);
        Self { client, shared, random, record: MessageRecord::default() }
    }

    /// A number below.
    pub fn below(&self, limit: u64) -> u64 {
        self.random.random_u64() % limit
    }

    pub async fn create_queue(&mut self) -> Result<Result<(), String>, orrery_testing_client::ClientError> {
        let made = self.client.call_storage(&StorageRequest::queue(Method::Put, QUEUE)).await?;
        Ok(if made.status == 201 { Ok(()) } else { Err(format!("the queue got {}", made.status)) })
    }

    pub async fn put(&mut self, hidden_seconds: u64) -> Result<Held, Gone> {
        let seq = self.shared.next_seq();
        let text = message::text(seq, seq, self.random.random_u64());
        let request = StorageRequest::queue(Method::Post, format!("{QUEUE}/messages"))
            .parameter("visibilitytimeout", hidden_seconds)
            .body(XML, message_body(&text));
        let sent = self.send(&request).await;
        let mut operation = sent.operation(seq, Act::Put, hidden_seconds);
        operation.text = Some(seq);
        let accepted = match &sent.reply {
            Some(reply) if reply.status == 201 => read_messages(&reply.body).and_then(|mut all| all.pop()),
            Some(reply) => return Err(self.wrong("a put", reply)),
            None => None,
        };
        let Some(QueueMessage { id, receipt, .. }) = accepted else {
            self.record.operations.push(operation);
            return Err(Gone);
        };
        operation.given = Some(receipt.clone());
        operation.outcome = Outcome::Done;
        self.record.note(seq, &id);
        self.record.operations.push(operation);
        Ok(Held { message: seq, id, receipt })
    }

    pub async fn get(&mut self, wanted: u64, hidden_seconds: u64) -> Result<Vec<Held>, Gone> {
        let request = StorageRequest::queue(Method::Get, format!("{QUEUE}/messages"))
            .parameter("numofmessages", wanted)
            .parameter("visibilitytimeout", hidden_seconds);
        let sent = self.send(&request).await;
        let Some(reply) = &sent.reply else {
            let ended_ms = self.shared.env.now().millis();
            self.record.open_gets.push(OpenGet { began: sent.began, ended_ms });
            return Err(Gone);
        };
        let messages = match reply.status {
            200 => read_messages(&reply.body),
            _ => return Err(self.wrong("a get", reply)),
        };
        let Some(messages) = messages else { return Err(self.wrong("a get", reply)) };
        if messages.len() as u64 > wanted {
            self.record.trouble.push(format!("a get of {wanted} was given {}", messages.len()));
        }
        Ok(messages.into_iter().filter_map(|got| self.take(got, &sent, hidden_seconds)).collect())
    }

    fn take(&mut self, got: QueueMessage, sent: &Sent, hidden_seconds: u64) -> Option<Held> {
        let (message, attempt) = match message::read(&got.text) {
            Ok(found) => found,
            Err(wrong) => {
                self.record.trouble.push(wrong);
                return None;
            }
        };
        let mut operation = sent.operation(message, Act::Get { count: got.dequeue_count }, hidden_seconds);
        operation.text = Some(attempt);
        operation.given = Some(got.receipt.clone());
        operation.outcome = Outcome::Done;
        self.record.note(message, &got.id);
        self.record.operations.push(operation);
        Some(Held { message, id: got.id, receipt: got.receipt })
    }

    /// The message under its new receipt, if the one it was held by still fits. May give it a new text.
    pub async fn update(
        &mut self,
        held: &Held,
        hidden_seconds: u64,
        is_rewritten: bool,
    ) -> Result<Option<Held>, Gone> {
        let mut request = on_one(Method::Put, held).parameter("visibilitytimeout", hidden_seconds);
        let attempt = is_rewritten.then(|| self.shared.next_seq());
        if let Some(attempt) = attempt {
            let text = message::text(held.message, attempt, self.random.random_u64());
            request = request.body(XML, message_body(&text));
        }
        let sent = self.send(&request).await;
        let mut operation = sent.operation(held.message, Act::Update, hidden_seconds);
        operation.shown = Some(held.receipt.clone());
        operation.text = attempt;
        operation.outcome = self.outcome("an update", &sent)?;
        let receipt =
            sent.reply.as_ref().and_then(|reply| reply.header("x-ms-popreceipt")).map(str::to_owned);
        operation.given = receipt.clone().filter(|_| operation.is_done());
        let (is_open, is_done) = (operation.outcome == Outcome::Unknown, operation.is_done());
        self.record.operations.push(operation);
        match receipt {
            _ if is_open => Err(Gone),
            Some(receipt) if is_done => Ok(Some(Held { receipt, ..held.clone() })),
            None if is_done => {
                self.record.trouble.push("an update was answered without a receipt".to_owned());
                Err(Gone)
            }
            _ => Ok(None),
        }
    }

    /// Whether the receipt fits.
    pub async fn delete(&mut self, held: &Held) -> Result<bool, Gone> {
        let sent = self.send(&on_one(Method::Delete, held)).await;
        let mut operation = sent.operation(held.message, Act::Delete, 0);
        operation.shown = Some(held.receipt.clone());
        operation.outcome = self.outcome("a delete", &sent)?;
        let (is_open, is_done) = (operation.outcome == Outcome::Unknown, operation.is_done());
        self.record.operations.push(operation);
        if is_open { Err(Gone) } else { Ok(is_done) }
    }

    /// How many messages there are, visible or not.
    pub async fn count(&mut self) -> Result<Option<usize>, Gone> {
        let request = StorageRequest::queue(Method::Get, QUEUE).parameter("comp", "metadata");
        let reply = self.send(&request).await.reply.ok_or(Gone)?;
        Ok(reply.header("x-ms-approximate-messages-count").and_then(|count| count.parse().ok()))
    }

    async fn send(&mut self, request: &StorageRequest) -> Sent {
        let (sent_ms, began) = (self.shared.env.now().millis(), self.shared.tick());
        let reply = self.client.call_storage(request).await.ok();
        // A server that ends may say so and have done it all the same.
        let reply = reply.filter(|reply| ![408, 503].contains(&reply.status));
        let ended = self.shared.tick();
        Sent { reply, sent_ms, began, ended }
    }

    /// How an update or a delete went.
    fn outcome(&mut self, what: &str, sent: &Sent) -> Result<Outcome, Gone> {
        let Some(reply) = &sent.reply else { return Ok(Outcome::Unknown) };
        match (reply.status, reply.header("x-ms-error-code")) {
            (204, _) => Ok(Outcome::Done),
            (400, Some("PopReceiptMismatch")) => Ok(Outcome::Mismatch),
            (404, Some("MessageNotFound")) => Ok(Outcome::Missing),
            _ => Err(self.wrong(what, reply)),
        }
    }

    fn wrong(&mut self, what: &str, reply: &OwnedReply) -> Gone {
        let body = String::from_utf8_lossy(&reply.body).into_owned();
        self.record.trouble.push(format!("{what} of a message got {}: {body}", reply.status));
        Gone
    }
}

fn on_one(method: Method, held: &Held) -> StorageRequest {
    StorageRequest::queue(method, format!("{QUEUE}/messages/{}", held.id))
        .parameter("popreceipt", &held.receipt)
}

/// A request and what came of it.
struct Sent {
    reply: Option<OwnedReply>,
    sent_ms: u64,
    began: Tick,
    ended: Tick,
}

impl Sent {
    /// An operation without an outcome, which the caller adds.
    fn operation(&self, message: Seq, act: Act, hidden_seconds: u64) -> MessageOperation {
        MessageOperation {
            message,
            act,
            shown: None,
            given: None,
            text: None,
            hidden_until_ms: self.sent_ms + hidden_seconds * 1000,
            began: self.began,
            ended: if self.reply.is_some() { self.ended } else { Tick::MAX },
            outcome: Outcome::Unknown,
        }
    }
}
