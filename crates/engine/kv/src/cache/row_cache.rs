//! Single rows by key.

use crate::{Put, Space};
use bytes::Bytes;
use orrery_core::Lsn;
use quick_cache::unsync::{Cache, DefaultLifecycle};
use quick_cache::{Equivalent, Weighter};
use std::hash::{BuildHasher, BuildHasherDefault, Hash, Hasher, RandomState};
use std::sync::{Mutex, MutexGuard, PoisonError};
use xxhash_rust::xxh3::xxh3_64_with_seed;

const SHARDS: usize = 16;
/// Assumed row size when a table is sized.
const ROW_BYTES: usize = 1024;
/// Memory per row beside its key and value.
const ROW_OVERHEAD_BYTES: usize = 128;

pub(super) struct RowCache {
    shards: Vec<Mutex<Shard>>,
    seed: u64,
}

struct Shard {
    /// The newest commit that changed a row of this shard, cached or not.
    changed: Lsn,
    rows: Cache<Key, Kept, Weight, BuildHasherDefault<PrecomputedHash>, DefaultLifecycle<Key, Kept>>,
}

struct Kept {
    /// `None` if there is no such row.
    value: Option<Bytes>,
    /// The oldest commit that a snapshot must include to see this value.
    since: Lsn,
}

/// A key to look up, with its hash.
pub(super) struct Lookup<'a> {
    hash: u64,
    space: Space,
    key: &'a [u8],
}

struct Key {
    hash: u64,
    space: Space,
    key: Box<[u8]>,
}

impl RowCache {
    pub fn new(bytes: usize) -> Self {
        let shard = || {
            let bytes = bytes / SHARDS;
            let rows = Cache::with(
                bytes / ROW_BYTES,
                bytes as u64,
                Weight,
                BuildHasherDefault::default(),
                DefaultLifecycle::default(),
            );
            Mutex::new(Shard { changed: Lsn(0), rows })
        };
        // Keys contain names that clients choose; a random seed keeps them from choosing
        // collisions.
        let seed = RandomState::new().hash_one(0);
        Self { shards: (0..SHARDS).map(|_| shard()).collect(), seed }
    }

    pub fn lookup<'a>(&self, space: Space, key: &'a [u8]) -> Lookup<'a> {
        Lookup { hash: xxh3_64_with_seed(key, self.seed ^ space.index() as u64), space, key }
    }

    pub fn get(&self, name: &Lookup<'_>, at: Lsn) -> Option<Option<Bytes>> {
        let shard = self.shard(name.hash);
        shard.rows.get(name).filter(|kept| kept.since <= at).map(|kept| kept.value.clone())
    }

    /// Caches what a snapshot found. Copied, because the engine's value would keep its whole block
    /// alive.
    pub fn keep(&self, name: &Lookup<'_>, value: Option<&[u8]>, at: Lsn) {
        let (key, value) = (Box::from(name.key), value.map(Bytes::copy_from_slice));
        let mut shard = self.shard(name.hash);
        if shard.changed <= at {
            shard.rows.insert(Key { hash: name.hash, space: name.space, key }, Kept { value, since: at });
        }
    }

    /// A cached row stays cached, with its new value.
    pub fn change(&self, put: &Put, lsn: Lsn) {
        let name = self.lookup(put.space, &put.key);
        let mut shard = self.shard(name.hash);
        shard.changed = lsn;
        if shard.rows.contains_key(&name) {
            let value = put.value.as_deref().map(Bytes::copy_from_slice);
            let key = Key { hash: name.hash, space: name.space, key: Box::from(name.key) };
            // A value that is too large is not admitted, and then the old one must go.
            if shard.rows.replace(key, Kept { value, since: lsn }, true).is_err() {
                shard.rows.remove(&name);
            }
        }
    }

    /// Drops everything; `newest` is the newest commit, whatever was announced.
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
struct Weight;

impl Weighter<Key, Kept> for Weight {
    fn weight(&self, key: &Key, kept: &Kept) -> u64 {
        (key.key.len() + kept.value.as_ref().map_or(0, Bytes::len) + ROW_OVERHEAD_BYTES) as u64
    }
}

impl Equivalent<Key> for Lookup<'_> {
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

impl Hash for Lookup<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}

/// Passes on the hash that a key comes with.
#[derive(Default)]
struct PrecomputedHash(u64);

impl Hasher for PrecomputedHash {
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
