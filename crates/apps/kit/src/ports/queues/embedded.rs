//! The queues of this process, without HTTP: the same functions that the protocol's handlers call.

use super::{AcceptedMessage, MessageLife, NewMessage, PeekedMessage, ReceivedMessage, UpdatedMessage};
use crate::limits::SERVICE_STORE_BUSY_MILLIS;
use crate::ports::StoreError;
use crate::ports::storage::{refused, store_error};
use orrery_catalog::storage::{AccountName, QueueName};
use orrery_client::storage::queues::check_text;
use orrery_queue_store::{
    Accepted, Error, InvalidPopReceipt, Message, MessageCount, MessageId, MessageText, Metadata,
    NewMessage as Put, OutOfRange, PopReceipt, QueueId, QueueStore, ReceivedMessage as Received, TimeToLive,
    Update, Updated, VisibilityTimeout,
};
use std::time::Duration;

/// The queues of one account. A cheap handle.
#[derive(Clone)]
pub struct Embedded {
    store: QueueStore,
    account: AccountName,
}

impl Embedded {
    pub fn new(store: QueueStore, account: AccountName) -> Self {
        Self { store, account }
    }

    pub async fn ensure(&self, queues: &[&str]) -> Result<(), StoreError> {
        for queue in queues {
            match self.store.create_queue(&self.id(queue)?, Metadata::default()).await {
                // It is there with metadata of its own.
                Ok(_) | Err(Error::QueueAlreadyExists) => {}
                Err(error) => return Err(failed(error)),
            }
        }
        Ok(())
    }

    pub async fn put(&self, queue: &str, new: &NewMessage) -> Result<AcceptedMessage, StoreError> {
        let hidden = new.visibility_seconds.map(visibility).transpose()?.unwrap_or_default();
        let time_to_live = new.time_to_live.map(life).transpose()?.unwrap_or_default();
        if !time_to_live.outlasts(hidden) {
            return Err(refused(400, "the message expires before it is visible"));
        }
        let put = Put { text: text(&new.text)?, visibility: hidden, time_to_live };
        self.store.put(&self.id(queue)?, put).await.map(accepted).map_err(failed)
    }

    pub async fn get(
        &self,
        queue: &str,
        count: u32,
        hidden_seconds: u64,
    ) -> Result<Vec<ReceivedMessage>, StoreError> {
        let hidden = VisibilityTimeout::for_get(signed(hidden_seconds)).map_err(out_of_range)?;
        let got = self.store.get(&self.id(queue)?, wanted(count)?, hidden).await.map_err(failed)?;
        Ok(got.into_iter().map(received).collect())
    }

    pub async fn peek(&self, queue: &str, count: u32) -> Result<Vec<PeekedMessage>, StoreError> {
        let found = self.store.peek(&self.id(queue)?, wanted(count)?).await.map_err(failed)?;
        Ok(found.into_iter().map(peeked).collect())
    }

    pub async fn update(
        &self,
        queue: &str,
        id: &str,
        receipt: &str,
        hidden_seconds: u64,
        new_text: Option<&str>,
    ) -> Result<UpdatedMessage, StoreError> {
        let update = Update {
            id: message_id(id)?,
            receipt: pop_receipt(receipt)?,
            visibility: visibility(hidden_seconds)?,
            text: new_text.map(text).transpose()?,
        };
        let Updated { receipt, next_visible } =
            self.store.update(&self.id(queue)?, update).await.map_err(failed)?;
        Ok(UpdatedMessage { receipt: receipt.to_string(), next_visible })
    }

    pub async fn delete(&self, queue: &str, id: &str, receipt: &str) -> Result<(), StoreError> {
        let (message, receipt) = (message_id(id)?, pop_receipt(receipt)?);
        self.store.delete(&self.id(queue)?, message, receipt).await.map_err(failed)
    }

    pub fn count(&self, queue: &str) -> Result<u64, StoreError> {
        self.store.approximate_count(&self.id(queue)?).map_err(failed)
    }

    pub async fn clear(&self, queue: &str) -> Result<(), StoreError> {
        self.store.clear(&self.id(queue)?).await.map_err(failed)
    }

    fn id(&self, queue: &str) -> Result<QueueId, StoreError> {
        let name = QueueName::parse(queue);
        let name = name.map_err(|error| refused(400, format!("the queue '{queue}': {error}")))?;
        Ok(QueueId { account: self.account.clone(), name })
    }
}

/// Whatever the wire could not say is refused here, too.
fn text(text: &str) -> Result<MessageText, StoreError> {
    check_text(text).map_err(store_error)?;
    MessageText::new(text.to_owned()).map_err(|error| refused(400, error))
}

fn wanted(count: u32) -> Result<MessageCount, StoreError> {
    MessageCount::parse(count.into()).map_err(out_of_range)
}

fn visibility(seconds: u64) -> Result<VisibilityTimeout, StoreError> {
    VisibilityTimeout::for_put(signed(seconds)).map_err(out_of_range)
}

fn life(life: MessageLife) -> Result<TimeToLive, StoreError> {
    TimeToLive::parse(life.seconds()).map_err(out_of_range)
}

fn signed(seconds: u64) -> i64 {
    i64::try_from(seconds).unwrap_or(i64::MAX)
}

/// An id that was never given out is no message's.
fn message_id(id: &str) -> Result<MessageId, StoreError> {
    MessageId::parse(id).ok_or(StoreError::Missing)
}

fn pop_receipt(receipt: &str) -> Result<PopReceipt, StoreError> {
    PopReceipt::parse(receipt).map_err(|error: InvalidPopReceipt| refused(400, error))
}

fn out_of_range(error: OutOfRange) -> StoreError {
    refused(400, error)
}

fn accepted(accepted: Accepted) -> AcceptedMessage {
    AcceptedMessage {
        id: accepted.id.to_string(),
        receipt: accepted.receipt.to_string(),
        inserted: accepted.inserted,
        expires: accepted.expires,
        next_visible: accepted.next_visible,
    }
}

fn received(received: Received) -> ReceivedMessage {
    ReceivedMessage {
        message: peeked(received.message),
        receipt: received.receipt.to_string(),
        next_visible: received.next_visible,
    }
}

fn peeked(message: Message) -> PeekedMessage {
    PeekedMessage {
        id: message.id.to_string(),
        inserted: message.inserted,
        expires: message.expires,
        dequeue_count: message.dequeue_count,
        text: message.text.as_str().to_owned(),
    }
}

fn failed(error: Error) -> StoreError {
    match error {
        Error::QueueNotFound => refused(404, error),
        Error::QueueAlreadyExists => refused(409, error),
        Error::MessageNotFound => StoreError::Missing,
        Error::PopReceiptMismatch => StoreError::Changed,
        Error::VisibilityAfterExpiry { .. } => refused(400, error),
        Error::Busy => StoreError::Busy { after: Some(Duration::from_millis(SERVICE_STORE_BUSY_MILLIS)) },
        Error::Stopping => StoreError::Unavailable(error.to_string()),
        Error::Engine(error) => {
            tracing::error!(%error, "the store of queues failed");
            StoreError::Unavailable(error.to_string())
        }
    }
}
