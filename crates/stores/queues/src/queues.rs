//! Operations on queues as such, and on the properties of the queue service. Definitions are read from memory, which
//! shows a change as soon as it is answered here.

use crate::error::Error;
use crate::limits;
use crate::store::QueueStore;
use orrery_catalog::scope;
use orrery_catalog::storage::{
    AccountName, ServiceKind, ServiceProperties, SignedIdentifiers, load_service_properties,
    save_service_properties,
};
use orrery_kv::Txn;
use orrery_queues::queues::{self, Created};
use orrery_queues::{Metadata, Queue, QueueError, QueueId, messages};
use orrery_txn::Scope;
use std::sync::Arc;

/// What became of a wish for a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Creation {
    New,
    /// It was there before, with the same metadata.
    Existing,
}

#[derive(Clone, Debug)]
pub struct ListQueues {
    pub account: AccountName,
    pub prefix: String,
    /// The name that the page begins with; an earlier page's `next`.
    pub marker: String,
    pub count_max: usize,
}

#[derive(Clone, Debug)]
pub struct QueuePage {
    /// By name.
    pub queues: Vec<Arc<Queue>>,
    /// The name that the next page begins with, if there is one.
    pub next: Option<String>,
}

impl QueueStore {
    pub async fn create_queue(&self, id: &QueueId, metadata: Metadata) -> Result<Creation, Error> {
        if self.0.definitions.find(id).is_some_and(|known| known.definition.metadata == metadata) {
            return Ok(Creation::Existing);
        }
        let create = move |id: &QueueId, txn: &mut Txn<'_>| queues::create(txn, id, &metadata);
        Ok(match self.write_definition(id, create).await? {
            Created::New(_) => Creation::New,
            Created::Existing(_) => Creation::Existing,
        })
    }

    /// The queue is gone when this answers; its messages are removed in the background.
    pub async fn delete_queue(&self, id: &QueueId) -> Result<(), Error> {
        self.write_definition(id, |id, txn| queues::delete(txn, id)).await.map(drop)
    }

    pub fn queue(&self, id: &QueueId) -> Result<Arc<Queue>, Error> {
        Ok(self.find(id)?.definition.clone())
    }

    pub fn list_queues(&self, list: &ListQueues) -> QueuePage {
        let count_max = list.count_max.clamp(1, limits::QUEUES_PER_PAGE_MAX);
        let definitions = &self.0.definitions;
        let mut queues = definitions.page(&list.account, &list.prefix, &list.marker, count_max + 1);
        let next = queues.get(count_max).map(|queue| queue.id.name.as_str().to_owned());
        queues.truncate(count_max);
        QueuePage { queues, next }
    }

    /// Replaces all metadata.
    pub async fn set_metadata(&self, id: &QueueId, metadata: Metadata) -> Result<(), Error> {
        let set = move |id: &QueueId, txn: &mut Txn<'_>| queues::set_metadata(txn, id, &metadata);
        self.write_definition(id, set).await
    }

    /// Replaces all stored access policies.
    pub async fn set_policies(&self, id: &QueueId, policies: SignedIdentifiers) -> Result<(), Error> {
        let set = move |id: &QueueId, txn: &mut Txn<'_>| queues::set_policies(txn, id, &policies);
        self.write_definition(id, set).await
    }

    /// How many messages there are, visible or not; some of them may have expired.
    pub fn approximate_count(&self, id: &QueueId) -> Result<u64, Error> {
        let queue = self.find(id)?;
        Ok(messages::size(&*self.snapshot(), queue.number())?.messages)
    }

    pub fn service_properties(&self, account: &AccountName) -> Result<ServiceProperties, Error> {
        Ok(load_service_properties(&*self.snapshot(), account, ServiceKind::Queue)?)
    }

    /// Replaces the properties of an account's queue service.
    pub async fn set_service_properties(
        &self,
        account: &AccountName,
        properties: ServiceProperties,
    ) -> Result<(), Error> {
        let replace = |txn: &mut Txn<'_>| {
            save_service_properties(txn, account, ServiceKind::Queue, &properties);
            Ok::<_, QueueError>(())
        };
        self.0.txns.write(Scope::new(&[scope::CATALOG]), replace).await?;
        Ok(())
    }
}
