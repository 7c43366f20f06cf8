//! How much a queue holds: a tally, which commits add up.

use crate::leftovers::current_generation;
use crate::row::{Messages, Row};
use crate::spaces::MESSAGES;
use orrery_kv::{Error, Read, Tally, Txn};

/// Messages, visible or not, and the bytes of their texts; some of them may have expired.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueSize {
    pub messages: u64,
    pub bytes: u64,
}

const MESSAGES_FIELD: u64 = 0;
const BYTES_FIELD: u64 = 1;

/// Two lookups.
pub fn size(state: &dyn Read, queue: u32) -> Result<QueueSize, Error> {
    let messages = current_generation(state, queue)?;
    let tally = Tally::of(state, MESSAGES, &Row::Count(messages).key())?;
    Ok(QueueSize { messages: tally.get(MESSAGES_FIELD), bytes: tally.get(BYTES_FIELD) })
}

/// What a transaction changes of it.
#[derive(Debug, Default)]
pub(super) struct Growth {
    messages: i64,
    bytes: i64,
}

impl Growth {
    pub fn add(&mut self, text_bytes: u32) {
        self.messages += 1;
        self.bytes += i64::from(text_bytes);
    }

    pub fn remove(&mut self, text_bytes: u32) {
        self.messages -= 1;
        self.bytes -= i64::from(text_bytes);
    }

    pub fn replace(&mut self, old_text_bytes: u32, text_bytes: u32) {
        self.bytes += i64::from(text_bytes) - i64::from(old_text_bytes);
    }

    pub fn add_to(&self, txn: &mut Txn<'_>, messages: Messages) {
        for (field, by) in [(MESSAGES_FIELD, self.messages), (BYTES_FIELD, self.bytes)] {
            if by != 0 {
                txn.tally(MESSAGES, Row::Count(messages).key(), field, by);
            }
        }
    }
}
