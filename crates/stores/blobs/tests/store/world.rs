//! A store with a clock that stands still, and short names for what tests do with it.

use bytes::Bytes;
use orrery_blob_store::model::blob::{BlobState, BlockId};
use orrery_blob_store::model::containers::NewContainer;
use orrery_blob_store::model::operations::{
    BlobPage, BlockRef, BlockSource, DeleteBlob, ListBlobs, ListEntry, ListInclude, PutOptions, RangeRequest,
    Written,
};
use orrery_blob_store::model::settings::{BlobSettings, Days, DeleteRetention};
use orrery_blob_store::model::spaces::SPACES;
use orrery_blob_store::model::tags::TagSet;
use orrery_blob_store::model::{Address, BlobName, Conditions, ContainerId, Refusal, Selector};
use orrery_blob_store::{BlobService, BlobStore, Error, ExpectedHashes, Uploaded};
use orrery_catalog::storage::{AccountName, BlobContainerName, Metadata};
use orrery_chunks::files::MemoryFiles;
use orrery_core::{Env, Timestamp};
use orrery_kv::{Engine, KeyRange, MemoryEngine, Order, Read, Space, Sync};
use orrery_txn::{JobError, Jobs, Progress};
use std::time::Duration;

pub const START: Timestamp = Timestamp::from_seconds(1_800_000_000);

pub struct World {
    pub store: BlobStore,
    pub files: MemoryFiles,
    pub runtime: tokio::runtime::Runtime,
}

pub fn account() -> AccountName {
    AccountName::parse("devstoreaccount1").unwrap()
}

pub fn container(name: &str) -> ContainerId {
    ContainerId { account: account(), name: BlobContainerName::parse(name).unwrap() }
}

/// A blob of the container `runs`.
pub fn blob(name: &str) -> Address {
    container("runs").blob(BlobName::parse(name).unwrap())
}

pub fn tags(pairs: &[(&str, &str)]) -> TagSet {
    TagSet::new(pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))).unwrap()
}

pub fn metadata(pairs: &[(&str, &str)]) -> Metadata {
    Metadata::new(pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))).unwrap()
}

pub fn block(id: &str) -> BlockId {
    BlockId::parse(id).unwrap()
}

pub fn refused<T>(result: Result<T, Error>) -> Refusal {
    match result.err().expect("it is refused") {
        Error::Refused(refusal) => refusal,
        other => panic!("{other}"),
    }
}

/// Bytes of which no two parts are alike.
pub fn content(length: usize, seed: u64) -> Vec<u8> {
    let env = Env::seeded(START, seed);
    let words = std::iter::repeat_with(|| env.random_u64().to_le_bytes());
    words.flatten().take(length).collect()
}

impl World {
    pub fn new() -> Self {
        let world =
            Self::over(MemoryEngine::new(&SPACES), MemoryFiles::new(), Sync::Data, Env::seeded(START, 1));
        world.create("runs");
        world
    }

    pub fn over(engine: impl Engine + 'static, files: MemoryFiles, sync: Sync, env: Env) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let store = BlobStore::standalone_over(engine, files.clone(), env, sync).unwrap();
        Self { store, files, runtime }
    }

    pub fn run<T>(&self, future: impl Future<Output = T>) -> T {
        self.runtime.block_on(future)
    }

    pub fn create(&self, name: &str) {
        let new = NewContainer { metadata: Metadata::default(), public_access: Default::default() };
        self.run(self.store.create_container(&container(name), new)).unwrap();
    }

    pub fn settings(&self, change: impl FnOnce(&mut BlobSettings)) {
        let mut service: BlobService = (*self.store.service(&account()).unwrap()).clone();
        change(&mut service.settings);
        self.run(self.store.set_service(&account(), service)).unwrap();
    }

    pub fn retain_deleted(&self, days: u16) {
        self.settings(|settings| {
            let days = Days::new(days).unwrap();
            settings.delete_retention = Some(DeleteRetention { days, allow_permanent_delete: true });
        });
    }

    pub fn upload(&self, bytes: &[u8]) -> Uploaded {
        self.run(async {
            let mut writer = self.store.upload(u64::MAX);
            for part in bytes.chunks(10_000) {
                writer.write(Bytes::copy_from_slice(part)).await.unwrap();
            }
            writer.finish(ExpectedHashes::default()).await.unwrap()
        })
    }

    pub fn try_put(&self, name: &str, bytes: &[u8], options: PutOptions) -> Result<Written, Error> {
        let uploaded = self.upload(bytes);
        self.run(self.store.put_blob(&blob(name), uploaded, options))
    }

    pub fn put(&self, name: &str, bytes: &[u8]) -> Written {
        self.try_put(name, bytes, PutOptions::default()).unwrap()
    }

    pub fn put_tagged(&self, name: &str, pairs: &[(&str, &str)]) {
        let options = PutOptions { tags: tags(pairs), ..PutOptions::default() };
        self.try_put(name, b"tagged", options).unwrap();
    }

    pub fn stage(&self, name: &str, id: &str, bytes: &[u8]) -> Result<(), Error> {
        let uploaded = self.upload(bytes);
        self.run(self.store.stage_block(&blob(name), block(id), uploaded, None))
    }

    pub fn commit(&self, name: &str, ids: &[&str]) -> Result<Written, Error> {
        let from = BlockSource::Latest;
        let blocks = ids.iter().map(|id| BlockRef { id: block(id), from }).collect();
        self.run(self.store.commit_block_list(&blob(name), blocks, PutOptions::default()))
    }

    pub fn try_read(
        &self,
        name: &str,
        selector: Selector,
        range: Option<(u64, u64)>,
    ) -> Result<Vec<u8>, Error> {
        self.run(async {
            let range = range.map(|(start, last)| RangeRequest { start, last: Some(last) });
            let reader = self.store.open_blob(&blob(name), selector, range, &Conditions::default()).await?;
            Ok(reader.read_all().await?.to_vec())
        })
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        self.try_read(name, Selector::Current, None).unwrap()
    }

    pub fn delete(&self, name: &str) -> Result<(), Error> {
        self.run(self.store.delete_blob(&blob(name), DeleteBlob::default())).map(drop)
    }

    pub fn list(&self, request: &ListBlobs) -> BlobPage {
        self.store.list_blobs(&container("runs"), request).unwrap()
    }

    /// Every state of every blob, each in a word or two.
    pub fn states(&self) -> Vec<String> {
        let include = ListInclude {
            snapshots: true,
            versions: true,
            deleted: true,
            uncommitted: true,
            ..Default::default()
        };
        shown(&self.list(&ListBlobs { include, ..ListBlobs::default() }))
    }

    pub fn advance(&self, seconds: u64) {
        self.store.env().advance(Duration::from_secs(seconds)).unwrap();
    }

    /// One round of background jobs.
    pub fn round(&self) -> Result<Progress, JobError> {
        let mut jobs = Jobs::default();
        self.store.register_jobs(&mut jobs);
        jobs.round()
    }

    /// Rounds of background jobs until nothing is left.
    pub fn settle(&self) {
        let round = |_: &usize| self.round().unwrap() == Progress::Idle;
        (0..1000).find(round).expect("the work comes to an end");
    }

    /// Chunks that rows refer to.
    pub fn chunks(&self) -> u64 {
        let checked = orrery_chunks::check(&self.files, &*self.store.snapshot(), None).unwrap();
        assert_eq!(checked.faults, [""; 0]);
        checked.chunks
    }

    pub fn rows(&self, space: Space) -> usize {
        self.store.snapshot().range(space, &KeyRange::all(), Order::Ascending).count()
    }
}

pub fn shown(page: &BlobPage) -> Vec<String> {
    let entries = page.entries.iter().map(|entry| match entry {
        ListEntry::Prefix(prefix) => format!("{prefix}*"),
        ListEntry::Uncommitted { name, .. } => format!("{} uncommitted", name.as_str()),
        ListEntry::VersionsOnly(blob) => format!("{} versions only", blob.name.as_str()),
        ListEntry::Blob(blob) => {
            let state = match blob.state {
                BlobState::Current => "",
                BlobState::Snapshot(_) => " snapshot",
                BlobState::Version(_) => " version",
                BlobState::DeletedBlob => " blob",
            };
            let deleted = if blob.deleted.is_some() { " deleted" } else { "" };
            format!("{}{state}{deleted}", blob.name.as_str())
        }
    });
    entries.collect()
}
