//! Leases: one holder at a time, for a limited time, with fencing.
//!
//! A lease is an item of the service's own container. Acquiring, renewing and releasing replace it under its
//! etag, so of two contenders only one succeeds. `epoch` increases with each acquisition and is never reused:
//! it is a fencing token for external resources. A small state, such as a cursor, is stored in the item
//! itself, so only the holder can save it:
//!
//! ```text
//! {id: "lease", partition: "lease:<name>", owner, until, epoch, state}
//! ```

use crate::ports::documents::{Documents, Item, StoreError, Write};
use crate::service_container::PARTITION;
use crate::time;
use orrery_core::{Env, Timestamp};
use serde_json::{Value, json};
use std::time::Duration;

const ID: &str = "lease";

/// Acquires leases for one worker. A cheap handle.
#[derive(Clone)]
pub struct Leases {
    documents: Documents,
    container: String,
    env: Env,
    owner: String,
    length: Duration,
}

/// A held lease, valid until it expires or another worker takes it.
#[derive(Clone, Debug, PartialEq)]
pub struct Lease {
    pub name: String,
    /// Greater than that of every earlier holder.
    pub epoch: u64,
    pub until: Timestamp,
    pub state: Value,
    etag: String,
}

/// A lease as any observer sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    pub owner: String,
    pub until: Timestamp,
    pub epoch: u64,
    pub state: Value,
}

impl Leases {
    /// `owner` names the worker and must be unique to this run of the process: a lease left behind by a
    /// crash must expire and is not resumed.
    pub fn new(documents: Documents, container: &str, env: Env, owner: &str, length: Duration) -> Self {
        Self { documents, container: container.to_owned(), env, owner: owner.to_owned(), length }
    }

    /// Acquires the lease, unless another worker holds it.
    pub async fn acquire(&self, name: &str) -> Result<Option<Lease>, StoreError> {
        let now = self.env.now();
        match self.read(name).await? {
            None => {
                let fresh = self.held(name, 1, now, Value::Null);
                self.put(fresh, Write::Create).await
            }
            Some((item, seen)) if seen.until <= now => {
                let next = self.held(name, seen.epoch + 1, now, seen.state);
                let if_match = Some(item.etag);
                self.put(next, move |item| Write::Replace { item, if_match }).await
            }
            Some(_) => Ok(None),
        }
    }

    /// Renews the lease. False if it was lost; whatever it protects must stop.
    pub async fn renew(&self, lease: &mut Lease) -> Result<bool, StoreError> {
        let state = std::mem::take(&mut lease.state);
        self.save(lease, state).await
    }

    /// Renews the lease once half its time is over. False if it was lost.
    pub async fn renew_if_due(&self, lease: &mut Lease) -> Result<bool, StoreError> {
        let is_fresh = lease.until > self.env.now().plus(self.length / 2);
        if is_fresh { Ok(true) } else { self.renew(lease).await }
    }

    /// Renews the lease and saves a state in it. False if it was lost; the state is then not saved.
    pub async fn save(&self, lease: &mut Lease, state: Value) -> Result<bool, StoreError> {
        lease.state = state;
        let next = Lease { until: self.env.now().plus(self.length), ..lease.clone() };
        let if_match = Some(lease.etag.clone());
        let saved = self.put(next, move |item| Write::Replace { item, if_match }).await?;
        let is_held = saved.is_some();
        if let Some(saved) = saved {
            *lease = saved;
        }
        Ok(is_held)
    }

    /// Releases the lease, so that nobody has to wait; its state stays.
    pub async fn release(&self, lease: Lease) -> Result<(), StoreError> {
        let if_match = Some(lease.etag.clone());
        let free = Lease { until: Timestamp::default(), ..lease };
        self.put(free, move |item| Write::Replace { item, if_match }).await.map(drop)
    }

    pub async fn inspect(&self, name: &str) -> Result<Option<Seen>, StoreError> {
        Ok(self.read(name).await?.map(|(_, seen)| seen))
    }

    async fn read(&self, name: &str) -> Result<Option<(Item, Seen)>, StoreError> {
        let item = self.documents.read(&self.container, &partition(name), ID).await?;
        item.map(|item| seen(&item.value).map(|seen| (item, seen)).ok_or_else(|| unreadable(name)))
            .transpose()
    }

    fn held(&self, name: &str, epoch: u64, now: Timestamp, state: Value) -> Lease {
        Lease { name: name.to_owned(), epoch, until: now.plus(self.length), state, etag: String::new() }
    }

    /// The lease as stored now; `None` if another worker changed it meanwhile.
    async fn put(
        &self,
        lease: Lease,
        write: impl FnOnce(Value) -> Write,
    ) -> Result<Option<Lease>, StoreError> {
        let item = json!({
            "id": ID,
            PARTITION: partition(&lease.name),
            "owner": self.owner,
            "until": time::format(lease.until),
            "epoch": lease.epoch,
            "state": lease.state,
        });
        match self.documents.write(&self.container, &partition(&lease.name), write(item)).await {
            Ok(Some(item)) => Ok(Some(Lease { etag: item.etag, ..lease })),
            Ok(None) | Err(StoreError::Conflict | StoreError::Changed | StoreError::Missing) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

fn partition(name: &str) -> String {
    format!("lease:{name}")
}

fn seen(item: &Value) -> Option<Seen> {
    Some(Seen {
        owner: item.get("owner")?.as_str()?.to_owned(),
        until: time::parse(item.get("until")?.as_str()?)?,
        epoch: item.get("epoch")?.as_u64()?,
        state: item.get("state").cloned().unwrap_or_default(),
    })
}

fn unreadable(name: &str) -> StoreError {
    StoreError::Refused {
        status: 500,
        message: format!(
            "the lease '{name}' is not one that this version wrote; delete the item and try again"
        ),
    }
}
