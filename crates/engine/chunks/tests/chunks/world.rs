//! A store of chunks over disks for tests.

use orrery_chunks::files::MemoryFiles;
use orrery_chunks::{
    Checked, Chunk, ChunkId, Chunks, Commits, Error, Options, Reclaimed, SPECS, Synced, add, check, locate,
};
use orrery_core::Lsn;
use orrery_kv::{
    Batch, Db, Error as EngineError, MemoryEngine, Outcome, Overlay, Snapshot, SpaceSet, Sync, Txn,
};
use std::sync::{Arc, Mutex};

pub static SPACES: SpaceSet = SpaceSet::new(&[SPECS]);

/// Files so small that a few chunks fill one.
pub const FILE_BYTES_MAX: u64 = 400_000;

pub struct World {
    pub files: MemoryFiles,
    pub engine: MemoryEngine,
    pub store: Store,
    pub chunks: Chunks,
}

/// The ordered store.
pub struct Store {
    pub db: Db,
    committing: Mutex<()>,
}

impl World {
    pub fn new() -> Self {
        Self::with(options())
    }

    pub fn with(options: Options) -> Self {
        Self::over(MemoryFiles::new(), MemoryEngine::new(&SPACES), options)
    }

    pub fn over(files: MemoryFiles, engine: MemoryEngine, options: Options) -> Self {
        let store = Store::new(Db::open(Box::new(engine.clone()), options.sync).expect("the engine opens"));
        let chunks =
            Chunks::open(Box::new(files.clone()), &*store.db.snapshot(), options).expect("the files open");
        Self { files, engine, store, chunks }
    }

    /// What a restart finds after a power cut.
    pub fn crash(&self, is_kept: impl FnMut() -> bool) -> Self {
        Self::over(self.files.crash(is_kept), self.engine.crash(0), options())
    }

    pub fn upload(&self, content: &[u8]) -> Result<Synced, Error> {
        let mut writer = self.chunks.writer_of(content.len() as u64);
        writer.write(content)?;
        writer.finish()?.sync()
    }

    /// Uploads and commits.
    pub fn put(&self, content: &[u8]) -> Vec<Chunk> {
        let synced = self.upload(content).expect("uploaded");
        assert!(self.store.txn(|txn| add(txn, &synced)));
        synced.chunks().collect()
    }

    pub fn retain(&self, chunks: &[Chunk]) -> bool {
        self.store.txn(|txn| chunks.iter().for_each(|chunk| orrery_chunks::retain(txn, chunk.id)))
    }

    pub fn release(&self, chunks: &[Chunk]) {
        assert!(self.store.txn(|txn| chunks.iter().for_each(|chunk| orrery_chunks::release(txn, chunk.id))));
    }

    pub fn read(&self, chunks: &[Chunk]) -> Result<Vec<u8>, Error> {
        let pin = self.chunks.pin();
        let snapshot = self.store.db.snapshot();
        let mut content = Vec::new();
        for chunk in chunks {
            let location =
                locate(&*snapshot, chunk.id).expect("readable").expect("the chunk is in the store");
            assert_eq!(location.length, chunk.length);
            content.extend_from_slice(&pin.read(&location, 0..chunk.length)?);
        }
        Ok(content)
    }

    pub fn is_there(&self, chunk: &Chunk) -> bool {
        locate(&*self.store.db.snapshot(), chunk.id).expect("readable").is_some()
    }

    /// Steps of reclaiming until nothing is left to do.
    pub fn reclaim(&self) -> Reclaimed {
        let mut all = Reclaimed::default();
        for _ in 0..10_000 {
            let step = self.chunks.reclaim(&self.store).expect("reclaimed");
            all.chunks_removed += step.chunks_removed;
            all.files_removed += step.files_removed;
            all.bytes_moved += step.bytes_moved;
            all.bytes_freed += step.bytes_freed;
            if !step.has_more {
                return all;
            }
        }
        panic!("reclaiming does not end");
    }

    pub fn check(&self, references: impl IntoIterator<Item = ChunkId>) -> Checked {
        let mut references = references.into_iter().map(Ok);
        check(&self.files, &*self.store.db.snapshot(), Some(&mut references)).expect("checked")
    }

    pub fn file_count(&self) -> usize {
        use orrery_chunks::files::Files as _;
        self.files.list().expect("listed").len()
    }
}

impl Store {
    pub fn new(db: Db) -> Self {
        Self { db, committing: Mutex::default() }
    }

    /// Whether its requirements held.
    pub fn txn(&self, body: impl Fn(&mut Txn<'_>)) -> bool {
        self.try_txn(body).expect("committed")
    }

    pub fn try_txn(&self, body: impl Fn(&mut Txn<'_>)) -> Result<bool, EngineError> {
        Ok(self.group(vec![self.batch(body)])? == [Outcome::Committed])
    }

    pub fn batch(&self, body: impl Fn(&mut Txn<'_>)) -> Batch {
        let (snapshot, pending) = (self.db.snapshot(), Overlay::default());
        let mut txn = Txn::new(&snapshot, &pending);
        body(&mut txn);
        txn.into_batch()
    }

    /// Commits batches together.
    pub fn group(&self, batches: Vec<Batch>) -> Result<Vec<Outcome>, EngineError> {
        let _one = self.committing.lock().expect("no test panicked");
        let next = self.db.tip().lsn.0 + 1;
        let stamped = (next..).zip(batches).map(|(lsn, batch)| batch.stamp(Lsn(lsn)));
        self.db.commit(stamped.collect())
    }
}

impl Commits for Store {
    type Error = EngineError;

    fn snapshot(&self) -> Arc<Snapshot> {
        self.db.snapshot()
    }

    fn commit(&self, body: &dyn Fn(&mut Txn<'_>)) -> Result<bool, EngineError> {
        self.try_txn(body)
    }
}

pub fn options() -> Options {
    Options { sync: Sync::Data, disk_free_bytes_min: 0, file_bytes_max: FILE_BYTES_MAX }
}

/// Bytes that differ from place to place and from seed to seed.
pub fn content(seed: u64, length: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let words = std::iter::repeat_with(move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    });
    words.flatten().take(length).collect()
}

pub fn ids(chunks: &[Chunk]) -> Vec<ChunkId> {
    chunks.iter().map(|chunk| chunk.id).collect()
}
