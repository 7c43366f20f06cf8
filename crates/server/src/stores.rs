//! The stores of the process, one for each kind of data, over the transactions that they share.

use crate::config::{Config, Durability};
use crate::script_worker;
use orrery_api_common::BodyBudget;
use orrery_api_common::limits::MEMORY_FOR_BODIES_DIVISOR;
use orrery_blob_store::{BlobStore, Options as BlobOptions};
use orrery_chunks::files::FolderFiles;
use orrery_chunks::{Chunks, Options as ChunkOptions};
use orrery_core::Env;
use orrery_document_store::{Options as DocumentOptions, Store};
use orrery_kv_fjall::{FjallEngine, Folder};
use orrery_offline::spaces::SPACES;
use orrery_queue_store::{Options as QueueOptions, QueueStore};
use orrery_script::{Isolation, Scripts};
use orrery_table_store::{Options as TableOptions, TableStore};
use orrery_txn::{Jobs, Options as TxnOptions, Sync, TxnManager};

#[derive(Clone)]
pub struct Stores {
    pub documents: Store,
    pub tables: TableStore,
    pub queues: QueueStore,
    pub blobs: BlobStore,
}

impl Stores {
    pub fn open(config: &Config, folder: Folder, env: Env, secret: [u8; 32]) -> Result<Self, String> {
        let for_bodies = config.memory_bytes / MEMORY_FOR_BODIES_DIVISOR;
        BodyBudget::limit_process(for_bodies);
        let txns = open_transactions(config, folder, env)?;
        let options = DocumentOptions {
            query_bytes: config.memory_bytes - for_bodies,
            secret,
            partition_bytes_max: config.partition_bytes_max,
            throttling: config.throttling,
            scripts: scripts()?,
        };
        let documents = Store::open(txns.clone(), options).map_err(|error| error.to_string())?;
        let tables =
            TableStore::open(txns.clone(), TableOptions::default()).map_err(|error| error.to_string())?;
        let queues =
            QueueStore::open(txns.clone(), QueueOptions::default()).map_err(|error| error.to_string())?;
        let chunks = open_chunks(config, &txns)?;
        let blobs =
            BlobStore::open(txns, chunks, BlobOptions::default()).map_err(|error| error.to_string())?;
        Ok(Self { documents, tables, queues, blobs })
    }

    pub fn txns(&self) -> &TxnManager {
        self.documents.txns()
    }

    /// The background jobs of all of them.
    pub fn jobs(&self) -> Jobs {
        let mut jobs = Jobs::default();
        self.documents.register_jobs(&mut jobs);
        self.tables.register_jobs(&mut jobs);
        self.queues.register_jobs(&mut jobs);
        self.blobs.register_jobs(&mut jobs);
        jobs
    }
}

fn open_transactions(config: &Config, folder: Folder, env: Env) -> Result<TxnManager, String> {
    let half = config.cache_bytes / 2;
    let options = orrery_kv_fjall::Options {
        cache_bytes: half,
        disk_free_bytes_min: config.disk_free_bytes_min,
        accept_loss: config.accept_loss,
        ..Default::default()
    };
    let engine = FjallEngine::open(folder, &SPACES, &options).map_err(|error| error.to_string())?;
    let options = TxnOptions {
        sync: sync(config),
        accept_loss: config.accept_loss,
        cache_bytes: usize::try_from(half).unwrap_or(usize::MAX),
        on_stuck: stop_stuck_process,
    };
    TxnManager::open(Box::new(engine), env, &options).map_err(|error| error.to_string())
}

/// The files of large content, beside those of the engine.
fn open_chunks(config: &Config, txns: &TxnManager) -> Result<Chunks, String> {
    let options = ChunkOptions {
        sync: sync(config),
        disk_free_bytes_min: config.disk_free_bytes_min,
        ..ChunkOptions::default()
    };
    let files = Box::new(FolderFiles::new(&config.data));
    Chunks::open(files, &*txns.snapshot(), options).map_err(|error| error.to_string())
}

fn sync(config: &Config) -> Sync {
    match config.durability {
        Durability::Synced => Sync::Data,
        Durability::Relaxed => Sync::None,
    }
}

/// Scripts run in processes, which can be killed.
fn scripts() -> Result<Scripts, String> {
    let isolation = Isolation::Process(script_worker::program()?);
    Scripts::new(isolation).map_err(|error| format!("no process for scripts can be started: {error}"))
}

/// Stopped is better than hanging: everything acknowledged is on the disk, and a restart goes on from there.
fn stop_stuck_process() {
    eprintln!(
        "orrery: a commit has not ended for a minute; stopping, because nothing can be written any more. Start again."
    );
    std::process::exit(70);
}
