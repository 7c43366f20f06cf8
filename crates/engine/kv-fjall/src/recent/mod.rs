//! The newest rows of the index, as runs in memory.
//!
//! An item brings a dozen rows of the index, each to another place; a list that is kept in order is searched for each of
//! them, and that was a third of a load's time. A commit's rows of the index are now one sorted run, written to the journal as one
//! row of the keyspace `runs`. Runs of like size are merged as they come, and when there are some megabytes all of them become
//! a file of the index ([`spill`]). Who reads the index lays them over what is in its files.
//!
//! ```text
//! runs:  mark              the number of the newest run that is in a file
//!        turn | place      number of the run | its rows
//! ```
//!
//! Invariants: runs are numbered without gaps; those of one turn lie at the places from 0 on; a turn begins when the
//! one before it is spilled, and writes over the runs of the turn before that, which are in files and marked so. So what is
//! in a file needs no removal, and the keyspace stays as small as the two longest turns.

mod merge;
mod run;
mod spill;

pub use run::Run;
pub use spill::{Spiller, has_many_files};

use crate::engine::{reading, writing};
use bytes::{BufMut as _, Bytes};
use fjall::{Database, Keyspace, PersistMode};
use merge::Entries;
use orrery_kv::{Error, KeyRange, Order, Put, Rows, overlaid};
use run::Entry;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Runs are merged up to this size; a commit waits for it.
const MERGED_BYTES_MAX: usize = 4 * 1024 * 1024;
/// The mark's key; those of runs begin with their turn, 0 or 1.
const MARK_KEY: [u8; 1] = [2];
const NUMBER_BYTES: usize = 8;
/// Rows that are written again and again are merged into one each; what was written of them in a turn, and is read when
/// the folder is opened, may be so many times the turn.
const WRITTEN_MAX: usize = 2;

/// From the oldest to the newest.
type Runs = Arc<Vec<Arc<Run>>>;

pub struct Recent {
    /// Held by who writes, before the shelf.
    slot: Mutex<Slot>,
    shelf: Mutex<Shelf>,
    /// Told when runs have left the shelf, or could not.
    left: Condvar,
    /// A turn has about so many bytes.
    turn_bytes: usize,
}

#[derive(Default)]
struct Shelf {
    runs: Runs,
    /// How many of the oldest are on their way to a file, and the number of the newest of these.
    leaving: usize,
    leaving_until: u64,
    /// Why they are not there yet.
    failure: Option<String>,
    /// Of those that stay.
    bytes: usize,
}

/// Runs on their way to a file, and the number of the newest.
struct Leaving {
    runs: Vec<Arc<Run>>,
    until: u64,
}

/// Where the next run is written to. Whoever writes holds it, and so does who begins a turn.
#[derive(Clone, Copy, Debug, Default)]
pub struct Slot {
    turn: u8,
    place: u32,
    /// Of the newest run so far.
    number: u64,
    /// What was written in this turn.
    bytes: usize,
}

impl Slot {
    pub fn key(&self) -> Bytes {
        Bytes::from([&[self.turn][..], &self.place.to_be_bytes()].concat())
    }

    /// The value for the run.
    pub fn value(&self, run: &Run) -> Bytes {
        let mut value = Vec::with_capacity(NUMBER_BYTES + run.bytes());
        value.put_u64(self.number + 1);
        value.extend_from_slice(run.rows());
        Bytes::from(value)
    }

    fn next(self, bytes: usize) -> Self {
        Self { place: self.place + 1, number: self.number + 1, bytes: self.bytes + bytes, ..self }
    }

    fn next_turn(self) -> Self {
        Self { turn: 1 - self.turn, place: 0, bytes: 0, ..self }
    }
}

/// The runs at one moment.
pub struct RecentView(Runs);

impl RecentView {
    /// `None`: nothing is known here of this key. `Some(None)`: it is gone.
    pub fn get(&self, key: &[u8]) -> Option<Option<Bytes>> {
        let found = self.0.iter().rev().find_map(|run| run.get(key))?;
        Some(found.map(Bytes::copy_from_slice))
    }

    /// The rows of a range as they look under the runs.
    pub fn over<'a>(&'a self, under: Rows<'a>, range: &KeyRange, order: Order) -> Rows<'a> {
        // Copied, as whoever keeps a row should not keep a run.
        let copied =
            |(key, value): Entry<'_>| (Bytes::copy_from_slice(key), value.map(Bytes::copy_from_slice));
        overlaid(under, Entries::new(&self.0, range, order).map(copied), order)
    }
}

impl Recent {
    /// With the runs that are not in a file yet. `accept_loss`: whether to go on without those that are damaged or missing.
    pub fn open(
        database: &Database,
        stored: Option<&Keyspace>,
        turn_bytes: usize,
        accept_loss: bool,
    ) -> Result<Self, Error> {
        let mut shelf = Shelf::default();
        let slot = match stored {
            Some(stored) => shelf.read(database, stored, accept_loss)?,
            None => Slot::default(),
        };
        Ok(Self { slot: Mutex::new(slot), shelf: Mutex::new(shelf), left: Condvar::new(), turn_bytes })
    }

    /// For a write, or a rest: one at a time.
    pub fn slot(&self) -> MutexGuard<'_, Slot> {
        self.slot.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_full(&self, shelf: &Shelf, slot: &Slot) -> bool {
        shelf.bytes >= self.turn_bytes || slot.bytes >= WRITTEN_MAX * self.turn_bytes
    }

    fn shelf(&self) -> MutexGuard<'_, Shelf> {
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn view(&self) -> RecentView {
        RecentView(self.shelf().runs.clone())
    }

    pub fn bytes(&self) -> usize {
        self.shelf().runs.iter().map(|run| run.bytes()).sum()
    }

    /// Waits while there is more than two turns may have.
    pub fn wait_for_room(&self, slot: &Slot) -> Result<(), Error> {
        let mut shelf = self.shelf();
        while shelf.leaving > 0 && self.is_full(&shelf, slot) {
            if let Some(failure) = &shelf.failure {
                return Err(Error::Unavailable(format!(
                    "the index could not be written to a file: {failure}"
                )));
            }
            shelf = self.left.wait(shelf).unwrap_or_else(PoisonError::into_inner);
        }
        Ok(())
    }

    fn leaving(&self) -> Option<Leaving> {
        let shelf = self.shelf();
        let runs = shelf.runs[..shelf.leaving].to_vec();
        (!runs.is_empty()).then_some(Leaving { runs, until: shelf.leaving_until })
    }

    /// What was leaving is in a file.
    fn leave(&self) {
        self.shelf().leave();
        self.left.notify_all();
    }

    /// What leaves does not get to a file, for now.
    fn fail(&self, why: String) {
        self.shelf().failure = Some(why);
        self.left.notify_all();
    }

    /// Takes a run that was written to its slot. Says whether there is something to spill.
    pub fn add(&self, run: Run, slot: &mut Slot) -> bool {
        let mut shelf = self.shelf();
        *slot = slot.next(run.bytes());
        shelf.add(run);
        if shelf.leaving > 0 {
            return shelf.failure.is_some();
        }
        let is_full = self.is_full(&shelf, slot);
        if is_full {
            shelf.begin_turn(slot);
        }
        is_full
    }

    /// Nobody writes: what is worth a file goes to one, and what is not becomes one run. Says whether there is something to
    /// spill.
    pub fn rest(&self, bytes_min: usize) -> bool {
        let mut slot = self.slot();
        let mut shelf = self.shelf();
        if shelf.leaving > 0 {
            return shelf.failure.is_some();
        }
        let is_worth = shelf.bytes >= bytes_min || self.is_full(&shelf, &slot);
        if is_worth {
            shelf.begin_turn(&mut slot);
        } else {
            shelf.merge_while(|_, _| true);
        }
        is_worth
    }
}

impl Shelf {
    fn add(&mut self, run: Run) {
        self.bytes += run.bytes();
        Arc::make_mut(&mut self.runs).push(Arc::new(run));
        // So each row is copied once for every doubling of its run.
        self.merge_while(|older, newer| {
            older.bytes() < 2 * newer.bytes() && older.bytes() + newer.bytes() <= MERGED_BYTES_MAX
        });
    }

    /// Makes one run of the newest two, again and again.
    fn merge_while(&mut self, is_wanted: impl Fn(&Run, &Run) -> bool) {
        let runs = Arc::make_mut(&mut self.runs);
        while let [.., older, newer] = &runs[self.leaving..]
            && is_wanted(older, newer)
        {
            let merged = Run::merged(older, newer);
            // Of rows with one key the older are gone.
            self.bytes -= older.bytes() + newer.bytes() - merged.bytes();
            runs.truncate(runs.len() - 2);
            runs.push(Arc::new(merged));
        }
    }

    fn begin_turn(&mut self, slot: &mut Slot) {
        self.leaving = self.runs.len();
        self.leaving_until = slot.number;
        self.bytes = 0;
        *slot = slot.next_turn();
    }

    fn leave(&mut self) {
        Arc::make_mut(&mut self.runs).drain(..self.leaving);
        self.leaving = 0;
        self.failure = None;
    }

    /// Takes what a stop left of the last two turns.
    fn read(&mut self, database: &Database, stored: &Keyspace, accept_loss: bool) -> Result<Slot, Error> {
        let mark = stored.get(MARK_KEY).map_err(reading)?;
        let marked =
            mark.map_or(Some(0), |mark| number(&mark)).ok_or_else(|| corrupt("the mark of its runs"))?;
        let turn =
            |turn: u8| turn_of(stored, turn, marked).filter(|run| run.is_ok() || !accept_loss).peekable();
        let mut turns = [turn(0), turn(1)];
        let [first, second] = turns.each_mut().map(|turn| match turn.peek() {
            Some(Ok((number, _))) => *number,
            Some(Err(_)) | None => u64::MAX,
        });
        let mut slot = Slot { number: marked, ..Slot::default() };
        let mut is_whole = true;
        for current in if first <= second { [0, 1] } else { [1, 0] } {
            // The older one was leaving if there is a newer.
            if slot.number > marked && turns[current].peek().is_some() {
                self.begin_turn(&mut slot);
            }
            for run in turns[current].by_ref() {
                let (number, run) = run?;
                if number != slot.number + 1 && !accept_loss {
                    return Err(corrupt(&format!("run {}", slot.number + 1)));
                }
                is_whole &= number == slot.number + 1;
                slot = Slot { turn: current as u8, number, ..slot.next(run.bytes()) };
                self.add(run);
            }
        }
        if is_whole { Ok(slot) } else { self.close_gaps(slot.number, database, stored) }
    }

    /// What is left becomes one run, and a turn of its own.
    fn close_gaps(&mut self, newest: u64, database: &Database, stored: &Keyspace) -> Result<Slot, Error> {
        self.bytes += self.runs[..self.leaving].iter().map(|run| run.bytes()).sum::<usize>();
        self.leaving = 0;
        self.merge_while(|_, _| true);
        let mut slot = Slot { number: newest, ..Slot::default() };
        let mut batch = database.batch();
        batch.insert(stored, MARK_KEY, newest.to_be_bytes());
        if let Some(run) = self.runs.first() {
            batch.insert(stored, slot.key(), slot.value(run));
            slot = slot.next(run.bytes());
        }
        batch.durability(Some(PersistMode::SyncData)).commit().map_err(writing)?;
        Ok(slot)
    }
}

type Numbered = (u64, Run);

/// The runs of a turn that are not in a file, in their order.
fn turn_of(stored: &Keyspace, turn: u8, marked: u64) -> impl Iterator<Item = Result<Numbered, Error>> {
    let runs = stored.prefix([turn]).map(|row| {
        let value = Bytes::from(row.value().map_err(reading)?);
        let number = number(&value).ok_or_else(|| corrupt("a run's number"))?;
        Ok((number, value))
    });
    // The rest is of the turn before last.
    let runs = runs.take_while(move |run| !matches!(run, Ok((number, _)) if *number <= marked));
    runs.map(|run| {
        let (number, value) = run?;
        let run = Run::read(value.slice(NUMBER_BYTES..));
        Ok((number, run.ok_or_else(|| corrupt(&format!("run {number}")))?))
    })
}

fn number(value: &[u8]) -> Option<u64> {
    value.first_chunk().map(|number| u64::from_be_bytes(*number))
}

fn corrupt(what: &str) -> Error {
    Error::Corrupt(format!("the newest rows of the index cannot be read: {what} is damaged or missing"))
}

/// Whether a put goes to a run.
pub fn is_recent(put: &Put) -> bool {
    put.space == orrery_kv::Space::Index
}

#[cfg(test)]
mod tests {
    use super::*;
    use fjall::KeyspaceCreateOptions;

    const TURN_BYTES: usize = 1 << 20;

    fn run(number: u64) -> Run {
        let key = Bytes::copy_from_slice(&number.to_be_bytes());
        Run::of(&[Put { space: orrery_kv::Space::Index, key, value: Some(Bytes::new()) }])
    }

    /// Writes one more run, as the engine does.
    fn write(recent: &Recent, stored: &Keyspace) {
        let mut slot = recent.slot();
        let run = run(slot.number + 1);
        stored.insert(slot.key(), slot.value(&run)).expect("written");
        recent.add(run, &mut slot);
    }

    fn numbers(recent: &Recent) -> (Vec<u64>, Vec<u64>) {
        let shelf = recent.shelf();
        let of = |runs: &[Arc<Run>]| {
            let entries = Entries::new(runs, &KeyRange::all(), Order::Ascending);
            entries.filter_map(|(key, _)| number(key)).collect()
        };
        (of(&shelf.runs[..shelf.leaving]), of(&shelf.runs[shelf.leaving..]))
    }

    /// Stopped before, while and after the runs of a turn are spilled, in either turn.
    #[test]
    fn after_a_stop_runs_are_where_they_were() {
        let folder = tempfile::tempdir().expect("a folder");
        let database = Database::builder(folder.path()).open().expect("opened");
        let stored = database.keyspace("runs", KeyspaceCreateOptions::default).expect("made");
        let recent = Recent::open(&database, Some(&stored), TURN_BYTES, false).expect("opened");
        let check = |recent: &Recent| {
            let again = Recent::open(&database, Some(&stored), TURN_BYTES, false).expect("opened");
            let (slot, found) = (*recent.slot(), *again.slot());
            assert_eq!(numbers(&again), numbers(recent));
            // A turn that has no runs yet may begin anywhere.
            if !numbers(recent).1.is_empty() {
                assert_eq!((found.turn, found.place, found.number), (slot.turn, slot.place, slot.number));
            }
            assert_eq!(found.number, slot.number);
            let until = |shelf: &Shelf| (shelf.leaving > 0).then_some(shelf.leaving_until);
            assert_eq!(until(&again.shelf()), until(&recent.shelf()));
        };
        for runs in [5, 3, 4, 1] {
            (0..runs).for_each(|_| write(&recent, &stored));
            check(&recent);
            assert!(recent.rest(1));
            write(&recent, &stored);
            check(&recent);
            write(&recent, &stored);
            check(&recent);
            let until = recent.leaving().expect("a turn").until;
            stored.insert(MARK_KEY, until.to_be_bytes()).expect("marked");
            recent.leave();
            check(&recent);
        }
    }
}
