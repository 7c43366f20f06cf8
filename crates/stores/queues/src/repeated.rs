//! Messages that were got again and again: who gets them fails on them, so somebody should look at them.
//!
//! The most recent few of a queue are remembered, without asking whether they were deleted since; who reads them asks.

use crate::limits;
use orrery_queues::MessageId;
use orrery_queues::messages::ReceivedMessage;
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

/// A message, and how often it was got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RepeatedMessage {
    pub id: MessageId,
    pub gets: u32,
}

/// The newest first.
#[derive(Debug, Default)]
pub(crate) struct RepeatedMessages(Mutex<VecDeque<RepeatedMessage>>);

impl RepeatedMessages {
    pub fn add(&self, got: &[ReceivedMessage]) {
        let repeated = got.iter().map(|got| &got.message);
        for message in repeated.filter(|message| message.dequeue_count >= limits::REPEATED_GETS_MIN) {
            let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            known.retain(|known| known.id != message.id);
            known.push_front(RepeatedMessage { id: message.id, gets: message.dequeue_count });
            known.truncate(limits::REPEATED_MESSAGES_MAX);
        }
    }

    pub fn all(&self) -> Vec<RepeatedMessage> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().copied().collect()
    }
}
