//! The definitions of all queues as of the newest durable state, in memory, and what a process knows of each queue besides.

use crate::counters::Counters;
use crate::head::Head;
use crate::repeated::RepeatedMessages;
use orrery_catalog::storage::AccountName;
use orrery_kv::{Error, Snapshot};
use orrery_queues::{Queue, QueueId, queues};
use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

/// A queue and its state in this process, which lasts as long as the queue.
#[derive(Debug)]
pub(crate) struct OpenQueue {
    pub definition: Arc<Queue>,
    pub head: Arc<Head>,
    pub counters: Arc<Counters>,
    pub repeated: Arc<RepeatedMessages>,
}

type ByName = BTreeMap<String, Arc<OpenQueue>>;

#[derive(Debug, Default)]
pub(crate) struct Definitions {
    accounts: RwLock<HashMap<AccountName, ByName>>,
    refreshing: Mutex<()>,
}

impl OpenQueue {
    /// The queue with a newer definition.
    fn new(definition: Queue, known: Option<&Arc<OpenQueue>>) -> Self {
        let definition = Arc::new(definition);
        match known.filter(|known| known.number() == definition.number) {
            Some(known) => Self {
                definition,
                head: known.head.clone(),
                counters: known.counters.clone(),
                repeated: known.repeated.clone(),
            },
            None => {
                Self { definition, head: Arc::default(), counters: Arc::default(), repeated: Arc::default() }
            }
        }
    }

    pub fn number(&self) -> u32 {
        self.definition.number
    }
}

impl Definitions {
    pub fn load(snapshot: &Snapshot) -> Result<Self, Error> {
        let definitions = Self::default();
        for queue in queues::load_all(snapshot)? {
            definitions.replace(&queue.id.clone(), Some(queue));
        }
        Ok(definitions)
    }

    pub fn find(&self, id: &QueueId) -> Option<Arc<OpenQueue>> {
        let accounts = self.accounts.read().unwrap_or_else(PoisonError::into_inner);
        accounts.get(&id.account)?.get(id.name.as_str()).cloned()
    }

    /// The first queues of an account that begin with `prefix`, from a name on.
    pub fn page(&self, account: &AccountName, prefix: &str, from: &str, count_max: usize) -> Vec<Arc<Queue>> {
        let accounts = self.accounts.read().unwrap_or_else(PoisonError::into_inner);
        let Some(by_name) = accounts.get(account) else { return Vec::new() };
        let bounds = (Bound::Included(prefix.max(from)), Bound::Unbounded);
        let found = by_name.range::<str, _>(bounds).take_while(|(name, _)| name.starts_with(prefix));
        found.take(count_max).map(|(_, queue)| queue.definition.clone()).collect()
    }

    pub fn all(&self) -> Vec<Arc<OpenQueue>> {
        let accounts = self.accounts.read().unwrap_or_else(PoisonError::into_inner);
        accounts.values().flat_map(ByName::values).cloned().collect()
    }

    /// Reads one definition from the newest snapshot. One at a time, so that an older one never replaces a newer.
    pub fn refresh(&self, id: &QueueId, newest: impl Fn() -> Arc<Snapshot>) -> Result<(), Error> {
        let _one = self.refreshing.lock().unwrap_or_else(PoisonError::into_inner);
        let queue = queues::load(&*newest(), id)?;
        self.replace(id, queue);
        Ok(())
    }

    fn replace(&self, id: &QueueId, queue: Option<Queue>) {
        let mut accounts = self.accounts.write().unwrap_or_else(PoisonError::into_inner);
        let by_name = accounts.entry(id.account.clone()).or_default();
        match queue {
            Some(queue) => {
                let name = id.name.as_str();
                let open = OpenQueue::new(queue, by_name.get(name));
                by_name.insert(name.to_owned(), Arc::new(open));
            }
            None => drop(by_name.remove(id.name.as_str())),
        }
        if by_name.is_empty() {
            accounts.remove(&id.account);
        }
    }
}
