//! Reclaiming: chunks without references, files without chunks, and files that are mostly garbage.
//!
//! ```text
//! garbage   chunks whose references changed, on a snapshot: without any, the rows go       [`garbage`](crate::garbage)
//! files     quiet and without live chunks ─▶ barrier ─▶ still without ─▶ pins gone ─▶ removed
//! compact   live chunks of a file that is mostly garbage are copied to another             [`compact`](crate::compact)
//! ```
//!
//! *Quiet* means that nothing is in flight in a file and nothing will be. All transactions that add chunks in it were queued before
//! that was seen, because [`add`](crate::add) borrows what is in flight. A commit after it, the barrier, decides them; if no row
//! refers to the file then, none ever will. This also covers uploads that were never committed, and everything that a crash left.
//!
//! The newest file is removed only after a newer one was made, so that its number is never used again.

use crate::append_file::AppendFile;
use crate::chunks::{Inner, KnownFile};
use crate::row::{CHUNKS, LIVE_BYTES, Row, read_number};
use crate::{ChunkId, Chunks, Error, FileId, compact, garbage, row};
use orrery_kv::{Error as EngineError, Order, Read, Snapshot, Tally, Txn};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::Arc;

/// The transactions of the store, for a thread that may block. Commits take effect in the order in which they were queued.
pub trait Commits {
    type Error;

    /// The newest durable state.
    fn snapshot(&self) -> Arc<Snapshot>;

    /// Runs `body` as one transaction and returns when it is durable, and with it everything that was queued before. False if
    /// something that it requires does not hold. `body` may run more than once.
    fn commit(&self, body: &dyn Fn(&mut Txn<'_>)) -> Result<bool, Self::Error>;
}

#[derive(Debug, thiserror::Error)]
pub enum ReclaimError<E> {
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error(transparent)]
    Files(#[from] Error),
    /// A transaction failed.
    #[error("a step of reclaiming could not be committed: {0}")]
    Commit(E),
}

/// What a step did, or all since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reclaimed {
    /// Whether the next step has something to do at once.
    pub has_more: bool,
    pub chunks_removed: u64,
    pub files_removed: u64,
    /// Sizes of the files that were removed.
    pub bytes_freed: u64,
    /// Copied by compaction.
    pub bytes_moved: u64,
}

/// What reclaiming remembers between two steps.
#[derive(Default)]
pub(crate) struct Reclaimer {
    /// Where the pass over changed references goes on.
    pub cursor: Option<ChunkId>,
    /// Files that no row refers to any more, with the last epoch of their readers.
    pub retired: BTreeMap<FileId, u64>,
    /// Files with damage that compaction met: they stay as they are.
    pub damaged: BTreeSet<FileId>,
    /// Where live chunks are copied to.
    pub target: Option<Arc<AppendFile>>,
    /// What was known when there was nothing left to do.
    settled: Option<Activity>,
}

/// Changes when there may be something to do.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Activity {
    changes: u64,
    landed: u64,
}

impl Chunks {
    /// One step of reclaiming. A background job calls this every second or so, and at once while there is more.
    pub fn reclaim<C: Commits>(&self, commits: &C) -> Result<Reclaimed, ReclaimError<C::Error>> {
        let mut reclaimer = self.0.reclaimer();
        let activity = Activity { landed: self.0.landed(), changes: garbage::changes(&*commits.snapshot())? };
        if reclaimer.settled == Some(activity) {
            return Ok(Reclaimed::default());
        }
        reclaimer.settled = None;
        let mut step = Reclaimed::default();
        let done = self.0.step(&mut reclaimer, commits, &mut step);
        self.0.totals().add(&step);
        done?;
        if !step.has_more && reclaimer.retired.is_empty() {
            reclaimer.settled = Some(activity);
        }
        Ok(step)
    }
}

impl Inner {
    fn step<C: Commits>(
        self: &Arc<Self>,
        reclaimer: &mut Reclaimer,
        commits: &C,
        step: &mut Reclaimed,
    ) -> Result<(), ReclaimError<C::Error>> {
        garbage::remove(reclaimer, commits, step)?;
        self.retire_files(reclaimer, commits)?;
        self.remove_retired(reclaimer, step)?;
        compact::compact(self, reclaimer, commits, step)
    }

    /// Finds files that no row refers to and none will.
    fn retire_files<C: Commits>(
        &self,
        reclaimer: &mut Reclaimer,
        commits: &C,
    ) -> Result<(), ReclaimError<C::Error>> {
        let live = live_bytes(&*commits.snapshot())?;
        let known = self.known().clone();
        let newest = known.keys().next_back().copied();
        let is_unused = |(id, file): &(&FileId, &KnownFile)| {
            let keeps_number = file.is_empty() && newest == Some(**id);
            !live.contains_key(id) && !reclaimer.retired.contains_key(id) && !keeps_number
        };
        let quiet = known.iter().filter(is_unused).filter(|(_, file)| file.seal_if_quiet());
        let quiet: Vec<FileId> = quiet.map(|(id, _)| *id).collect();
        if quiet.is_empty() {
            return Ok(());
        }
        self.pool.tidy();
        let barrier = |txn: &mut Txn<'_>| txn.put(CHUNKS, Row::Barrier.key(), &b"\x01"[..]);
        if !commits.commit(&barrier).map_err(ReclaimError::Commit)? {
            return Ok(());
        }
        let live = live_bytes(&*commits.snapshot())?;
        let epoch = self.pins.advance();
        let unreferenced = quiet.into_iter().filter(|id| !live.contains_key(id));
        reclaimer.retired.extend(unreferenced.map(|id| (id, epoch)));
        Ok(())
    }

    /// Removes retired files whose readers are gone.
    fn remove_retired(
        self: &Arc<Self>,
        reclaimer: &mut Reclaimer,
        step: &mut Reclaimed,
    ) -> Result<(), Error> {
        let gone: Vec<FileId> = reclaimer
            .retired
            .iter()
            .filter(|(_, epoch)| self.pins.are_gone(**epoch))
            .map(|(id, _)| *id)
            .collect();
        for id in gone {
            let is_newest = self.known().keys().next_back() == Some(&id);
            if is_newest {
                drop(self.make_file()?);
            }
            self.readers.close(id);
            // An open file would keep its space.
            reclaimer.target = reclaimer.target.take().filter(|target| target.id != id);
            match self.files.remove(id) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(Error::unavailable(&error));
                }
                _ => {}
            }
            reclaimer.retired.remove(&id);
            reclaimer.damaged.remove(&id);
            let removed = self.known().remove(&id);
            step.files_removed += 1;
            step.bytes_freed += removed.map_or(0, |file| file.bytes());
        }
        Ok(())
    }
}

/// Bytes that rows refer to, of each file that has any.
pub(crate) fn live_bytes(state: &dyn Read) -> Result<BTreeMap<FileId, u64>, EngineError> {
    let rows = state.range(CHUNKS, &row::live(), Order::Ascending);
    let read = rows.map(|row| {
        let (key, value) = row?;
        Ok((FileId(read_number(&key)?), Tally::read(&value)?.get(LIVE_BYTES)))
    });
    read.collect()
}

impl Reclaimed {
    fn add(&mut self, step: &Self) {
        self.chunks_removed += step.chunks_removed;
        self.files_removed += step.files_removed;
        self.bytes_freed += step.bytes_freed;
        self.bytes_moved += step.bytes_moved;
    }
}
