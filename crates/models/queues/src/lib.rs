//! Queues and messages: what they are and how they change.
//!
//! Plain functions over a transaction or a snapshot; time and randomness come in as arguments. A message has two rows: a
//! small one ordered by the moment at which it becomes visible, which every get and update moves, and a body with the
//! text. So a get reads the rows from the oldest visible message up to now, and never one that is invisible.
//!
//! ```text
//! definition.rs   a queue: its account, name, number, metadata, access policies
//! queues.rs       create, delete and change queues; in the catalog's scope
//! message_id.rs, pop_receipt.rs, parameters.rs   what requests about messages are made of
//! messages/       put, get, peek, update, delete, clear, count, expire; in the queue's scope
//! leftovers.rs    rows of dropped and cleared queues, removed in the background
//! row.rs, record.rs, spaces.rs   keys, values and spaces (`docs/formats/queues.md`)
//! ```
//!
//! Invariants: a pop receipt opens the row that it was made with, and no later one; an ordinal is never given twice, so a
//! message that is gone stays gone. Messages are not in the log of changes.
//!
//! Absent: HTTP and XML, threads, the clock, who may do what.

mod definition;
mod error;
mod leftovers;
pub mod limits;
mod message_id;
pub mod messages;
mod parameters;
mod pop_receipt;
pub mod queues;
mod record;
mod row;
pub mod spaces;

pub use definition::{Queue, QueueId};
pub use error::{MessageError, QueueError};
pub use leftovers::{Leftover, leftovers, remove_leftover};
pub use message_id::MessageId;
pub use orrery_catalog::storage::{InvalidMetadata, Metadata};
pub use parameters::{MessageCount, MessageText, OutOfRange, TextTooLong, TimeToLive, VisibilityTimeout};
pub use pop_receipt::{InvalidPopReceipt, PopReceipt};
pub use row::Position;
