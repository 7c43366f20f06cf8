//! The fjall keyspaces of each space, as its spec asks for.
//!
//! ```text
//! ordered by key      name
//! sorted runs         name, and another keyspace where the runs are until they are flushed
//! ordered by commit   name0 … name15, a ring of segments
//! ```
//!
//! Rows of a space that is ordered by commit never move: new files do not overlap old ones, so fjall seldom compacts them,
//! and what is removed is given back only when its file is compacted. [`compaction`](crate::compaction) does that, and a keyspace
//! takes no new files meanwhile. So such a space is a ring of [segments](crate::segments), and the current one is left alone.
//!
//! A keyspace is created with its first row. So a folder that was made with fewer spaces needs no change, and a keyspace of
//! no declared space means that another build stored rows that this one would overlook.
//!
//! Before format 5 a log was one keyspace, without a number. It is read as long as it has any rows, and gets no new ones.

use bytes::Bytes;
use fjall::compaction::Leveled;
use fjall::config::{BlockSizePolicy, CompressionPolicy};
use fjall::{CompressionType, Database, Keyspace, KeyspaceCreateOptions, Readable, Snapshot};
use orrery_core::Lsn;
use orrery_kv::{
    Compression, Error, KeyRange, Layout, LogRecord, META, Memtable, Order, Row, Rows, Space, SpaceSet,
    SpaceSpec, Tip,
};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use crate::engine::{opening, reading};
use crate::memtables;
use crate::segments::{SEGMENT_SLOTS, Segment, Span, lsn_of};

/// Position of a keyspace among all that the declared spaces may have.
pub type KeyspaceId = usize;

/// What a keyspace has of its space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Its rows.
    Rows,
    /// The newest rows, until they are flushed to the keyspace before it.
    Runs,
    /// The rows of every sixteenth segment.
    Segment { slot: usize },
    /// The log of a folder of a format before 5.
    UnsegmentedLog,
}

/// A space of which the newest rows are sorted runs.
#[derive(Clone, Copy, Debug)]
pub struct RunSpace {
    pub space: Space,
    pub name: &'static str,
    pub files: KeyspaceId,
    pub runs: KeyspaceId,
}

/// A keyspace that a declared space may have.
struct Declared {
    spec: &'static SpaceSpec,
    part: Part,
    name: String,
    /// Empty until the first row.
    keyspace: OnceLock<Keyspace>,
}

/// Where the rows of a space are.
enum Placement {
    ByKey(KeyspaceId),
    ByCommit {
        lsn_at: usize,
        first: KeyspaceId,
        /// The log as it was before format 5, if any of that is left, and the newest commit in it.
        unsegmented: Option<(KeyspaceId, Lsn)>,
    },
}

/// Views hold them too and may outlive the engine, so the database itself is not among them.
pub struct Keyspaces {
    declared: Vec<Declared>,
    /// By the index of a space.
    placements: [Option<Placement>; Space::COUNT_MAX],
    /// By the index of a space: which of `run_spaces` it is.
    runs_of: [Option<usize>; Space::COUNT_MAX],
    run_spaces: Vec<RunSpace>,
    /// One more than the newest segment that was written to; 0 before the first write.
    newest_segment: AtomicU64,
}

impl Keyspaces {
    /// Refuses a database with keyspaces of no declared space.
    pub fn open(database: &Database, spaces: &'static SpaceSet) -> Result<Self, Error> {
        let mut keyspaces = Self {
            declared: Vec::new(),
            placements: std::array::from_fn(|_| None),
            runs_of: [None; Space::COUNT_MAX],
            run_spaces: Vec::new(),
            newest_segment: AtomicU64::new(0),
        };
        spaces.iter().for_each(|spec| keyspaces.declare(spec));
        keyspaces.refuse_undeclared(database)?;
        for id in keyspaces.ids() {
            if database.keyspace_exists(&keyspaces.declared[id].name) {
                keyspaces.open_or_create(database, id)?;
            }
        }
        keyspaces.find_unsegmented_logs(&database.snapshot())?;
        Ok(keyspaces)
    }

    fn declare(&mut self, spec: &'static SpaceSpec) {
        let placement = match spec.layout.lsn_at() {
            None => Placement::ByKey(self.add(spec, Part::Rows, spec.name.to_owned())),
            Some(lsn_at) => {
                let add = |slot| self.add(spec, Part::Segment { slot }, format!("{}{slot}", spec.name));
                let ids: [KeyspaceId; SEGMENT_SLOTS] = std::array::from_fn(add);
                if spec.layout == Layout::Log {
                    self.add(spec, Part::UnsegmentedLog, spec.name.to_owned());
                }
                Placement::ByCommit { lsn_at, first: ids[0], unsegmented: None }
            }
        };
        if let (Memtable::SortedRuns { name }, Placement::ByKey(files)) = (spec.memtable, &placement) {
            let (files, runs) = (*files, self.add(spec, Part::Runs, name.to_owned()));
            self.runs_of[spec.space.index()] = Some(self.run_spaces.len());
            self.run_spaces.push(RunSpace { space: spec.space, name: spec.name, files, runs });
        }
        self.placements[spec.space.index()] = Some(placement);
    }

    fn add(&mut self, spec: &'static SpaceSpec, part: Part, name: String) -> KeyspaceId {
        let is_free = self.declared.iter().all(|known| known.name != name);
        assert!(is_free, "two spaces have the name {name}");
        self.declared.push(Declared { spec, part, name, keyspace: OnceLock::new() });
        self.declared.len() - 1
    }

    fn refuse_undeclared(&self, database: &Database) -> Result<(), Error> {
        let is_declared = |name: &str| self.declared.iter().any(|known| known.name == name);
        let mut names = database.list_keyspace_names();
        names.retain(|name| !is_declared(name));
        names.sort_unstable();
        names.first().map_or(Ok(()), |name| Err(Error::UnknownSpace(name.to_string())))
    }

    fn find_unsegmented_logs(&mut self, snapshot: &Snapshot) -> Result<(), Error> {
        for id in self.ids() {
            let Declared { spec, part: Part::UnsegmentedLog, .. } = &self.declared[id] else { continue };
            let newest = self.get(id).map(|keyspace| newest_entry(snapshot, keyspace)).transpose()?.flatten();
            if let Some(Placement::ByCommit { unsegmented, .. }) = &mut self.placements[spec.space.index()] {
                *unsegmented = newest.map(|newest| (id, newest));
            }
        }
        Ok(())
    }

    /// All that there can be, whether or not they exist.
    pub fn ids(&self) -> std::ops::Range<KeyspaceId> {
        0..self.declared.len()
    }

    pub fn part(&self, id: KeyspaceId) -> Part {
        self.declared[id].part
    }

    /// The ring slot that a keyspace is, if it is one.
    pub fn ring_slot(&self, id: KeyspaceId) -> Option<usize> {
        match self.part(id) {
            Part::Segment { slot } => Some(slot),
            Part::Rows | Part::Runs | Part::UnsegmentedLog => None,
        }
    }

    /// Whether its rows are ordered by commit.
    pub fn is_by_commit(&self, id: KeyspaceId) -> bool {
        matches!(self.part(id), Part::Segment { .. } | Part::UnsegmentedLog)
    }

    pub fn run_spaces(&self) -> &[RunSpace] {
        &self.run_spaces
    }

    /// Which of the run spaces a space is, if it is one.
    pub fn runs_of(&self, space: Space) -> Option<usize> {
        self.runs_of[space.index()]
    }

    fn placement(&self, space: Space) -> &Placement {
        self.placements[space.index()].as_ref().expect("the space was declared when the engine was opened")
    }

    /// The keyspace of a row; for a run space, once it is flushed.
    pub fn locate(&self, space: Space, key: &[u8]) -> KeyspaceId {
        match self.placement(space) {
            Placement::ByKey(id) => *id,
            Placement::ByCommit { lsn_at, first, unsegmented } => {
                let lsn = lsn_of(key, *lsn_at).unwrap_or_default();
                match unsegmented {
                    Some((id, newest)) if lsn <= *newest => *id,
                    _ => first + Segment::of(lsn).slot(),
                }
            }
        }
    }

    /// Called before a commit is written: readers look no further than the newest segment.
    pub fn writes(&self, commit: Lsn) {
        self.newest_segment.fetch_max(Segment::of(commit).0 + 1, Ordering::AcqRel);
    }

    /// The newest commit according to the tip; after a loss there may be rows of later ones.
    pub fn newest_commit(&self) -> Result<Lsn, Error> {
        let meta = self.get(self.locate(META, Tip::KEY));
        let row = meta.map(|meta| meta.get(Tip::KEY)).transpose().map_err(reading)?.flatten();
        Ok(row.and_then(|row| Tip::from_bytes(&row)).map_or(Lsn(0), |tip| tip.lsn))
    }

    fn newest_segment(&self) -> Option<Segment> {
        self.newest_segment.load(Ordering::Acquire).checked_sub(1).map(Segment)
    }

    pub fn get(&self, id: KeyspaceId) -> Option<&Keyspace> {
        self.declared[id].keyspace.get()
    }

    /// Only one thread writes, so no two create one keyspace.
    pub fn open_or_create(&self, database: &Database, id: KeyspaceId) -> Result<&Keyspace, Error> {
        if let Some(known) = self.get(id) {
            return Ok(known);
        }
        let Declared { spec, part, name, keyspace } = &self.declared[id];
        let made = database.keyspace(name, || options(spec, *part)).map_err(opening)?;
        Ok(keyspace.get_or_init(|| made))
    }

    /// Those that exist.
    pub fn all(&self) -> impl Iterator<Item = (KeyspaceId, &Keyspace)> {
        self.ids().filter_map(|id| self.get(id).map(|keyspace| (id, keyspace)))
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
        match self.placement(space) {
            Placement::ByKey(id) => match self.get(*id) {
                Some(keyspace) => rows(snapshot, keyspace, range, order),
                None => Box::new(std::iter::empty()),
            },
            Placement::ByCommit { lsn_at, first, unsegmented } => {
                let ids = self.segments(range, *lsn_at, *first, *unsegmented);
                let keyspaces = ids.into_iter().filter_map(|id| self.get(id));
                merged(keyspaces.map(|keyspace| entries(snapshot, keyspace, range, order)), order)
            }
        }
    }

    /// The streams of a log, keyspace by keyspace: a scan over all of them at once would go through what was removed of one
    /// stream for each stream before it.
    pub fn streams(&self, snapshot: &Snapshot, log: Space) -> Result<Vec<u64>, Error> {
        let mut found = Vec::new();
        for (_, keyspace) in self.all().filter(|(id, _)| self.declared[*id].spec.space == log) {
            found.extend(streams(snapshot, keyspace)?);
        }
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }

    /// Where rows of a range can be.
    fn segments(
        &self,
        range: &KeyRange,
        lsn_at: usize,
        first: KeyspaceId,
        unsegmented: Option<(KeyspaceId, Lsn)>,
    ) -> Vec<KeyspaceId> {
        let (span, newest) = (Span::of(range, lsn_at), self.newest_segment());
        let unsegmented =
            unsegmented.filter(|(_, newest)| span.as_ref().is_none_or(|span| span.first <= *newest));
        let may_be = |slot: &usize| span.as_ref().is_none_or(|span| span.may_be_in(*slot, newest));
        let slots = (0..SEGMENT_SLOTS).filter(may_be).map(|slot| first + slot);
        unsegmented.map(|(id, _)| id).into_iter().chain(slots).collect()
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

/// A folder keeps the options that a keyspace was created with.
fn options(spec: &SpaceSpec, part: Part) -> KeyspaceCreateOptions {
    let options = KeyspaceCreateOptions::default()
        .max_memtable_size(memtables::FJALL_MEMTABLE_BYTES)
        .manual_journal_persist(true);
    if part == Part::Runs {
        return options;
    }
    let options = options
        .data_block_size_policy(BlockSizePolicy::all(spec.block_bytes))
        .compaction_strategy(Arc::new(Leveled::default().with_l0_threshold(spec.level_0_files)));
    match spec.compression {
        Compression::LowerLevels => options,
        Compression::AllLevels => {
            options.data_block_compression_policy(CompressionPolicy::all(CompressionType::Lz4))
        }
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
