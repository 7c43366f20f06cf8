//! An engine that counts what it does: rows that a reader passes, removed ones too, as files keep them for a while.
//!
//! It has one state, without snapshots of earlier ones: for tests that do one thing after another.

use orrery_kv::{Engine, Error, KeyRange, META, Order, Put, Read, Rows, Space, SpaceSet, Sync, Tip};
use orrery_queues::spaces::SPACES;
use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

type Key = (Space, bytes::Bytes);

#[derive(Clone, Default)]
pub struct Tombstones(Arc<Inner>);

#[derive(Default)]
struct Inner {
    /// A removed row is there without a value.
    rows: Mutex<BTreeMap<Key, Option<bytes::Bytes>>>,
    looked_at: AtomicU64,
    writes: AtomicU64,
}

impl Tombstones {
    /// Rows of messages that were looked at by what `run` did.
    pub fn looked_at_by<T>(&self, run: impl FnOnce() -> T) -> (T, u64) {
        let before = self.0.looked_at.load(Ordering::Relaxed);
        let done = run();
        (done, self.0.looked_at.load(Ordering::Relaxed) - before)
    }

    pub fn writes(&self) -> u64 {
        self.0.writes.load(Ordering::Relaxed)
    }
}

impl Inner {
    fn look(&self, space: Space) {
        self.looked_at.fetch_add(u64::from(space != META), Ordering::Relaxed);
    }

    /// The next row after a key that is there, and how far one has to go for it.
    fn next_after(&self, from: Bound<Key>, range: &KeyRange) -> Option<(Key, bytes::Bytes)> {
        let rows = self.rows.lock().unwrap();
        let following = rows.range((from, Bound::Unbounded));
        let mut inside = following.take_while(|((_, key), _)| range.contains(key));
        inside.find_map(|(key, value)| {
            self.look(key.0);
            Some((key.clone(), value.clone()?))
        })
    }
}

impl Engine for Tombstones {
    fn spaces(&self) -> &'static SpaceSet {
        &SPACES
    }

    fn view(&self) -> Arc<dyn Read + Send + std::marker::Sync> {
        self.0.clone()
    }

    fn write(&self, puts: Vec<Put>, _sync: Sync) -> Result<(), Error> {
        self.0.writes.fetch_add(1, Ordering::Relaxed);
        let mut rows = self.0.rows.lock().unwrap();
        rows.extend(puts.into_iter().map(|put| ((put.space, put.key), put.value)));
        Ok(())
    }

    fn note_promise(&self, _tip: Tip) {}

    fn promised(&self) -> Option<Tip> {
        None
    }
}

impl Read for Inner {
    fn get(&self, space: Space, key: &[u8]) -> Result<Option<bytes::Bytes>, Error> {
        self.look(space);
        let key = (space, bytes::Bytes::copy_from_slice(key));
        Ok(self.rows.lock().unwrap().get(&key).cloned().flatten())
    }

    fn range(&self, space: Space, range: &KeyRange, order: Order) -> Rows<'_> {
        assert_eq!(order, Order::Ascending);
        let (range, start) = (range.clone(), bytes::Bytes::copy_from_slice(&range.start));
        let mut from = Bound::Included((space, start));
        Box::new(std::iter::from_fn(move || {
            let (key, value) = self.next_after(from.clone(), &range)?;
            from = Bound::Excluded(key.clone());
            (key.0 == space).then_some(Ok((key.1, value)))
        }))
    }
}
