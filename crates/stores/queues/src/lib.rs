//! The queues of a process: typed asynchronous operations, the one boundary that `api` and `apps` call.
//!
//! ```text
//! queues.rs       create, delete, list queues; metadata, access policies, service properties
//! messages.rs     put, get, peek, update, delete, clear, count
//! definitions.rs  the definitions of all queues, in memory
//! head.rs         where the messages of a queue begin, so that a get does not walk over removed rows
//! background.rs   rows of dropped and cleared queues; expired messages
//! counters.rs     what was done to each queue
//! repeated.rs     messages that were got again and again
//! usage.rs        what monitoring asks: counts, sizes, what waits
//! ```
//!
//! All changes of one queue's messages run one after another under a lock that is held for microseconds, and share
//! commits: many consumers of one queue wait for the same sync.
//!
//! Absent: how commits are grouped and synced (`engine/txn`), what a message is (`models/queues`), HTTP, XML and who may
//! do what (`api`).

mod background;
mod counters;
mod definitions;
mod error;
mod head;
pub mod limits;
mod messages;
mod queues;
mod repeated;
mod store;
mod usage;

pub use counters::Counts;
pub use error::Error;
pub use orrery_queues::messages::{
    Accepted, Message, NewMessage, QueueSize, ReceivedMessage, Update, Updated,
};
pub use orrery_queues::{
    InvalidMetadata, InvalidPopReceipt, MessageCount, MessageId, MessageText, Metadata, OutOfRange,
    PopReceipt, Queue, QueueId, TextTooLong, TimeToLive, VisibilityTimeout,
};
pub use queues::{Creation, ListQueues, QueuePage};
pub use repeated::RepeatedMessage;
pub use store::{Options, QueueStore};
pub use usage::QueueContents;
