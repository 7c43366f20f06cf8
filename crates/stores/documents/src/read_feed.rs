//! Pages of all items of a scope, in the order in which the container keeps them.

use crate::error::Error;
use crate::metering::Charged;
use crate::query_pages::{Begin, Pages, Received};
use crate::scheduler::on_a_thread;
use crate::store::Store;
use crate::throttle::Priority;
use orrery_core::Lsn;
use orrery_documents::catalog::Container;
use orrery_documents::charge::{Charge, ReadWork};
use orrery_documents::item::{self, FeedScope, ItemRow, Page};
use orrery_query::execute::Limits;
use std::sync::Arc;

#[derive(Debug)]
pub struct FeedRequest {
    pub scope: FeedScope,
    /// Whether each range is a page of its own, as the service's gateway answers.
    pub is_by_range: bool,
    pub continuation: Option<Received>,
    pub limits: Limits,
    pub priority: Priority,
}

/// A page in its caller's encoding.
#[derive(Debug)]
pub struct FeedPage<B> {
    /// The part of the container that the page covers.
    pub scope: FeedScope,
    pub body: B,
    pub count: usize,
    pub continuation: Option<String>,
    pub charge: Charge,
    /// The snapshot that it was read from.
    pub lsn: Lsn,
}

/// A page's items in the caller's encoding. Their bytes count in the charge.
#[derive(Debug)]
pub struct Encoded<B> {
    pub body: B,
    pub bytes: usize,
}

impl<B> Charged for FeedPage<B> {
    fn charge(&self) -> Charge {
        self.charge
    }
}

fn charge(page: &Page, bytes_out: usize) -> Charge {
    Charge::feed(&ReadWork {
        documents_read: page.looked_at as u64,
        bytes_read: page.scanned as u64,
        rows: page.items.len() as u64,
        bytes_out: bytes_out as u64,
        ..ReadWork::default()
    })
}

impl Store {
    /// A page of items, which `encode` converts on the reading thread.
    pub async fn read_feed<B: Send + 'static>(
        &self,
        container: &Arc<Container>,
        request: &FeedRequest,
        encode: impl FnOnce(&Container, &[ItemRow]) -> Encoded<B> + Send + 'static,
    ) -> Result<FeedPage<B>, Error> {
        let read = async {
            let FeedRequest { scope, is_by_range, continuation, limits, .. } = request;
            let seal = self.tokens().of_feed(container.number());
            let pages = Pages { container, scope, named: None, seal };
            let Begin { scope, resume, is_by_range } = pages.begin(continuation.as_ref(), *is_by_range)?;
            let (snapshot, now, limits) = (self.snapshot(), self.env().now(), *limits);
            let lsn = snapshot.lsn();
            let read = {
                let (container, scope) = (container.clone(), scope.clone());
                move || {
                    let page =
                        item::read_feed(&*snapshot, &container, &scope, resume.as_deref(), limits, now)?;
                    let Encoded { body, bytes } = encode(&container, &page.items);
                    Ok::<_, Error>((charge(&page, bytes), page.items.len(), page.more_after, body))
                }
            };
            let (charge, count, more_after, body) = on_a_thread(read).await??;
            let continuation = match is_by_range {
                false => more_after.as_deref().map(|key| pages.seal.seal(key)),
                true => pages.next(continuation.is_some(), &scope, more_after.as_deref()),
            };
            Ok::<_, Error>(FeedPage { scope, body, count, continuation, charge, lsn })
        };
        self.metered(container, Some(&request.scope), request.priority, read).await
    }
}
