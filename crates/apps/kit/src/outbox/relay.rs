//! The relay: follows a container's change feed under a lease and passes each event of its outbox items to a
//! sink.
//!
//! The cursor is stored in the lease and saved after each page, so a crash in between repeats that page but
//! omits nothing. If the sink fails, the round stops and the next one begins with the same page.

use super::{KIND, OUTBOX};
use crate::lease::{Lease, Leases};
use crate::limits;
use crate::ports::documents::{Cursor, Documents, StoreError};
use serde_json::{Value, json};
use tokio::sync::Mutex;

pub struct Relay {
    documents: Documents,
    container: String,
    leases: Leases,
    name: String,
    /// One round at a time in this process; the lease excludes other processes.
    held: Mutex<Option<Lease>>,
}

/// The result of a round.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Relayed {
    /// The number of events published; `has_more` if another round would find events immediately.
    Events { count: usize, has_more: bool },
    /// Another relay holds the lease.
    Elsewhere,
    /// The sink refused an event; it will be repeated.
    Stuck { delivered: usize, reason: String },
}

impl Relay {
    /// `name` identifies the lease and so the cursor: relays with different names each see every event.
    pub fn new(documents: Documents, container: &str, leases: Leases, name: &str) -> Self {
        let (container, name) = (container.to_owned(), name.to_owned());
        Self { documents, container, leases, name, held: Mutex::default() }
    }

    /// Relays one page of changes.
    pub async fn round<F, D>(&self, sink: F) -> Result<Relayed, StoreError>
    where
        F: Fn(Value) -> D,
        D: Future<Output = Result<(), String>>,
    {
        let mut held = self.held.lock().await;
        let Some(mut lease) = self.hold(held.take()).await? else { return Ok(Relayed::Elsewhere) };
        let relayed = self.page(&mut lease, sink).await;
        if !matches!(relayed, Ok(Relayed::Elsewhere)) {
            *held = Some(lease);
        }
        relayed
    }

    /// Releases the lease, so that another relay can continue immediately.
    pub async fn stop(&self) -> Result<(), StoreError> {
        match self.held.lock().await.take() {
            Some(lease) => self.leases.release(lease).await,
            None => Ok(()),
        }
    }

    async fn hold(&self, held: Option<Lease>) -> Result<Option<Lease>, StoreError> {
        if let Some(mut lease) = held
            && self.leases.renew_if_due(&mut lease).await?
        {
            return Ok(Some(lease));
        }
        self.leases.acquire(&self.name).await
    }

    async fn page<F, D>(&self, lease: &mut Lease, sink: F) -> Result<Relayed, StoreError>
    where
        F: Fn(Value) -> D,
        D: Future<Output = Result<(), String>>,
    {
        let since = lease.state.get("cursor").and_then(Value::as_str).map(|text| Cursor(text.to_owned()));
        let changes = self
            .documents
            .changes(&self.container, None, since.as_ref(), limits::SERVICE_RELAY_ITEMS_MAX)
            .await?;
        let mut count = 0;
        for event in changes.items.iter().filter(|item| is_outbox(item)).flat_map(events) {
            if let Err(reason) = sink(event).await {
                return Ok(Relayed::Stuck { delivered: count, reason });
            }
            count += 1;
        }
        let (relayed, state) =
            (Relayed::Events { count, has_more: changes.has_more }, json!({ "cursor": changes.next.0 }));
        if count == 0 {
            // Kept in memory and saved with the next renewal: saving a cursor without progress would
            // itself be a change to relay.
            lease.state = state;
            return Ok(relayed);
        }
        let is_held = self.leases.save(lease, state).await?;
        Ok(if is_held { relayed } else { Relayed::Elsewhere })
    }
}

fn is_outbox(item: &Value) -> bool {
    item.get(KIND).and_then(Value::as_str) == Some(OUTBOX)
}

fn events(item: &Value) -> Vec<Value> {
    let text = item.get("events").and_then(Value::as_str);
    text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
}
