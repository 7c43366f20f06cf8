//! The store over any engine: groups of batches in, durable snapshots out.
//!
//! Invariants: batches take effect in LSN order; a snapshot shows only what the engine has promised
//! to keep (D1, D2); the tip row is in the same atomic write as the commits it covers.

use crate::cache::ReadCache;
use crate::log::{self, Links};
use crate::overflow;
use crate::tally::Tallies;
use crate::{
    Condition, Engine, Error, KeyRange, Layout, META, Measure, Order, Overlay, Purpose, Put, Read, Rows,
    Space, SpaceSet, StampedBatch, Sync, Tip,
};
use arc_swap::ArcSwap;
use bytes::Bytes;
use orrery_core::Lsn;
use std::sync::{Arc, Mutex, PoisonError};

/// Size of the read cache unless set by [`Db::with_cache_bytes`].
const CACHE_BYTES: usize = 16 * 1024 * 1024;

pub struct Db {
    engine: Box<dyn Engine>,
    sync: Sync,
    published: ArcSwap<Snapshot>,
    cache: Arc<ReadCache>,
    writer: Mutex<Writer>,
}

struct Writer {
    tip: Tip,
    links: Links,
    tallies: Tallies,
}

/// The newest durable state at one moment. Cheap to clone. Holding one keeps old versions from
/// being reclaimed, so callers drop it soon.
#[derive(Clone)]
pub struct Snapshot {
    view: Arc<dyn Read + Send + std::marker::Sync>,
    lsn: Lsn,
    cache: Arc<ReadCache>,
}

/// Result of one batch of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Committed,
    /// One of its conditions did not hold; nothing of it was written.
    Refused,
    /// It followed a refused batch on which it may have built; its transaction must run again.
    Aborted,
}

impl Db {
    /// Opens the store and verifies its end: the tip against the acknowledged one, and the log's
    /// links.
    pub fn open(engine: Box<dyn Engine>, sync: Sync) -> Result<Self, Error> {
        let db = Self::open_unchecked(engine, sync)?;
        let tip = db.tip();
        if let Some(promised) = db.engine.promised() {
            tip.keeps(promised)?;
        }
        log::verify_tail(&*db.snapshot().view, db.spaces().with_layout(Layout::Log), tip.lsn)?;
        Ok(db)
    }

    /// Opens the store as it is, for an operator who decided to go on without what was lost.
    pub fn open_accepting_loss(engine: Box<dyn Engine>, sync: Sync) -> Result<Self, Error> {
        let db = Self::open_unchecked(engine, sync)?;
        // Log and overflow rows may be newer than the tip, and the LSNs of their commits must not
        // be reused.
        let found = db.tip();
        let tip = Tip { lsn: db.newest_row()?.max(found.lsn), ..found };
        db.writer.lock().unwrap_or_else(PoisonError::into_inner).tip = tip;
        db.show(tip.lsn);
        db.engine.note_promise(found);
        Ok(db)
    }

    /// The newest commit with a row in a space that is ordered by commit.
    fn newest_row(&self) -> Result<Lsn, Error> {
        let (snapshot, mut newest) = (self.snapshot(), Lsn(0));
        for spec in self.spaces().iter() {
            newest = newest.max(match spec.layout {
                Layout::Log => log::newest(&*snapshot.view, spec.space)?,
                Layout::Overflow => overflow::newest(&*snapshot.view, spec.space)?,
                Layout::ByKey => Lsn(0),
            });
        }
        Ok(newest)
    }

    fn open_unchecked(engine: Box<dyn Engine>, sync: Sync) -> Result<Self, Error> {
        let view = engine.view();
        let tip = match view.get(META, Tip::KEY)? {
            None => Tip::default(),
            Some(bytes) => {
                Tip::from_bytes(&bytes).ok_or_else(|| Error::Corrupt("the tip row is unreadable".into()))?
            }
        };
        let cache = Arc::new(ReadCache::new(engine.spaces(), CACHE_BYTES));
        let published = ArcSwap::from_pointee(Snapshot { view, lsn: tip.lsn, cache: cache.clone() });
        Ok(Self {
            engine,
            sync,
            published,
            cache,
            writer: Mutex::new(Writer { tip, links: Links::default(), tallies: Tallies::default() }),
        })
    }

    /// With a read cache of this many bytes.
    pub fn with_cache_bytes(mut self, bytes: usize) -> Self {
        self.cache = Arc::new(ReadCache::new(self.spaces(), bytes));
        self.show(self.durable_lsn());
        self
    }

    pub fn spaces(&self) -> &'static SpaceSet {
        self.engine.spaces()
    }

    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.published.load_full()
    }

    /// The LSN of the newest durable commit, without taking a snapshot.
    pub fn durable_lsn(&self) -> Lsn {
        self.published.load().lsn
    }

    /// Tells the engine that the store is idle and publishes a new snapshot: an older view keeps
    /// reading from where the data was when it was made.
    pub fn idle(&self) -> Result<(), Error> {
        self.engine.idle()?;
        let writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        self.show(writer.tip.lsn);
        Ok(())
    }

    /// Measurements of the engine and the read cache.
    pub fn measures(&self) -> Vec<Measure> {
        self.engine.measures().into_iter().chain(self.cache.measures()).collect()
    }

    pub fn tip(&self) -> Tip {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner).tip
    }

    /// Commits a group with one engine write and one sync. Stops at the first batch whose conditions do not
    /// hold: the ones before it are committed, the ones after it must be run again.
    pub fn commit(&self, mut group: Vec<StampedBatch>) -> Result<Vec<Outcome>, Error> {
        orrery_core::tour_step!();
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let snapshot = self.published.load_full();
        let good = conditions_that_hold(&group, &*snapshot)?;
        let outcomes = outcomes(group.len(), good);
        group.truncate(good);
        if group.iter().any(|batch| !batch.is_empty()) {
            let bytes = group.iter().map(|batch| batch.bytes() as u64).sum();
            let is_freeing =
                group.iter().filter(|batch| !batch.is_empty()).all(|batch| batch.makes_room(self.spaces()));
            self.engine.check_room(bytes, if is_freeing { Purpose::MakeRoom } else { Purpose::Store })?;
            writer.write(group, self, &snapshot)?;
        }
        Ok(outcomes)
    }

    /// Whether the disk has room for writes that store more than they remove.
    pub fn check_room(&self) -> Result<(), Error> {
        self.engine.check_room(0, Purpose::Store)
    }

    fn show(&self, lsn: Lsn) {
        let (view, cache) = (self.engine.view(), self.cache.clone());
        self.published.store(Arc::new(Snapshot { view, lsn, cache }));
    }

    fn publish(&self, tip: Tip) {
        orrery_core::tour_step!();
        self.show(tip.lsn);
        if self.sync == Sync::Data {
            self.engine.note_promise(tip);
        }
    }
}

impl Writer {
    /// After a failure the cached links and tallies describe rows that were never written; they are
    /// read again.
    fn write(&mut self, group: Vec<StampedBatch>, db: &Db, snapshot: &Snapshot) -> Result<(), Error> {
        let written = self.try_write(group, db, snapshot);
        if written.is_err() {
            self.links = Links::default();
            self.tallies = Tallies::default();
        }
        written
    }

    fn try_write(&mut self, group: Vec<StampedBatch>, db: &Db, snapshot: &Snapshot) -> Result<(), Error> {
        let size = group.iter().map(|batch| batch.puts.len() + batch.blind.len() + batch.log.len());
        let size = size.sum::<usize>() + 1;
        let mut puts = Vec::with_capacity(size);
        let mut tip = self.tip;
        let (mut sealed, mut tallies) = (Vec::new(), Vec::new());
        for batch in group {
            assert!(batch.lsn > tip.lsn, "commits come in the order of their LSNs");
            puts.extend(batch.puts);
            puts.extend(batch.blind);
            tallies.extend(batch.tallies);
            sealed.clear();
            for (number, line) in batch.log.into_iter().enumerate() {
                let space = line.space;
                let (key, value, link) = self.links.seal(line, batch.lsn, number as u16, snapshot)?;
                puts.push(Put { space, key, value: Some(value) });
                sealed.push(link);
            }
            tip = tip.next(batch.lsn, &sealed);
        }
        puts.extend(self.tallies.changed(tallies, snapshot)?);
        let tip_row = Bytes::copy_from_slice(&tip.to_bytes());
        puts.push(Put { space: META, key: Bytes::from_static(Tip::KEY), value: Some(tip_row) });
        db.cache.change(&puts, tip.lsn);
        db.engine.write(puts, db.sync).inspect_err(|_| db.cache.clear(self.tip.lsn))?;
        self.tip = tip;
        db.publish(tip);
        Ok(())
    }
}

/// How many batches at the front of the group have conditions that hold, each on top of the ones
/// before it. A group has few distinct conditions, usually one per container, and each is looked up
/// once.
fn conditions_that_hold(group: &[StampedBatch], state: &dyn Read) -> Result<usize, Error> {
    let mut watched: Vec<&Condition> = group.iter().flat_map(|batch| &batch.conditions).collect();
    watched.sort_unstable();
    watched.dedup();
    let mut spaces = [false; Space::COUNT_MAX];
    watched.iter().for_each(|condition| spaces[condition.space.index()] = true);
    let mut newer = Overlay::default();
    let mut holds = vec![false; watched.len()];
    for (index, batch) in group.iter().enumerate() {
        for condition in &batch.conditions {
            let place = watched.partition_point(|other| *other < condition);
            if !holds[place] && !condition.holds(state, &newer)? {
                return Ok(index);
            }
            holds[place] = true;
        }
        for put in batch.puts.iter().filter(|put| spaces[put.space.index()]) {
            let is_about = |condition: &Condition| condition.space == put.space && condition.key == put.key;
            for (known, _) in holds.iter_mut().zip(&watched).filter(|(_, condition)| is_about(condition)) {
                *known = false;
                newer.put(put);
            }
        }
    }
    Ok(group.len())
}

fn outcomes(count: usize, good: usize) -> Vec<Outcome> {
    let outcome = |index: usize| match index.cmp(&good) {
        std::cmp::Ordering::Less => Outcome::Committed,
        std::cmp::Ordering::Equal => Outcome::Refused,
        std::cmp::Ordering::Greater => Outcome::Aborted,
    };
    (0..count).map(outcome).collect()
}

impl Snapshot {
    /// The newest commit in this snapshot.
    pub fn lsn(&self) -> Lsn {
        self.lsn
    }
}

impl Read for Snapshot {
    fn get(&self, space: Space, key: &[u8]) -> Result<Option<Bytes>, Error> {
        self.cache.get(space, key, &*self.view, self.lsn)
    }

    fn range(&self, space: Space, range: &KeyRange, order: Order) -> Rows<'_> {
        self.cache.range(space, range, order, &*self.view, self.lsn)
    }

    fn streams(&self, log: Space) -> Result<Vec<u64>, Error> {
        self.view.streams(log)
    }
}
