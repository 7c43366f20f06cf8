//! Operations on the messages of a queue.

use crate::definitions::OpenQueue;
use crate::error::Error;
use crate::store::QueueStore;
use orrery_kv::Error as EngineError;
use orrery_queues::messages::{self, Accepted, Message, NewMessage, ReceivedMessage, Update, Updated};
use orrery_queues::{MessageCount, MessageError, MessageId, PopReceipt, QueueId, VisibilityTimeout};

impl QueueStore {
    /// Puts a message behind those that are visible.
    pub async fn put(&self, id: &QueueId, new: NewMessage) -> Result<Accepted, Error> {
        let stamp = self.stamp();
        let message = MessageId::new(self.txns().next_ordinal(), self.env().random_u64());
        let put = self.write(id, |write, txn| {
            let accepted = messages::put(txn, write.queue.number(), message, &new, stamp)?;
            write.head.lower(accepted.receipt.position());
            Ok::<_, EngineError>(accepted)
        });
        let accepted = put.await?;
        self.count(id, |queue| queue.counters.put());
        Ok(accepted)
    }

    /// Takes up to so many messages that are visible, and hides them for a while. All of them are one commit.
    pub async fn get(
        &self,
        id: &QueueId,
        wanted: MessageCount,
        hidden: VisibilityTimeout,
    ) -> Result<Vec<ReceivedMessage>, Error> {
        loop {
            let stamp = self.stamp();
            let get = self.write(id, |write, txn| {
                let start = write.head.begin();
                let got = messages::get(txn, write.queue.number(), start.from, wanted, hidden, stamp)?;
                write.head.raise(start, got.head);
                got.messages.iter().for_each(|taken| write.head.lower(taken.receipt.position()));
                Ok::<_, EngineError>(got)
            });
            let got = get.await?;
            if !got.messages.is_empty() || !got.is_cut {
                self.count(id, |queue| count_get(queue, &got.messages));
                return Ok(got.messages);
            }
        }
    }

    /// The messages that a get would take, from the newest durable state.
    pub async fn peek(&self, id: &QueueId, wanted: MessageCount) -> Result<Vec<Message>, Error> {
        let queue = self.find(id)?;
        let (snapshot, now) = (self.snapshot(), self.env().now());
        let mut from = queue.head.position();
        loop {
            let peeked = messages::peek(&*snapshot, queue.number(), from, wanted, now)?;
            match peeked.rest.filter(|_| peeked.messages.is_empty()) {
                Some(rest) => from = rest,
                None => {
                    queue.counters.peek();
                    return Ok(peeked.messages);
                }
            }
            tokio::task::yield_now().await;
        }
    }

    /// Hides a message for longer or shows it earlier; with a text, replaces its text.
    pub async fn update(&self, id: &QueueId, update: Update) -> Result<Updated, Error> {
        let stamp = self.stamp();
        let change = self.write(id, |write, txn| {
            let updated = messages::update(txn, write.queue.number(), &update, stamp)?;
            write.head.remove(update.receipt.position());
            write.head.lower(updated.receipt.position());
            Ok::<_, MessageError>(updated)
        });
        let updated = change.await?;
        self.count(id, |queue| queue.counters.update());
        Ok(updated)
    }

    pub async fn delete(&self, id: &QueueId, message: MessageId, receipt: PopReceipt) -> Result<(), Error> {
        let now = self.env().now();
        let delete = self.write(id, |write, txn| {
            messages::delete(txn, write.queue.number(), message, receipt, now)?;
            write.head.remove(receipt.position());
            Ok::<_, MessageError>(())
        });
        delete.await?;
        self.count(id, |queue| queue.counters.delete());
        Ok(())
    }

    /// Removes all messages at once, for those who ask; their rows go in the background.
    pub async fn clear(&self, id: &QueueId) -> Result<(), Error> {
        self.write(id, |write, txn| messages::clear(txn, write.queue.number())).await?;
        self.count(id, |queue| queue.counters.clear());
        Ok(())
    }

    /// Of a queue that was deleted meanwhile, nothing is counted.
    fn count(&self, id: &QueueId, count: impl FnOnce(&OpenQueue)) {
        if let Ok(queue) = self.find(id) {
            count(&queue);
        }
    }
}

fn count_get(queue: &OpenQueue, got: &[ReceivedMessage]) {
    let again = got.iter().filter(|got| got.message.dequeue_count > 1).count();
    queue.counters.get(got.len(), again);
    if again > 0 {
        queue.repeated.add(got);
    }
}
