//! Deletes all items of one partition.
//!
//! Returns when all of them are gone. If the client stops waiting or the server restarts, a background job
//! completes the recorded deletion.

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

/// An emptied partition.
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
