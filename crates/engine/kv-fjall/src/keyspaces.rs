//! The keyspaces that the spaces are in: one each, but sixteen for texts and sixteen for the log; and one for the newest rows
//! of the index.
//!
//! Texts, and the log entries of a container, lie in the order of commits: files of one container do not overlap, and fjall
//! seldom merges them; and what is removed is given back only when its file is merged. We order that ourselves ([`gather`](crate::gather)), and while a
//! keyspace is merged it takes no new files. So commits take [turns](crate::turns) with the keyspaces of each, and the
//! one whose turn it is is left alone.
//!
//! Before format 5 the log was one keyspace. It is read as long as it has any rows, and gets no new ones.

use bytes::Bytes;
use fjall::compaction::Leveled;
use fjall::config::{BlockSizePolicy, CompressionPolicy};
use fjall::{CompressionType, Database, Keyspace, KeyspaceCreateOptions, Readable, Snapshot};
use orrery_core::Lsn;
use orrery_kv::{Error, KeyRange, LogRecord, Order, Row, Rows, Space, Tip};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use crate::engine::{opening, reading};
use crate::memtables;
use crate::segments::{SEGMENT_SLOTS, Segment, Span, lsn_of_entry};

/// Documents are read one by one and in scans. A scan pays for each block it enters, and one of 4 KB holds three
/// or four documents; with twice the size it takes a tenth less time, and a single read no more. A folder keeps
/// the size it was made with.
const DOCUMENTS_BLOCK_BYTES: u32 = 8 * 1024;
/// Files of documents, and of the index, that wait to be merged with the others while there is a load. With four each, as fjall
/// has it, a load writes more and takes longer. A document is looked for only in files whose filter may have it, and
/// the index is merged further when nobody writes ([`recent`](crate::recent)). A folder keeps this too.
const DOCUMENTS_UNMERGED: u8 = 8;
const INDEX_UNMERGED: u8 = 6;
/// Which of the keyspaces: that of a space, or a slice of texts or of the log.
pub type KeyspaceId = usize;

/// Where the log was before format 5.
pub const UNSEGMENTED_LOG: KeyspaceId = Space::Log as usize;
/// The first slice of texts; the keyspaces of the other spaces come before.
const TEXTS: KeyspaceId = Space::Texts as usize;
/// The first slice of the log.
const LOG: KeyspaceId = TEXTS + SEGMENT_SLOTS;
/// Where the newest rows of the index are, as [`recent`](crate::recent) writes them.
pub const RUNS: KeyspaceId = LOG + SEGMENT_SLOTS;
/// Every keyspace there can be.
pub const KEYSPACE_IDS: usize = RUNS + 1;

/// Which slice a place is, of texts or of the log, if it is one.
pub fn ring_slot(id: KeyspaceId) -> Option<usize> {
    (TEXTS..RUNS).contains(&id).then(|| (id - TEXTS) % SEGMENT_SLOTS)
}

/// Whether rows lie there in the order of commits.
pub fn is_segmented(id: KeyspaceId) -> bool {
    ring_slot(id).is_some() || id == UNSEGMENTED_LOG
}

/// Views have them too and may outlive the engine, so the database itself is not among them.
pub struct Keyspaces {
    /// Slices are made when something comes to them, and the one for runs with the first row of the index.
    keyspaces: [OnceLock<Keyspace>; KEYSPACE_IDS],
    /// The newest commit of the log as it was before format 5, if any of that is left.
    unsegmented_log: Option<Lsn>,
    /// One more than the newest turn that was written in; 0 while nobody has written.
    newest_segment: AtomicU64,
}

impl Keyspaces {
    pub fn open(database: &Database) -> Result<Self, Error> {
        let keyspaces = std::array::from_fn(|_| OnceLock::new());
        let mut keyspaces = Self { keyspaces, unsegmented_log: None, newest_segment: AtomicU64::new(0) };
        for id in 0..KEYSPACE_IDS {
            if id < TEXTS || database.keyspace_exists(&name(id)) {
                keyspaces.open_or_create(database, id)?;
            }
        }
        let snapshot = database.snapshot();
        let unsegmented_log =
            keyspaces.get(UNSEGMENTED_LOG).map(|keyspace| newest_entry(&snapshot, keyspace)).transpose()?;
        keyspaces.unsegmented_log = unsegmented_log.flatten();
        Ok(keyspaces)
    }

    /// Where the row of a key is; of the index, when it is in a file.
    pub fn locate(&self, space: Space, key: &[u8]) -> KeyspaceId {
        match space {
            Space::Texts => TEXTS + Segment::of_text(key).slot(),
            Space::Log if self.unsegmented_log.is_some() && lsn_of_entry(key) <= self.unsegmented_log => {
                UNSEGMENTED_LOG
            }
            Space::Log => LOG + Segment::of_entry(key).slot(),
            Space::Meta | Space::Documents | Space::Index => space as usize,
        }
    }

    /// Before a commit is written: those who read on from somewhere look no further than the newest turn.
    pub fn writes(&self, commit: Lsn) {
        self.newest_segment.fetch_max(Segment::of(commit).0 + 1, Ordering::AcqRel);
    }

    /// The newest commit as the tip says it; after a loss there may be rows of later ones.
    pub fn newest_commit(&self) -> Result<Lsn, Error> {
        let meta = self.get(Space::Meta as usize);
        let row = meta.map(|meta| meta.get(Tip::KEY)).transpose().map_err(reading)?.flatten();
        Ok(row.and_then(|row| Tip::from_bytes(&row)).map_or(Lsn(0), |tip| tip.lsn))
    }

    fn newest_segment(&self) -> Option<Segment> {
        self.newest_segment.load(Ordering::Acquire).checked_sub(1).map(Segment)
    }

    pub fn get(&self, id: KeyspaceId) -> Option<&Keyspace> {
        self.keyspaces[id].get()
    }

    /// The same, made if it is not there. Only one thread writes.
    pub fn open_or_create(&self, database: &Database, id: KeyspaceId) -> Result<&Keyspace, Error> {
        if let Some(known) = self.get(id) {
            return Ok(known);
        }
        let made = database.keyspace(&name(id), || options(id)).map_err(opening)?;
        Ok(self.keyspaces[id].get_or_init(|| made))
    }

    /// Those that are there.
    pub fn all(&self) -> impl Iterator<Item = (KeyspaceId, &Keyspace)> {
        (0..KEYSPACE_IDS).filter_map(|id| self.get(id).map(|keyspace| (id, keyspace)))
    }

    /// Those that lie in the order of commits.
    pub fn segmented(&self) -> impl Iterator<Item = (KeyspaceId, &Keyspace)> {
        self.all().filter(|(id, _)| is_segmented(*id))
    }

    pub fn range<'a>(
        &'a self,
        snapshot: &'a Snapshot,
        space: Space,
        range: &KeyRange,
        order: Order,
    ) -> Rows<'a> {
        if range.is_empty() {
            return Box::new(std::iter::empty());
        }
        match space {
            Space::Texts => {
                let slots = (TEXTS..LOG).filter_map(|id| self.get(id));
                merged(slots.map(|slot| rows(snapshot, slot, range, order)), order)
            }
            Space::Log => {
                let ids = self.keyspaces_of(range).into_iter().filter_map(|id| self.get(id));
                merged(ids.map(|keyspace| entries(snapshot, keyspace, range, order)), order)
            }
            Space::Meta | Space::Documents | Space::Index => match self.get(space as usize) {
                Some(keyspace) => rows(snapshot, keyspace, range, order),
                None => Box::new(std::iter::empty()),
            },
        }
    }

    /// The streams of the log, slice by slice: a walk over all of them at once would go through what was removed of one stream
    /// for each stream before it.
    pub fn streams(&self, snapshot: &Snapshot) -> Result<Vec<u64>, Error> {
        let mut found = Vec::new();
        for (_, keyspace) in self.segmented().filter(|(id, _)| *id == UNSEGMENTED_LOG || *id >= LOG) {
            found.extend(streams(snapshot, keyspace)?);
        }
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }

    /// Where log entries of these keys can be.
    fn keyspaces_of(&self, range: &KeyRange) -> Vec<KeyspaceId> {
        let (span, newest) = (Span::of(range), self.newest_segment());
        let is_old =
            self.unsegmented_log.is_some_and(|old| span.as_ref().is_none_or(|span| span.first <= old));
        let may_be = |slot: &usize| span.as_ref().is_none_or(|span| span.may_be_in(*slot, newest));
        let slots = (0..SEGMENT_SLOTS).filter(may_be).map(|slot| LOG + slot);
        is_old.then_some(UNSEGMENTED_LOG).into_iter().chain(slots).collect()
    }
}

/// The newest commit that a keyspace has an entry of, in any stream.
fn newest_entry(snapshot: &Snapshot, keyspace: &Keyspace) -> Result<Option<Lsn>, Error> {
    let mut newest = None;
    for stream in streams(snapshot, keyspace)? {
        let all = LogRecord::range(stream, Lsn(0));
        if let Some(last) = entries(snapshot, keyspace, &all, Order::Descending).next() {
            newest = newest.max(Some(LogRecord::read(&last?)?.lsn));
        }
    }
    Ok(newest)
}

/// The streams that a keyspace has entries of.
fn streams(snapshot: &Snapshot, keyspace: &Keyspace) -> Result<Vec<u64>, Error> {
    LogRecord::streams(|range| entries(snapshot, keyspace, range, Order::Ascending).next())
}

fn name(id: KeyspaceId) -> String {
    match id {
        RUNS => "runs".to_owned(),
        LOG.. => format!("{}{}", Space::Log.name(), id - LOG),
        TEXTS.. => format!("{}{}", Space::Texts.name(), id - TEXTS),
        _ => Space::ALL[id].name().to_owned(),
    }
}

fn options(id: KeyspaceId) -> KeyspaceCreateOptions {
    let options = KeyspaceCreateOptions::default()
        .max_memtable_size(memtables::FJALL_MEMTABLE_BYTES)
        .manual_journal_persist(true);
    let merging = |files| Arc::new(Leveled::default().with_l0_threshold(files));
    if id == Space::Documents as usize {
        let blocks = BlockSizePolicy::all(DOCUMENTS_BLOCK_BYTES);
        options.data_block_size_policy(blocks).compaction_strategy(merging(DOCUMENTS_UNMERGED))
    } else if id == Space::Index as usize {
        options.compaction_strategy(merging(INDEX_UNMERGED))
    } else if (TEXTS..LOG).contains(&id) {
        // Files of texts go down the levels as they are, so they are compressed when they are written, or never.
        options.data_block_compression_policy(CompressionPolicy::all(CompressionType::Lz4))
    } else {
        options
    }
}

fn rows<'a>(snapshot: &'a Snapshot, keyspace: &'a Keyspace, range: &KeyRange, order: Order) -> Rows<'a> {
    // Only the end that the walk begins at is given to fjall, which would look for the other one in every block.
    match (order, &range.end) {
        (Order::Ascending, None) => Box::new(snapshot.range(keyspace, range.start.as_slice()..).map(row)),
        (Order::Ascending, Some(end)) => {
            let rows = snapshot.range(keyspace, range.start.as_slice()..).map(row);
            let end = end.clone();
            Box::new(rows.take_while(move |row| key(row).is_none_or(|key| key < end.as_slice())))
        }
        (Order::Descending, end) => {
            let rows = match end {
                Some(end) => snapshot.range(keyspace, ..end.as_slice()),
                None => snapshot.range::<&[u8], _>(keyspace, ..),
            };
            let start = range.start.clone();
            let rows = rows.rev().map(row);
            Box::new(rows.take_while(move |row| key(row).is_none_or(|key| key >= start.as_slice())))
        }
    }
}

/// Both ends are given to fjall. What was trimmed is there until its file is merged, and a walk that knows no end would go
/// through all of it behind a commit that has nothing left.
fn entries<'a>(snapshot: &'a Snapshot, keyspace: &'a Keyspace, range: &KeyRange, order: Order) -> Rows<'a> {
    let start = range.start.as_slice();
    let found = match &range.end {
        Some(end) => snapshot.range(keyspace, start..end.as_slice()),
        None => snapshot.range(keyspace, start..),
    };
    match order {
        Order::Ascending => Box::new(found.map(row)),
        Order::Descending => Box::new(found.rev().map(row)),
    }
}

/// Of a row that could be read.
fn key(row: &Result<Row, Error>) -> Option<&[u8]> {
    row.as_ref().ok().map(|(key, _)| key.as_ref())
}

fn row(guard: fjall::Guard) -> Result<Row, Error> {
    let (key, value) = guard.into_inner().map_err(reading)?;
    Ok((Bytes::from(key), Bytes::from(value)))
}

/// The rows of several in one order.
fn merged<'a>(each: impl Iterator<Item = Rows<'a>>, order: Order) -> Rows<'a> {
    let mut slots: Vec<_> = each.filter_map(|mut rest| rest.next().map(|first| (first, rest))).collect();
    match slots.pop() {
        None => Box::new(std::iter::empty()),
        Some((first, rest)) if slots.is_empty() => Box::new(std::iter::once(first).chain(rest)),
        Some(last) => {
            slots.push(last);
            Box::new(Merged { slots, order })
        }
    }
}

/// What could not be read comes first.
struct Merged<'a> {
    /// The first row of each that has any left, and the rest.
    slots: Vec<(Result<Row, Error>, Rows<'a>)>,
    order: Order,
}

impl Iterator for Merged<'_> {
    type Item = Result<Row, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let (at, _) = self.slots.iter().enumerate().min_by(|(_, (one, _)), (_, (other, _))| {
            match (key(one), key(other), self.order) {
                (Some(one), Some(other), Order::Ascending) => one.cmp(other),
                (Some(one), Some(other), Order::Descending) => other.cmp(one),
                (one, other, _) => one.is_some().cmp(&other.is_some()),
            }
        })?;
        let (first, rest) = &mut self.slots[at];
        match rest.next() {
            Some(next) => Some(std::mem::replace(first, next)),
            None => Some(self.slots.swap_remove(at).0),
        }
    }
}
