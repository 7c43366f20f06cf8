//! What was done to each queue and what it holds, for measurements, costs and advice.

use crate::counters::Counts;
use crate::definitions::OpenQueue;
use crate::repeated::RepeatedMessage;
use crate::store::QueueStore;
use orrery_core::Timestamp;
use orrery_kv::{Error as EngineError, Snapshot};
use orrery_queues::Queue;
use orrery_queues::messages::{self, QueueSize};
use std::sync::Arc;

/// What a queue holds at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueueContents {
    pub size: QueueSize,
    /// Since when the first visible message waits for somebody to get it.
    pub waiting_since: Option<Timestamp>,
    /// The most recent of the messages that were got again and again and are still there.
    pub repeated: Vec<RepeatedMessage>,
}

impl QueueStore {
    /// What was done to each queue since the process began.
    pub fn counts(&self) -> Vec<(Arc<Queue>, Counts)> {
        let queues = self.0.definitions.all().into_iter();
        queues.map(|queue| (queue.definition.clone(), queue.counters.counts())).collect()
    }

    /// What each queue holds; a few lookups for each.
    pub fn contents(&self) -> Result<Vec<(Arc<Queue>, QueueContents)>, EngineError> {
        let (snapshot, now) = (self.snapshot(), self.env().now());
        let queues = self.0.definitions.all().into_iter();
        let contents = queues.map(|queue| Ok((queue.definition.clone(), contents(&snapshot, &queue, now)?)));
        contents.collect()
    }
}

fn contents(state: &Snapshot, queue: &OpenQueue, now: Timestamp) -> Result<QueueContents, EngineError> {
    let number = queue.number();
    let mut repeated = Vec::new();
    for message in queue.repeated.all() {
        if messages::is_there(state, number, message.id, now)? {
            repeated.push(message);
        }
    }
    Ok(QueueContents {
        size: messages::size(state, number)?,
        waiting_since: messages::waiting_since(state, number, queue.head.position(), now)?,
        repeated,
    })
}
