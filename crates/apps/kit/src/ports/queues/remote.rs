//! The queues of an account over the wire: another Orrery's, or Azure's. What is sent, how often it is tried, and what is
//! read of the answers is `crates/client`.

use super::{AcceptedMessage, NewMessage, PeekedMessage, ReceivedMessage, UpdatedMessage};
use crate::ports::StoreError;
use crate::ports::storage::{StorageOptions, store_error};
use orrery_client::storage::queues::Queues;
use orrery_core::Env;
use orrery_protocol::storage::Service;
use std::time::Duration;

/// A cheap handle.
#[derive(Clone)]
pub struct Remote(Queues);

impl Remote {
    pub fn new(options: StorageOptions, env: Env) -> Result<Self, String> {
        Ok(Self(Queues::new(options.endpoint(Service::Queue, env)?)))
    }

    /// The same with another bound on how long one operation goes on trying.
    pub fn with_patience(&self, patience: Duration) -> Self {
        Self(Queues::new(self.0.endpoint().with_patience(patience)))
    }

    pub async fn ensure(&self, queues: &[&str]) -> Result<(), StoreError> {
        for queue in queues {
            match self.0.create(queue, &[]).await {
                // It is there with metadata of its own.
                Err(error) if error.code() != "QueueAlreadyExists" => return Err(store_error(error)),
                _ => {}
            }
        }
        Ok(())
    }

    pub async fn put(&self, queue: &str, new: &NewMessage) -> Result<AcceptedMessage, StoreError> {
        self.0.put(queue, new).await.map_err(store_error)
    }

    pub async fn get(
        &self,
        queue: &str,
        count: u32,
        hidden_seconds: u64,
    ) -> Result<Vec<ReceivedMessage>, StoreError> {
        self.0.get(queue, count, Some(hidden_seconds)).await.map_err(store_error)
    }

    pub async fn peek(&self, queue: &str, count: u32) -> Result<Vec<PeekedMessage>, StoreError> {
        self.0.peek(queue, count).await.map_err(store_error)
    }

    pub async fn update(
        &self,
        queue: &str,
        id: &str,
        receipt: &str,
        hidden_seconds: u64,
        text: Option<&str>,
    ) -> Result<UpdatedMessage, StoreError> {
        self.0.update(queue, id, receipt, hidden_seconds, text).await.map_err(store_error)
    }

    pub async fn delete(&self, queue: &str, id: &str, receipt: &str) -> Result<(), StoreError> {
        self.0.delete_message(queue, id, receipt).await.map_err(store_error)
    }

    pub async fn count(&self, queue: &str) -> Result<u64, StoreError> {
        self.0.count(queue).await.map_err(store_error)
    }

    pub async fn clear(&self, queue: &str) -> Result<(), StoreError> {
        self.0.clear(queue).await.map_err(store_error)
    }
}
