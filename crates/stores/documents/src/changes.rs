//! The change feed of a container, a range or a partition: the latest version of each item, or every version.

use crate::error::Error;
use crate::metering::Charged;
use crate::read_feed::Encoded;
use crate::scheduler::on_a_thread;
use crate::store::Store;
use crate::throttle::Priority;
use orrery_core::{Lsn, Timestamp};
use orrery_documents::catalog::Container;
use orrery_documents::changes::{self, Changes, Start, Version};
use orrery_documents::charge::{Charge, ReadWork};
use orrery_documents::item::{FeedScope, ItemRow};
use orrery_query::execute::Limits;
use std::sync::Arc;

#[derive(Debug)]
pub struct ChangesRequest {
    pub scope: FeedScope,
    pub start: ChangesStart,
    /// In the feed of latest versions: only changes from this second on.
    pub since: Option<Timestamp>,
    pub limits: Limits,
    pub priority: Priority,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangesStart {
    Beginning,
    Now,
    After(Lsn),
}

/// A page of changes in its caller's encoding.
#[derive(Debug)]
pub struct ChangesPage<B> {
    pub body: B,
    pub count: usize,
    /// The page covers every change up to this commit.
    pub after: Lsn,
    pub has_more: bool,
    pub charge: Charge,
    /// The snapshot that it was read from.
    pub lsn: Lsn,
}

impl<B> Charged for ChangesPage<B> {
    fn charge(&self) -> Charge {
        self.charge
    }
}

impl Store {
    /// The changed items, each in its current version. `encode` converts them on the reading thread.
    pub async fn changes<B: Send + 'static>(
        &self,
        container: &Arc<Container>,
        request: &ChangesRequest,
        encode: impl FnOnce(&Container, &[ItemRow]) -> Encoded<B> + Send + 'static,
    ) -> Result<ChangesPage<B>, Error> {
        let ChangesRequest { scope, start, since, limits, priority } = request;
        let (start, since, limits) = (*start, *since, *limits);
        let read = async {
            let (snapshot, now) = (self.snapshot(), self.env().now());
            check_position(start, snapshot.lsn())?;
            let (container, scope) = (container.clone(), scope.clone());
            let read = move || {
                let after = match (start, since) {
                    (ChangesStart::After(after), _) => after,
                    (ChangesStart::Now, _) => snapshot.lsn(),
                    (ChangesStart::Beginning, None) => Lsn(0),
                    (ChangesStart::Beginning, Some(since)) => {
                        changes::position_at(&snapshot, container.number(), since)?
                    }
                };
                let start = Start { after, since };
                let found = changes::latest(&snapshot, &container, &scope, start, limits, now)?;
                let encoded = encode(&container, &found.changes);
                Ok::<_, Error>(page(&found, encoded, snapshot.lsn()))
            };
            on_a_thread(read).await?
        };
        self.metered(container, Some(scope), *priority, read).await
    }

    /// Every version of the changed items, including deletes. It cannot start at the beginning or at a time.
    pub async fn all_versions<B: Send + 'static>(
        &self,
        container: &Arc<Container>,
        request: &ChangesRequest,
        encode: impl FnOnce(&Container, &[Version]) -> Encoded<B> + Send + 'static,
    ) -> Result<ChangesPage<B>, Error> {
        let ChangesRequest { scope, start, limits, priority, .. } = request;
        let (start, limits) = (*start, *limits);
        let read = async {
            let (snapshot, now) = (self.snapshot(), self.env().now());
            check_position(start, snapshot.lsn())?;
            let (container, scope) = (container.clone(), scope.clone());
            let read = move || {
                let after = match start {
                    ChangesStart::After(after) => after,
                    ChangesStart::Now | ChangesStart::Beginning => snapshot.lsn(),
                };
                let found = changes::versions(&snapshot, &container, &scope, after, limits, now)?;
                let encoded = encode(&container, &found.changes);
                Ok::<_, Error>(page(&found, encoded, snapshot.lsn()))
            };
            on_a_thread(read).await?
        };
        self.metered(container, Some(scope), *priority, read).await
    }
}

/// Continuing from a later position would skip every change until the LSNs have caught up.
fn check_position(start: ChangesStart, newest: Lsn) -> Result<(), Error> {
    match start {
        ChangesStart::After(after) if after > newest => {
            Err(Error::PositionAhead { after: after.0, newest: newest.0 })
        }
        _ => Ok(()),
    }
}

fn page<T, B>(found: &Changes<T>, Encoded { body, bytes }: Encoded<B>, lsn: Lsn) -> ChangesPage<B> {
    let (count, work) = (found.changes.len(), found.work);
    let charge = Charge::feed(&ReadWork {
        documents_read: work.items as u64,
        bytes_read: work.item_bytes as u64,
        entries_read: work.entries as u64,
        rows: count as u64,
        bytes_out: if count == 0 { 0 } else { bytes as u64 },
        ..ReadWork::default()
    });
    ChangesPage { body, count, after: found.after, has_more: found.has_more, charge, lsn }
}
