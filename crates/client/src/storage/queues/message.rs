//! Messages to put and received messages; metadata and lists of queues.

use orrery_core::Timestamp;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewMessage {
    pub text: String,
    /// Invisible for this long; visible at once by default.
    pub visibility_seconds: Option<u64>,
    /// Seven days by default.
    pub time_to_live: Option<MessageLife>,
}

/// The lifetime of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageLife {
    Seconds(u64),
    Forever,
}

/// A message that was put, with a receipt to update or delete it before it is received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AcceptedMessage {
    pub id: String,
    pub receipt: String,
    pub inserted: Timestamp,
    /// `None`: never.
    pub expires: Option<Timestamp>,
    pub next_visible: Timestamp,
}

/// A message as a peek shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeekedMessage {
    pub id: String,
    pub inserted: Timestamp,
    /// `None`: never.
    pub expires: Option<Timestamp>,
    pub dequeue_count: u32,
    pub text: String,
}

/// A received message, with the receipt to update or delete it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceivedMessage {
    pub message: PeekedMessage,
    pub receipt: String,
    pub next_visible: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpdatedMessage {
    /// Replaces the previous receipt, which is invalid now.
    pub receipt: String,
    pub next_visible: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueProperties {
    pub metadata: Vec<(String, String)>,
    /// Messages, visible or not.
    pub approximate_count: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListQueues {
    pub prefix: Option<String>,
    /// The continuation of the previous page.
    pub marker: Option<String>,
    /// Queues of a page; 5000 at most.
    pub count_max: Option<usize>,
    pub with_metadata: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueSummary {
    pub name: String,
    /// If requested.
    pub metadata: Vec<(String, String)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueList {
    pub queues: Vec<QueueSummary>,
    pub next: Option<String>,
}

impl MessageLife {
    /// In the protocol's form: -1 means forever.
    pub fn seconds(self) -> i64 {
        match self {
            Self::Seconds(seconds) => i64::try_from(seconds).unwrap_or(i64::MAX),
            Self::Forever => -1,
        }
    }
}
