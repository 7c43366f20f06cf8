//! Single rows, by their keys.

use crate::{Put, Space};
use bytes::Bytes;
use orrery_core::Lsn;
use quick_cache::unsync::{Cache, DefaultLifecycle};
use quick_cache::{Equivalent, Weighter};
use std::hash::{BuildHasher, BuildHasherDefault, Hash, Hasher, RandomState};
use std::sync::{Mutex, MutexGuard, PoisonError};
use xxhash_rust::xxh3::xxh3_64_with_seed;

const SHARDS: usize = 16;
/// What a row is taken to have, when a table's size is guessed.
const ROW_BYTES: usize = 1024;
/// What a row costs beside its key and its value.
const ROW_OVERHEAD_BYTES: usize = 128;

pub(super) struct KeptRows {
    shards: Vec<Mutex<Shard>>,
    seed: u64,
}

struct Shard {
    /// The newest commit that changed a row which belongs here, kept or not.
    changed: Lsn,
    rows: Cache<Key, Kept, Weigh, BuildHasherDefault<Known>, DefaultLifecycle<Key, Kept>>,
}

struct Kept {
    /// Nothing where there is no such row.
    value: Option<Bytes>,
    /// The commit that a snapshot must show to see this value.
    since: Lsn,
}

/// A key that is looked for, with its hash.
pub(super) struct Name<'a> {
    hash: u64,
    space: Space,
    key: &'a [u8],
}

struct Key {
    hash: u64,
    space: Space,
    key: Box<[u8]>,
}

impl KeptRows {
    pub fn new(bytes: usize) -> Self {
        let shard = || {
            let bytes = bytes / SHARDS;
            let rows = Cache::with(
                bytes / ROW_BYTES,
                bytes as u64,
                Weigh,
                BuildHasherDefault::default(),
                DefaultLifecycle::default(),
            );
            Mutex::new(Shard { changed: Lsn(0), rows })
        };
        // Keys have names in them that clients choose; which of them meet in a table must not be theirs to choose too.
        let seed = RandomState::new().hash_one(0);
        Self { shards: (0..SHARDS).map(|_| shard()).collect(), seed }
    }

    pub fn name<'a>(&self, space: Space, key: &'a [u8]) -> Name<'a> {
        Name { hash: xxh3_64_with_seed(key, self.seed ^ space as u64), space, key }
    }

    pub fn get(&self, name: &Name<'_>, at: Lsn) -> Option<Option<Bytes>> {
        let shard = self.shard(name.hash);
        shard.rows.get(name).filter(|kept| kept.since <= at).map(|kept| kept.value.clone())
    }

    /// Keeps what a snapshot found. It is copied: the engine's value holds on to the whole block that it lies in.
    pub fn keep(&self, name: &Name<'_>, value: Option<&[u8]>, at: Lsn) {
        let (key, value) = (Box::from(name.key), value.map(Bytes::copy_from_slice));
        let mut shard = self.shard(name.hash);
        if shard.changed <= at {
            shard.rows.insert(Key { hash: name.hash, space: name.space, key }, Kept { value, since: at });
        }
    }

    /// A kept row stays kept, with its new value.
    pub fn change(&self, put: &Put, lsn: Lsn) {
        let name = self.name(put.space, &put.key);
        let mut shard = self.shard(name.hash);
        shard.changed = lsn;
        if shard.rows.contains_key(&name) {
            let value = put.value.as_deref().map(Bytes::copy_from_slice);
            let key = Key { hash: name.hash, space: name.space, key: Box::from(name.key) };
            // A value that is too large is not taken, and then the old one must go.
            if shard.rows.replace(key, Kept { value, since: lsn }, true).is_err() {
                shard.rows.remove(&name);
            }
        }
    }

    /// Forgets everything. The newest commit is this one, whatever was announced.
    pub fn clear(&self, newest: Lsn) {
        for shard in &self.shards {
            let mut shard = locked(shard);
            shard.rows.clear();
            shard.changed = shard.changed.min(newest);
        }
    }

    pub fn bytes(&self) -> u64 {
        self.shards.iter().map(|shard| locked(shard).rows.weight()).sum()
    }

    fn shard(&self, hash: u64) -> MutexGuard<'_, Shard> {
        locked(&self.shards[(hash >> 32) as usize % SHARDS])
    }
}

fn locked(shard: &Mutex<Shard>) -> MutexGuard<'_, Shard> {
    shard.lock().unwrap_or_else(PoisonError::into_inner)
}

#[derive(Clone)]
struct Weigh;

impl Weighter<Key, Kept> for Weigh {
    fn weight(&self, key: &Key, kept: &Kept) -> u64 {
        (key.key.len() + kept.value.as_ref().map_or(0, Bytes::len) + ROW_OVERHEAD_BYTES) as u64
    }
}

impl Equivalent<Key> for Name<'_> {
    fn equivalent(&self, key: &Key) -> bool {
        self.space == key.space && self.key == &*key.key
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.space == other.space && self.key == other.key
    }
}

impl Eq for Key {}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}

impl Hash for Name<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}

/// The hash that a key comes with.
#[derive(Default)]
struct Known(u64);

impl Hasher for Known {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.0 = self.0.rotate_left(8) ^ u64::from(*byte));
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}
