//! What every part of a migration holds: the server, the plan and its reverse, and what is counted.

use crate::client::Database;
use crate::client::Remote;
use crate::limits;
use orrery_migration::{Container, ItemKey, Plan, Side, hash_of};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::AtomicU64;
use tokio::sync::{Mutex as AsyncMutex, MutexGuard};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    Source,
    Target,
}

impl Which {
    pub fn name(self) -> &'static str {
        match self {
            Self::Source => "source",
            Self::Target => "target",
        }
    }

    pub fn parse(name: &str) -> Option<Self> {
        [Self::Source, Self::Target].into_iter().find(|which| which.name() == name)
    }
}

pub struct World {
    pub remote: Remote,
    pub plan: Plan,
    /// `None`: the plan has no way back.
    pub reversed: Option<Plan>,
    /// Writes to the target go to the source too.
    pub is_both: bool,
    pub counts: Counts,
    refused: Mutex<BTreeMap<ItemKey, String>>,
    /// An item is worked on by one task at a time.
    locks: Vec<AsyncMutex<()>>,
}

#[derive(Default)]
pub struct Counts {
    /// Items of the source that were looked at in the first copy.
    pub copied: AtomicU64,
    /// Changes that were followed.
    pub followed: AtomicU64,
}

const LOCKS: usize = 1024;

impl World {
    pub fn new(remote: Remote, plan: Plan, is_both: bool) -> Result<Self, String> {
        let reversed = plan.reversed();
        if is_both && let Err(error) = &reversed {
            return Err(format!("--dual-write both needs a way back: {error}"));
        }
        let locks = (0..LOCKS).map(|_| AsyncMutex::new(())).collect();
        let (reversed, counts) = (reversed.ok(), Counts::default());
        Ok(Self { remote, plan, reversed, is_both, counts, refused: Mutex::default(), locks })
    }

    pub fn side(&self, which: Which) -> &Side {
        match which {
            Which::Source => &self.plan.source,
            Which::Target => &self.plan.target,
        }
    }

    pub fn database(&self, which: Which) -> Database<'_> {
        Database { remote: &self.remote, name: &self.side(which).database }
    }

    pub fn container(&self, which: Which, name: &str) -> Result<&Container, String> {
        let found = self.side(which).container(name);
        found.ok_or_else(|| format!("the plan does not describe the container '{name}'"))
    }

    /// The plan that leads away from a side.
    pub fn plan_from(&self, which: Which) -> Result<&Plan, String> {
        match which {
            Which::Source => Ok(&self.plan),
            Which::Target => self.reversed.as_ref().ok_or_else(|| "the plan has no way back".to_owned()),
        }
    }

    pub async fn lock(&self, key: &ItemKey) -> MutexGuard<'_, ()> {
        let at = hash_of(&key.to_string()) % LOCKS as u128;
        self.locks[at as usize].lock().await
    }

    /// An item that does not become another; the migration goes on without it.
    pub fn refuse(&self, key: &ItemKey, why: &str) {
        if let Ok(mut refused) = self.refused.lock()
            && refused.len() < limits::MIGRATION_NAMED_MAX
        {
            refused.insert(key.clone(), why.to_owned());
        }
    }

    /// It may have been refused before, and somebody mended it.
    pub fn take(&self, key: &ItemKey) {
        if let Ok(mut refused) = self.refused.lock() {
            refused.remove(key);
        }
    }

    /// Some of those that are refused, each with the reason.
    pub fn refused(&self) -> Vec<String> {
        let named = |refused: &BTreeMap<ItemKey, String>| {
            refused.iter().map(|(key, why)| format!("{key}: {why}")).collect()
        };
        self.refused.lock().map(|refused| named(&refused)).unwrap_or_default()
    }
}
