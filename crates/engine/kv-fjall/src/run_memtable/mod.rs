//! A memtable of sorted runs, for spaces that get many small rows per commit.
//!
//! An item brings a dozen index rows, each to another place. A skip list is searched for each of
//! them, which took a third of a load's time. Here the rows of a commit are one sorted run, written
//! to the journal as one row of the keyspace `runs`. Runs of similar size are merged as they come,
//! and after some megabytes all of them become one file ([`flush`]). Readers lay the runs over the
//! files.
//!
//! ```text
//! runs:  mark                  the number of the newest run that is in a file
//!        generation | index    number of the run | its rows
//! ```
//!
//! Invariants: runs are numbered without gaps; those of a generation have the indexes from 0 on. A
//! generation begins when the one before it is flushed, and overwrites the runs of the generation
//! before that, which are in files and below the mark. So flushed runs need no removal, and the
//! keyspace stays as small as the two longest generations.

mod flush;
mod merge;
mod run;

pub use flush::{RunFlusher, has_many_files};
pub use run::Run;

use crate::engine::{reading, writing};
use bytes::{BufMut as _, Bytes};
use fjall::{Database, Keyspace, PersistMode};
use merge::MergeCursor;
use orrery_kv::{Error, KeyRange, Order, Rows, overlaid};
use run::Entry;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Runs are merged up to this size; a commit waits for the merge.
const MERGED_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Key of the mark; keys of runs begin with their generation, 0 or 1.
const MARK_KEY: [u8; 1] = [2];
const NUMBER_BYTES: usize = 8;
/// Rows that are overwritten again and again are merged into one each. This many times the
/// generation's size may have been written, all of which is read when the folder is opened.
const WRITTEN_GENERATIONS_MAX: usize = 2;

/// From the oldest to the newest.
type Runs = Arc<Vec<Arc<Run>>>;

pub struct RunMemtable {
    /// Locked by the writer, before `set`.
    position: Mutex<Position>,
    set: Mutex<RunSet>,
    /// Notified when a flush has finished or failed.
    flushed: Condvar,
    /// Approximate size of a generation.
    generation_bytes: usize,
}

struct RunSet {
    /// Of the space.
    name: &'static str,
    runs: Runs,
    /// How many of the oldest runs are being flushed, and the number of the newest of these.
    flushing: usize,
    flushing_until: u64,
    /// Why the last flush failed.
    failure: Option<String>,
    /// Of the runs that are not being flushed.
    bytes: usize,
}

/// Runs that are being flushed, and the number of the newest.
struct Flushing {
    runs: Vec<Arc<Run>>,
    until: u64,
}

/// Where the next run is written. Held by the writer, and by whoever begins a generation.
#[derive(Clone, Copy, Debug, Default)]
pub struct Position {
    generation: u8,
    index: u32,
    /// Of the newest run so far.
    number: u64,
    /// Bytes written in this generation.
    bytes: usize,
}

impl Position {
    pub fn key(&self) -> Bytes {
        Bytes::from([&[self.generation][..], &self.index.to_be_bytes()].concat())
    }

    /// The value under which a run is stored.
    pub fn value(&self, run: &Run) -> Bytes {
        let mut value = Vec::with_capacity(NUMBER_BYTES + run.bytes());
        value.put_u64(self.number + 1);
        value.extend_from_slice(run.rows());
        Bytes::from(value)
    }

    fn next(self, bytes: usize) -> Self {
        Self { index: self.index + 1, number: self.number + 1, bytes: self.bytes + bytes, ..self }
    }

    fn next_generation(self) -> Self {
        Self { generation: 1 - self.generation, index: 0, bytes: 0, ..self }
    }
}

/// The runs at one moment.
pub struct RunView(Runs);

impl RunView {
    /// `None`: no run has the key. `Some(None)`: it was removed.
    pub fn get(&self, key: &[u8]) -> Option<Option<Bytes>> {
        let found = self.0.iter().rev().find_map(|run| run.get(key))?;
        Some(found.map(Bytes::copy_from_slice))
    }

    /// The rows of a range with the runs laid over them.
    pub fn over<'a>(&'a self, under: Rows<'a>, range: &KeyRange, order: Order) -> Rows<'a> {
        // Copied, because a caller that keeps a row must not keep a whole run alive.
        let copied =
            |(key, value): Entry<'_>| (Bytes::copy_from_slice(key), value.map(Bytes::copy_from_slice));
        overlaid(under, MergeCursor::new(&self.0, range, order).map(copied), order)
    }
}

impl RunMemtable {
    /// With the runs that are not in a file yet. `accept_loss`: whether to open without those that
    /// are damaged or missing.
    pub fn open(
        database: &Database,
        name: &'static str,
        stored: Option<&Keyspace>,
        generation_bytes: usize,
        accept_loss: bool,
    ) -> Result<Self, Error> {
        let mut set = RunSet::new(name);
        let position = match stored {
            Some(stored) => set.read(database, stored, accept_loss)?,
            None => Position::default(),
        };
        Ok(Self {
            position: Mutex::new(position),
            set: Mutex::new(set),
            flushed: Condvar::new(),
            generation_bytes,
        })
    }

    /// Locked for a write or by an idle store.
    pub fn position(&self) -> MutexGuard<'_, Position> {
        self.position.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_full(&self, set: &RunSet, position: &Position) -> bool {
        set.bytes >= self.generation_bytes
            || position.bytes >= WRITTEN_GENERATIONS_MAX * self.generation_bytes
    }

    fn set(&self) -> MutexGuard<'_, RunSet> {
        self.set.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn view(&self) -> RunView {
        RunView(self.set().runs.clone())
    }

    pub fn bytes(&self) -> usize {
        self.set().runs.iter().map(|run| run.bytes()).sum()
    }

    /// Waits while both generations are full.
    pub fn wait_for_room(&self, position: &Position) -> Result<(), Error> {
        let mut set = self.set();
        while set.flushing > 0 && self.is_full(&set, position) {
            if let Some(failure) = &set.failure {
                let name = set.name;
                return Err(Error::Unavailable(format!(
                    "rows of {name} could not be written to a file: {failure}"
                )));
            }
            set = self.flushed.wait(set).unwrap_or_else(PoisonError::into_inner);
        }
        Ok(())
    }

    fn flushing(&self) -> Option<Flushing> {
        let set = self.set();
        let runs = set.runs[..set.flushing].to_vec();
        (!runs.is_empty()).then_some(Flushing { runs, until: set.flushing_until })
    }

    /// The flushed runs are in a file.
    fn finish_flush(&self) {
        self.set().finish_flush();
        self.flushed.notify_all();
    }

    /// The flush failed, for now.
    fn fail(&self, why: String) {
        self.set().failure = Some(why);
        self.flushed.notify_all();
    }

    /// Adds a run that was written at its position. Returns whether there is something to flush.
    pub fn add(&self, run: Run, position: &mut Position) -> bool {
        let mut set = self.set();
        *position = position.next(run.bytes());
        set.add(run);
        if set.flushing > 0 {
            return set.failure.is_some();
        }
        let is_full = self.is_full(&set, position);
        if is_full {
            set.begin_generation(position);
        }
        is_full
    }

    /// The store is idle: begins a flush if it is worth a file, and merges all runs into one
    /// otherwise. Returns whether there is something to flush.
    pub fn idle(&self, bytes_min: usize) -> bool {
        let mut position = self.position();
        let mut set = self.set();
        if set.flushing > 0 {
            return set.failure.is_some();
        }
        let is_worth = set.bytes >= bytes_min || self.is_full(&set, &position);
        if is_worth {
            set.begin_generation(&mut position);
        } else {
            set.merge_while(|_, _| true);
        }
        is_worth
    }
}

impl RunSet {
    fn new(name: &'static str) -> Self {
        Self { name, runs: Runs::default(), flushing: 0, flushing_until: 0, failure: None, bytes: 0 }
    }

    fn add(&mut self, run: Run) {
        self.bytes += run.bytes();
        Arc::make_mut(&mut self.runs).push(Arc::new(run));
        // So each row is copied once per doubling of its run.
        self.merge_while(|older, newer| {
            older.bytes() < 2 * newer.bytes() && older.bytes() + newer.bytes() <= MERGED_BYTES_MAX
        });
    }

    /// Merges the newest two runs, repeatedly.
    fn merge_while(&mut self, is_wanted: impl Fn(&Run, &Run) -> bool) {
        let runs = Arc::make_mut(&mut self.runs);
        while let [.., older, newer] = &runs[self.flushing..]
            && is_wanted(older, newer)
        {
            let merged = Run::merged(older, newer);
            // Older rows with the same key are gone.
            self.bytes -= older.bytes() + newer.bytes() - merged.bytes();
            runs.truncate(runs.len() - 2);
            runs.push(Arc::new(merged));
        }
    }

    fn begin_generation(&mut self, position: &mut Position) {
        self.flushing = self.runs.len();
        self.flushing_until = position.number;
        self.bytes = 0;
        *position = position.next_generation();
    }

    fn finish_flush(&mut self) {
        Arc::make_mut(&mut self.runs).drain(..self.flushing);
        self.flushing = 0;
        self.failure = None;
    }

    /// Loads what a stop left of the last two generations.
    fn read(&mut self, database: &Database, stored: &Keyspace, accept_loss: bool) -> Result<Position, Error> {
        let name = self.name;
        let mark = stored.get(MARK_KEY).map_err(reading)?;
        let marked = mark
            .map_or(Some(0), |mark| number(&mark))
            .ok_or_else(|| corrupt(name, "the mark of its runs"))?;
        let generation = |generation: u8| {
            generation_of(stored, name, generation, marked)
                .filter(|run| run.is_ok() || !accept_loss)
                .peekable()
        };
        let mut generations = [generation(0), generation(1)];
        let [first, second] = generations.each_mut().map(|generation| match generation.peek() {
            Some(Ok((number, _))) => *number,
            Some(Err(_)) | None => u64::MAX,
        });
        let mut position = Position { number: marked, ..Position::default() };
        let mut is_whole = true;
        for current in if first <= second { [0, 1] } else { [1, 0] } {
            // The older generation was being flushed if there is a newer one.
            if position.number > marked && generations[current].peek().is_some() {
                self.begin_generation(&mut position);
            }
            for run in generations[current].by_ref() {
                let (number, run) = run?;
                if number != position.number + 1 && !accept_loss {
                    return Err(corrupt(self.name, &format!("run {}", position.number + 1)));
                }
                is_whole &= number == position.number + 1;
                position = Position { generation: current as u8, number, ..position.next(run.bytes()) };
                self.add(run);
            }
        }
        if is_whole { Ok(position) } else { self.close_gaps(position.number, database, stored) }
    }

    /// Merges what is left into one run, as a generation of its own.
    fn close_gaps(&mut self, newest: u64, database: &Database, stored: &Keyspace) -> Result<Position, Error> {
        self.bytes += self.runs[..self.flushing].iter().map(|run| run.bytes()).sum::<usize>();
        self.flushing = 0;
        self.merge_while(|_, _| true);
        let mut position = Position { number: newest, ..Position::default() };
        let mut batch = database.batch();
        batch.insert(stored, MARK_KEY, newest.to_be_bytes());
        if let Some(run) = self.runs.first() {
            batch.insert(stored, position.key(), position.value(run));
            position = position.next(run.bytes());
        }
        batch.durability(Some(PersistMode::SyncData)).commit().map_err(writing)?;
        Ok(position)
    }
}

type Numbered = (u64, Run);

/// The runs of a generation that are not in a file, in order.
fn generation_of(
    stored: &Keyspace,
    name: &'static str,
    generation: u8,
    marked: u64,
) -> impl Iterator<Item = Result<Numbered, Error>> {
    let runs = stored.prefix([generation]).map(|row| {
        let value = Bytes::from(row.value().map_err(reading)?);
        let number = number(&value).ok_or_else(|| corrupt(name, "a run's number"))?;
        Ok((number, value))
    });
    // The rest belongs to the generation before last.
    let runs = runs.take_while(move |run| !matches!(run, Ok((number, _)) if *number <= marked));
    runs.map(|run| {
        let (number, value) = run?;
        let run = Run::read(value.slice(NUMBER_BYTES..));
        Ok((number, run.ok_or_else(|| corrupt(name, &format!("run {number}")))?))
    })
}

fn number(value: &[u8]) -> Option<u64> {
    value.first_chunk().map(|number| u64::from_be_bytes(*number))
}

fn corrupt(name: &str, what: &str) -> Error {
    Error::Corrupt(format!("the newest rows of {name} cannot be read: {what} is damaged or missing"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fjall::KeyspaceCreateOptions;

    const GENERATION_BYTES: usize = 1 << 20;

    fn run(number: u64) -> Run {
        let key = Bytes::copy_from_slice(&number.to_be_bytes());
        Run::of(&[orrery_kv::Put { space: orrery_kv::contract::INDEX, key, value: Some(Bytes::new()) }])
    }

    /// Writes one more run, as the engine does.
    fn write(memtable: &RunMemtable, stored: &Keyspace) {
        let mut position = memtable.position();
        let run = run(position.number + 1);
        stored.insert(position.key(), position.value(&run)).expect("written");
        memtable.add(run, &mut position);
    }

    fn numbers(memtable: &RunMemtable) -> (Vec<u64>, Vec<u64>) {
        let set = memtable.set();
        let of = |runs: &[Arc<Run>]| {
            let entries = MergeCursor::new(runs, &KeyRange::all(), Order::Ascending);
            entries.filter_map(|(key, _)| number(key)).collect()
        };
        (of(&set.runs[..set.flushing]), of(&set.runs[set.flushing..]))
    }

    /// Stopped before, during and after the flush of a generation, in either one.
    #[test]
    fn after_a_restart_runs_are_where_they_were() {
        let folder = tempfile::tempdir().expect("a folder");
        let database = Database::builder(folder.path()).open().expect("opened");
        let stored = database.keyspace("runs", KeyspaceCreateOptions::default).expect("made");
        let memtable =
            RunMemtable::open(&database, "index", Some(&stored), GENERATION_BYTES, false).expect("opened");
        let check = |memtable: &RunMemtable| {
            let again = RunMemtable::open(&database, "index", Some(&stored), GENERATION_BYTES, false)
                .expect("opened");
            let (position, found) = (*memtable.position(), *again.position());
            assert_eq!(numbers(&again), numbers(memtable));
            // A generation without runs may begin anywhere.
            if !numbers(memtable).1.is_empty() {
                assert_eq!(
                    (found.generation, found.index, found.number),
                    (position.generation, position.index, position.number)
                );
            }
            assert_eq!(found.number, position.number);
            let until = |set: &RunSet| (set.flushing > 0).then_some(set.flushing_until);
            assert_eq!(until(&again.set()), until(&memtable.set()));
        };
        for runs in [5, 3, 4, 1] {
            (0..runs).for_each(|_| write(&memtable, &stored));
            check(&memtable);
            assert!(memtable.idle(1));
            write(&memtable, &stored);
            check(&memtable);
            write(&memtable, &stored);
            check(&memtable);
            let until = memtable.flushing().expect("a generation").until;
            stored.insert(MARK_KEY, until.to_be_bytes()).expect("marked");
            memtable.finish_flush();
            check(&memtable);
        }
    }
}
