//! Deleting all items of one partition.
//!
//! The answer comes when none of those that were there is left. A client that does not wait for it, and a restart,
//! change nothing: what was begun is noted, and a background job ends it.

use crate::error::Error;
use crate::metering::Charged;
use crate::scope::Scope;
use crate::store::Store;
use crate::throttle::Priority;
use orrery_core::Lsn;
use orrery_documents::catalog::Container;
use orrery_documents::charge::Charge;
use orrery_documents::expiry::Step;
use orrery_documents::item::FeedScope;
use orrery_documents::purge;
use orrery_keys::Epk;
use orrery_kv::{Error as EngineError, Txn};
use orrery_txn::Committed;
use std::sync::Arc;

/// A partition that is empty.
#[derive(Clone, Copy, Debug)]
pub struct PartitionDeleted {
    pub lsn: Lsn,
}

impl Charged for PartitionDeleted {
    fn charge(&self) -> Charge {
        Charge::purge()
    }
}

impl Store {
    pub async fn delete_partition(
        &self,
        container: &Arc<Container>,
        epk: &Epk,
        priority: Priority,
    ) -> Result<PartitionDeleted, Error> {
        let scope = FeedScope::Partition(epk.clone());
        let delete = async {
            let now = self.env().now();
            let mut begun = self
                .purge(container, epk, |txn, container| {
                    purge::begin(txn, container, epk.as_bytes(), now, self.next_ordinal())
                })
                .await?;
            while begun.value == Step::More {
                begun = self
                    .purge(container, epk, |txn, container| purge::step(txn, container, epk.as_bytes(), now))
                    .await?;
            }
            self.usage().touched(container.number(), epk.as_bytes());
            Ok::<_, Error>(PartitionDeleted { lsn: begun.lsn })
        };
        self.metered(container, Some(&scope), priority, delete).await
    }

    async fn purge(
        &self,
        container: &Arc<Container>,
        epk: &Epk,
        body: impl Fn(&mut Txn<'_>, &Container) -> Result<Step, EngineError>,
    ) -> Result<Committed<Step>, Error> {
        let body = &body;
        let attempt = |container: Arc<Container>| async move {
            let scope = Scope::Partition { container: container.number(), epk: epk.as_bytes() };
            Ok(self.write(scope, |txn| body(txn, &container)).await?)
        };
        self.with_container(container, attempt).await
    }
}
