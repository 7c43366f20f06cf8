//! Sixty-four consumers of one queue that give up at any moment: every message is completed, and none is lost.

use crate::world::{START, count, message, queue_id, seconds};
use orrery_core::Env;
use orrery_kv::{MemoryEngine, Sync};
use orrery_queue_store::{Error, Metadata, QueueId, QueueStore};
use orrery_queues::spaces::SPACES;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

const CONSUMERS: usize = 64;
const MESSAGES: usize = 400;

struct Shared {
    store: QueueStore,
    queue: QueueId,
    /// How often each message was completed.
    completed: Mutex<HashMap<String, usize>>,
}

impl Shared {
    fn is_done(&self) -> bool {
        self.completed.lock().unwrap().len() == MESSAGES
    }

    fn pick(&self, choices: u64) -> u64 {
        self.store.env().random_u64() % choices
    }

    /// A get whose consumer may be gone before it is answered.
    async fn get(&self) -> Result<Vec<orrery_queue_store::ReceivedMessage>, Error> {
        let (wanted, hidden) = (1 + self.pick(4) as i64, 1 + self.pick(5) as i64);
        let mut get = Box::pin(self.store.get(&self.queue, count(wanted), seconds(hidden)));
        if self.pick(8) == 0 {
            let polled = get.as_mut().poll(&mut Context::from_waker(Waker::noop()));
            drop(get);
            return match polled {
                Poll::Ready(got) => got,
                Poll::Pending => Ok(Vec::new()),
            };
        }
        get.await
    }

    async fn consume(&self) {
        while !self.is_done() {
            let got = self.get().await.unwrap();
            if got.is_empty() {
                self.store.env().advance(Duration::from_millis(500));
                tokio::task::yield_now().await;
            }
            for got in got {
                if self.pick(4) == 0 {
                    continue;
                }
                match self.store.delete(&self.queue, got.message.id, got.receipt).await {
                    Ok(()) => {
                        let text = got.message.text.as_str().to_owned();
                        *self.completed.lock().unwrap().entry(text).or_default() += 1;
                    }
                    // Somebody else has got it since.
                    Err(Error::PopReceiptMismatch | Error::MessageNotFound) => {}
                    Err(error) => panic!("{error}"),
                }
            }
        }
    }
}

#[test]
fn every_message_is_completed_once_although_consumers_give_up() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(4).build().unwrap();
    runtime.block_on(async {
        let env = Env::seeded(START, 5);
        let store = QueueStore::standalone(MemoryEngine::new(&SPACES), env, Sync::Data).unwrap();
        let queue = queue_id("turns");
        store.create_queue(&queue, Metadata::default()).await.unwrap();
        let shared = Arc::new(Shared { store, queue, completed: Mutex::default() });
        let consumers: Vec<_> = (0..CONSUMERS)
            .map(|_| {
                let shared = shared.clone();
                tokio::spawn(async move { shared.consume().await })
            })
            .collect();
        for number in 0..MESSAGES {
            let hidden = shared.pick(3) as i64;
            shared.store.put(&shared.queue, message(&number.to_string(), hidden, -1)).await.unwrap();
        }
        for consumer in consumers {
            consumer.await.unwrap();
        }
        let completed = shared.completed.lock().unwrap();
        assert!(completed.values().all(|times| *times == 1), "a delete succeeds once");
        assert_eq!(completed.len(), MESSAGES);
        assert_eq!(shared.store.approximate_count(&shared.queue).unwrap(), 0);
    });
}
