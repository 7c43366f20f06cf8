//! The relay: follows a container's changes under a lease and hands on each event of its outbox items.
//!
//! The cursor lives in the lease and is saved after a page was handed on, so a crash between the two repeats that page and
//! leaves nothing out. A sink that fails stops the round where it is; the next one begins with the same page.

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
    /// One round at a time in this process; the lease is for the others.
    held: Mutex<Option<Lease>>,
}

/// What a round came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Relayed {
    /// So many events were handed on; `has_more` if another round finds something at once.
    Events { count: usize, has_more: bool },
    /// Somebody else is at it.
    Elsewhere,
    /// The sink did not take an event; it comes again.
    Stuck { delivered: usize, reason: String },
}

impl Relay {
    /// `name` is that of the lease, and so of the cursor: relays of other names see every event for themselves.
    pub fn new(documents: Documents, container: &str, leases: Leases, name: &str) -> Self {
        let (container, name) = (container.to_owned(), name.to_owned());
        Self { documents, container, leases, name, held: Mutex::default() }
    }

    /// One page of changes.
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

    /// Lets somebody else go on at once.
    pub async fn stop(&self) -> Result<(), StoreError> {
        match self.held.lock().await.take() {
            Some(lease) => self.leases.release(lease).await,
            None => Ok(()),
        }
    }

    async fn hold(&self, held: Option<Lease>) -> Result<Option<Lease>, StoreError> {
        if let Some(mut lease) = held
            && self.leases.keep(&mut lease).await?
        {
            return Ok(Some(lease));
        }
        self.leases.take(&self.name).await
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
            // Remembered, and saved when the lease is renewed: who writes a cursor for nothing makes the next change.
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
