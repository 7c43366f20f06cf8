//! What all parts of a migration share: the server, the plan in both directions, the counts.

use super::account::Database;
use super::remote::Remote;
use orrery_core::limits;
use orrery_migration::{Container, ItemKey, Plan, hash_of};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::{Mutex as AsyncMutex, MutexGuard};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    Source,
    Target,
}

pub struct World {
    pub remote: Remote,
    pub plan: Plan,
    /// `None`: the plan has no way back.
    pub reversed: Option<Plan>,
    /// Writes to the target go to the source too.
    pub is_both: bool,
    pub counts: Counts,
    refused: Mutex<Vec<String>>,
    /// An item is worked on by one task at a time.
    locks: Vec<AsyncMutex<()>>,
}

#[derive(Default)]
pub struct Counts {
    /// Items of the source that were looked at in the first copy.
    pub copied: AtomicU64,
    /// Changes that were followed.
    pub followed: AtomicU64,
    pub refused: AtomicU64,
}

const LOCKS: usize = 1024;

impl World {
    pub fn new(remote: Remote, plan: Plan, is_both: bool) -> Result<Self, String> {
        let reversed = plan.reversed();
        if is_both && let Err(error) = &reversed {
            return Err(format!("--dual-write both needs a way back: {error}"));
        }
        let locks = (0..LOCKS).map(|_| AsyncMutex::new(())).collect();
        let reversed = reversed.ok();
        Ok(Self {
            remote,
            plan,
            reversed,
            is_both,
            counts: Counts::default(),
            refused: Mutex::default(),
            locks,
        })
    }

    pub fn database(&self, which: Which) -> Database<'_> {
        let side = match which {
            Which::Source => &self.plan.source,
            Which::Target => &self.plan.target,
        };
        Database { remote: &self.remote, name: &side.database }
    }

    pub fn container(&self, which: Which, name: &str) -> Result<&Container, String> {
        let side = match which {
            Which::Source => &self.plan.source,
            Which::Target => &self.plan.target,
        };
        side.container(name).ok_or_else(|| format!("the plan does not describe the container '{name}'"))
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
        self.counts.refused.fetch_add(1, Ordering::Relaxed);
        if let Ok(mut refused) = self.refused.lock()
            && refused.len() < limits::MIGRATION_NAMED_MAX
        {
            refused.push(format!("{key}: {why}"));
        }
    }

    pub fn refused(&self) -> Vec<String> {
        self.refused.lock().map(|refused| refused.clone()).unwrap_or_default()
    }
}
