//! The handle: the blobs of a process, over transactions and chunk files that it shares with other stores.

use crate::container_cache::ContainerCache;
use crate::copies::ActiveCopies;
use crate::error::Error;
use crate::lifecycle::LifecycleJob;
use crate::limits;
use crate::service::ServiceCache;
use orrery_blobs::containers::Container;
use orrery_blobs::operations::{Place, RehydrationTimes};
use orrery_blobs::{Address, BlobError, ContainerId, Refusal, Stamp};
use orrery_catalog::scope;
use orrery_chunks::Chunks;
use orrery_chunks::files::MemoryFiles;
use orrery_core::{Env, TickClock};
use orrery_kv::{Engine, Error as EngineError, Snapshot, Sync, Txn};
use orrery_txn::{OpenError, Periodic, Scope, TxnManager, WriteError};
use std::sync::Arc;
use std::time::Duration;

/// A cheap handle on the blobs of a process.
#[derive(Clone)]
pub struct BlobStore(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    pub txns: TxnManager,
    pub chunks: Chunks,
    pub containers: ContainerCache,
    pub service: ServiceCache,
    pub copies: ActiveCopies,
    pub trimming: Periodic,
    pub lifecycle_job: LifecycleJob,
    pub inventories: Periodic,
    pub options: Options,
    clock: TickClock,
}

#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// How long blobs are on their way out of the archive.
    pub rehydration: RehydrationTimes,
    /// How long what was replaced and removed is kept.
    pub log_retention: Duration,
}

impl Default for Options {
    fn default() -> Self {
        let rehydration = RehydrationTimes {
            standard: Duration::from_secs(limits::REHYDRATION_STANDARD_SECONDS),
            high: Duration::from_secs(limits::REHYDRATION_HIGH_SECONDS),
        };
        Self { rehydration, log_retention: Duration::from_secs(limits::LOG_RETENTION_SECONDS) }
    }
}

impl BlobStore {
    pub fn open(txns: TxnManager, chunks: Chunks, options: Options) -> Result<Self, EngineError> {
        let inner = Inner {
            containers: ContainerCache::load(&txns.snapshot())?,
            service: ServiceCache::default(),
            copies: ActiveCopies::default(),
            trimming: Periodic::new(limits::LOG_TRIM_EVERY_SECONDS),
            lifecycle_job: LifecycleJob::default(),
            inventories: Periodic::new(limits::INVENTORY_LOOK_EVERY_SECONDS),
            clock: TickClock::default(),
            txns,
            chunks,
            options,
        };
        Ok(Self(Arc::new(inner)))
    }

    /// A store with transactions of its own, and chunk files in memory, for simulations, tools and tests. A commit that does not end
    /// stops the process.
    pub fn standalone(engine: impl Engine + 'static, env: Env, sync: Sync) -> Result<Self, OpenError> {
        Self::standalone_over(engine, MemoryFiles::new(), env, sync)
    }

    /// A store as [`standalone`](Self::standalone) makes it, over these chunk files.
    pub fn standalone_over(
        engine: impl Engine + 'static,
        files: MemoryFiles,
        env: Env,
        sync: Sync,
    ) -> Result<Self, OpenError> {
        let on_stuck = || std::process::abort();
        let txn_options = orrery_txn::Options { sync, accept_loss: false, cache_bytes: 1 << 20, on_stuck };
        let txns = TxnManager::open(Box::new(engine), env, &txn_options)?;
        let chunk_options = orrery_chunks::Options { sync, disk_free_bytes_min: 0, ..Default::default() };
        let chunks = Chunks::open(Box::new(files), &*txns.snapshot(), chunk_options)?;
        Ok(Self::open(txns, chunks, Options::default())?)
    }

    pub fn env(&self) -> &Env {
        self.0.txns.env()
    }

    /// The transactions that this store shares with others.
    pub fn txns(&self) -> &TxnManager {
        &self.0.txns
    }

    /// The files that large content is in.
    pub fn chunks(&self) -> &Chunks {
        &self.0.chunks
    }

    /// The newest durable state.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.0.txns.snapshot()
    }

    pub(crate) fn stamp(&self) -> Stamp {
        let (now, random) = (self.env().now(), || u128::from(self.env().random_u64()));
        Stamp {
            now,
            ticks: self.0.clock.next(now),
            random: guid_bits(random() << 64 | random()),
            ordinal: self.txns().next_ordinal(),
        }
    }

    /// Runs `body` as one transaction in the scope of a blob's name and answers when it is durable. If the container was dropped
    /// and created again meanwhile, or something that is copied from was reclaimed, runs it again.
    pub(crate) async fn write<T>(
        &self,
        address: &Address,
        body: impl Fn(&mut Txn<'_>, Place<'_>, Stamp) -> Result<T, BlobError>,
    ) -> Result<T, Error> {
        for _ in 0..limits::PRECONDITION_RETRIES_MAX {
            let container = self.container(&address.container)?;
            let service = self.service(&address.container.account)?;
            let place =
                Place { container: container.number(), settings: &service.settings, name: &address.name };
            let (scope, stamp) = (scope_of(container.number(), address.name.as_str()), self.stamp());
            let written = self.txns().write(Scope::new(&scope), |txn| body(txn, place, stamp)).await;
            match written {
                Ok(committed) => return Ok(committed.value),
                Err(WriteError::PreconditionFailed) => self.refresh(&address.container)?,
                Err(error) => return Err(error.into()),
            }
        }
        Err(Error::Busy)
    }

    /// Reads of the newest durable state.
    pub(crate) fn read<T>(
        &self,
        address: &Address,
        body: impl FnOnce(&Snapshot, Place<'_>) -> Result<T, BlobError>,
    ) -> Result<T, Error> {
        self.read_at(&self.snapshot(), address, body)
    }

    pub(crate) fn read_at<T>(
        &self,
        snapshot: &Snapshot,
        address: &Address,
        body: impl FnOnce(&Snapshot, Place<'_>) -> Result<T, BlobError>,
    ) -> Result<T, Error> {
        let container = self.container(&address.container)?;
        let service = self.service(&address.container.account)?;
        let place = Place { container: container.number(), settings: &service.settings, name: &address.name };
        Ok(body(snapshot, place)?)
    }

    /// A container that is there.
    pub fn container(&self, id: &ContainerId) -> Result<Arc<Container>, Error> {
        Ok(self.0.containers.get(id).ok_or(Refusal::ContainerNotFound)?)
    }

    pub(crate) fn refresh(&self, id: &ContainerId) -> Result<(), EngineError> {
        self.0.containers.refresh(id, || self.snapshot())
    }

    /// Changes definitions and answers when the change is durable and in memory. Runs to its end on a thread of its own even if the
    /// caller stops waiting, so that the two never part.
    pub(crate) async fn write_catalog<T: Send + 'static>(
        &self,
        changed: &[&ContainerId],
        body: impl Fn(&mut Txn<'_>, Stamp) -> Result<T, BlobError> + Send + 'static,
    ) -> Result<T, Error> {
        let changed: Vec<ContainerId> = changed.iter().map(|id| (*id).clone()).collect();
        let store = self.clone();
        let task = tokio::task::spawn_blocking(move || {
            for _ in 0..limits::PRECONDITION_RETRIES_MAX {
                let stamp = store.stamp();
                match store.txns().write_blocking(Scope::new(&[scope::CATALOG]), |txn| body(txn, stamp)) {
                    Ok(committed) => {
                        changed.iter().try_for_each(|id| store.refresh(id))?;
                        return Ok(committed.value);
                    }
                    Err(WriteError::PreconditionFailed) => {}
                    Err(error) => return Err(error.into()),
                }
            }
            Err(Error::Busy)
        });
        task.await.unwrap_or(Err(Error::Stopping))
    }

    /// Commits what waits and stops the threads. Later writes are refused; reads go on.
    pub fn close(&self) {
        self.0.txns.close();
    }
}

/// Random bits in the form of a GUID of version 4.
fn guid_bits(bits: u128) -> u128 {
    bits & !(0xf << 76) & !(0x3 << 62) | (0x4 << 76) | (0x2 << 62)
}

/// The scope of all states of a name.
pub(crate) fn scope_of(container: u32, name: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(5 + name.len());
    bytes.push(scope::BLOB);
    bytes.extend_from_slice(&container.to_be_bytes());
    bytes.extend_from_slice(name.as_bytes());
    bytes
}
