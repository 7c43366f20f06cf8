//! Operations on the messages of a queue. Those that change something run in the scope of the queue, so each sees the
//! last; the commit depends on the queue's being there.

mod clear;
mod delete;
mod expire;
mod get;
mod held;
mod peek;
mod put;
mod size;
mod update;
mod waiting;

pub use clear::clear;
pub use delete::delete;
pub use expire::{ExpiryPage, expired, remove_expired};
pub use get::{Got, first_visible, get};
pub use peek::{Peeked, peek};
pub use put::{Accepted, NewMessage, put};
pub use size::{QueueSize, size};
pub use update::{Update, Updated, update};
pub use waiting::{is_there, waiting_since};

use crate::leftovers::current_generation;
use crate::pop_receipt::Nonce;
use crate::record::{Body, Visibility};
use crate::row::{Messages, Row};
use crate::spaces::MESSAGES;
use crate::{MessageId, MessageText, PopReceipt, Position};
use bytes::Bytes;
use orrery_core::Timestamp;
use orrery_kv::{Error, Expect, META, Read, Txn};
use size::Growth;

/// What the world adds to a change of messages: the moment, and randomness for receipts.
#[derive(Clone, Copy, Debug)]
pub struct Stamp {
    pub now: Timestamp,
    pub random: u64,
}

/// A message as a peek shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    pub id: MessageId,
    pub inserted: Timestamp,
    /// `None`: never.
    pub expires: Option<Timestamp>,
    pub dequeue_count: u32,
    pub text: MessageText,
}

/// A message, and what its holder needs to update or delete it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceivedMessage {
    pub message: Message,
    pub receipt: PopReceipt,
    pub next_visible: Timestamp,
}

/// The messages of a queue as they are now; the commit fails if the queue is dropped before it.
fn current(txn: &mut Txn<'_>, queue: u32) -> Result<Messages, Error> {
    txn.require(META, Row::Alive { queue }.key(), Expect::Present);
    current_generation(txn, queue)
}

fn put_visibility(txn: &mut Txn<'_>, messages: Messages, at: Position, row: &Visibility) -> PopReceipt {
    txn.put(MESSAGES, Row::Visibility(messages, at).key(), row.write());
    PopReceipt { position: at, nonce: row.nonce }
}

/// Removes the two rows of a message.
fn remove(txn: &mut Txn<'_>, messages: Messages, at: Position, row: &Visibility, growth: &mut Growth) {
    txn.delete(MESSAGES, Row::Visibility(messages, at).key());
    txn.delete(MESSAGES, Row::Body(messages, at.ordinal).key());
    growth.remove(row.text_bytes);
}

fn body_of(state: &dyn Read, messages: Messages, ordinal: u64) -> Result<Option<Body>, Error> {
    let stored: Option<Bytes> = state.get(MESSAGES, &Row::Body(messages, ordinal).key())?;
    stored.map(|bytes| Body::read(&bytes)).transpose()
}

/// The message of a visibility row.
fn message_of(
    state: &dyn Read,
    messages: Messages,
    ordinal: u64,
    row: &Visibility,
) -> Result<Message, Error> {
    let body = body_of(state, messages, ordinal)?;
    let body = body.filter(|body| body.id_salt == row.id_salt);
    let body = body.ok_or_else(|| Error::Corrupt("a message has no body".into()))?;
    Ok(Message {
        id: MessageId::from_parts(ordinal, row.id_salt),
        inserted: body.inserted,
        expires: body.expires,
        dequeue_count: row.dequeue_count,
        text: body.text,
    })
}

impl Nonce {
    fn first(stamp: Stamp) -> Self {
        Self { changes: 0, salt: stamp.random as u32 }
    }

    fn next(self, stamp: Stamp) -> Self {
        Self { changes: self.changes.wrapping_add(1), salt: stamp.random as u32 }
    }
}
