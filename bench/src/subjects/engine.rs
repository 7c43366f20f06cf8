//! The engine alone: what the same rows cost without HTTP, without signatures, without the document model.
//!
//! A create is the item's row (the JSON behind a header of 96 bytes), the row that adds up its partition, and a
//! log entry; an upsert or replace also reads the item and logs what it replaced. An indexed item also has its place
//! by number and an index entry for each value, and each group of commits writes the tally of the container once. A large
//! text has a row of its own, which the item's row and the log point to.
//! Two styles of load: as many threads as connections, each
//! waiting for its commit, with one committer that takes whatever waits; and one thread that commits groups
//! of that many itself, which is the most the engine can give.

use super::Subject;
use crate::cell::{Cell, Operation, Size, Spread};
use crate::error::Error;
use crate::item::{self, Place, Random, Template};
use crate::sample::Sample;
use crate::seeds::mix;
use bytes::{BufMut as _, Bytes, BytesMut};
use orrery_core::Lsn;
use orrery_documents::limits;
use orrery_documents::spaces::{DOCUMENTS, INDEX, LOG, OVERFLOW, SPACES};
use orrery_kv::{Batch, Db, Outcome, Read as _, StampedBatch, Sync, overflow_key};
use orrery_kv_fjall::{FjallEngine, Folder, Options};
use orrery_txn::limits::GROUP_TRANSACTIONS_MAX;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The header a stored item has before its JSON.
const ROW_HEADER_BYTES: usize = 96;
const LSN_AT: usize = 8;
/// What is kept of a partition.
const PARTITION_ROW_BYTES: usize = 16;
/// What a log entry says besides what was replaced.
const LOG_ENTRY_BYTES: usize = 64;

/// An entry's key: container, kind, path, a number or a short string, the item's number, some of its partition.
const ENTRY_KEY_BYTES: usize = 4 + 1 + 8 + 9 + 8 + 4;
/// The row that finds an item by its number: a generation, its partition's hash, its id.
const PLACE_ROW_BYTES: usize = 1 + 16 + 36;

/// How the engine is loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    Threads,
    Groups,
}

pub struct Engine {
    store: Arc<Shared>,
    style: Style,
    _folder: TempDir,
}

struct Shared {
    db: Db,
    created: AtomicU64,
    /// Index entries of an item; 0 for items that are not indexed.
    entries: usize,
}

/// A batch on its way to the committer, and where its writer waits.
struct Waiting {
    batch: Batch,
    answer: Sender<Result<(), String>>,
}

impl Engine {
    /// An engine whose items have so many index entries each; 0 for items that are not indexed.
    pub fn open(base: &Path, style: Style, entries: usize) -> Result<Self, Error> {
        let folder =
            TempDir::with_prefix_in("orrery-bench-kv-", base).map_err(|e| Error::Io("no folder", e))?;
        let engine =
            FjallEngine::open(Folder::open(&folder.path().join("data"))?, &SPACES, &Options::default())?;
        let db = Db::open(Box::new(engine), Sync::Data)?;
        let store = Arc::new(Shared { db, created: AtomicU64::new(1_000_000_000), entries });
        Ok(Self { store, style, _folder: folder })
    }
}

impl Subject for Engine {
    fn name(&self) -> &'static str {
        match self.style {
            Style::Threads => "engine, threads",
            Style::Groups => "engine, groups",
        }
    }

    fn fill(&mut self, size: Size) -> Result<(), Error> {
        let template = item::template(size);
        let numbers: Vec<u64> = (0..size.set_items()).collect();
        for group in numbers.chunks(256) {
            let places = group.iter().map(|number| Place::new(*number, Spread::Many));
            let batches = places.map(|place| self.store.batch(place, size, &template, None)).collect();
            self.store.commit(batches)?;
        }
        Ok(())
    }

    fn run(&mut self, cell: Cell, span: Duration) -> Result<Sample, Error> {
        match (self.style, cell.operation) {
            (_, Operation::Read) => Ok(self.read(cell, span)),
            (Style::Threads, _) => Ok(self.write_by_threads(cell, span)),
            (Style::Groups, _) => self.write_by_groups(cell, span),
        }
    }
}

impl Engine {
    fn read(&self, cell: Cell, span: Duration) -> Sample {
        in_threads(cell.connections, span, |index| {
            let mut random = Random::new(index + 1);
            let store = &self.store;
            move || {
                let place = Place::new(random.below(cell.size.set_items()), cell.spread);
                let found = read(&store.db, &key(place, cell.size));
                match found {
                    Ok(Some((row, text))) if text_bytes(&row, &text) == cell.size.bytes() => Ok(()),
                    Ok(_) => Err("the row is not there or not whole".to_owned()),
                    Err(error) => Err(error.to_string()),
                }
            }
        })
    }

    fn write_by_threads(&self, cell: Cell, span: Duration) -> Sample {
        let (queue, waiting) = channel::<Waiting>();
        let store = self.store.clone();
        let committer = std::thread::spawn(move || commit_what_waits(&store, &waiting));
        let sample = in_threads(cell.connections, span, |index| {
            let (answer, answered) = channel();
            let mut writes = Writes::new(&self.store, cell, index);
            let queue = queue.clone();
            move || {
                let batch = writes.next().map_err(|error| error.to_string())?;
                let waiting = Waiting { batch, answer: answer.clone() };
                queue.send(waiting).map_err(|error| error.to_string())?;
                answered.recv().map_err(|error| error.to_string())?
            }
        });
        drop(queue);
        if committer.join().is_err() {
            let mut failed = sample;
            failed.fail("the committer panicked".to_owned());
            return failed;
        }
        sample
    }

    fn write_by_groups(&self, cell: Cell, span: Duration) -> Result<Sample, Error> {
        let mut writes = Writes::new(&self.store, cell, 0);
        let mut sample = Sample::default();
        let began = Instant::now();
        while began.elapsed() < span {
            let sent = Instant::now();
            let group = (0..cell.connections).map(|_| writes.next()).collect::<Result<Vec<_>, _>>()?;
            self.store.commit(group)?;
            let micros = sent.elapsed().as_micros() as u32;
            (0..cell.connections).for_each(|_| sample.note(micros));
        }
        sample.elapsed = began.elapsed();
        Ok(sample)
    }
}

/// The batches of one writer.
struct Writes<'a> {
    store: &'a Shared,
    cell: Cell,
    template: Template,
    random: Random,
}

impl<'a> Writes<'a> {
    fn new(store: &'a Shared, cell: Cell, index: u64) -> Self {
        Self { store, cell, template: item::template(cell.size), random: Random::new(index + 1) }
    }

    fn next(&mut self) -> Result<Batch, Error> {
        let size = self.cell.size;
        if self.cell.operation == Operation::Create {
            let number = self.store.created.fetch_add(1, Ordering::Relaxed);
            return Ok(self.store.batch(Place::new(number, self.cell.spread), size, &self.template, None));
        }
        let place = Place::new(self.random.below(size.set_items()), self.cell.spread);
        let before = read(&self.store.db, &key(place, size))?.map(|(row, _)| row);
        Ok(self.store.batch(place, size, &self.template, before.as_ref()))
    }
}

impl Shared {
    /// All that a write puts. What is indexed of an item stays the same when it is replaced.
    fn batch(&self, place: Place, size: Size, template: &Template, before: Option<&Bytes>) -> Batch {
        let mut batch = batch(place, size, template, before);
        if self.entries > 0 && before.is_none() {
            put_entries(&mut batch, place, self.entries);
        }
        batch
    }

    /// Only one thread commits at a time, so the next LSN is the one after the tip.
    fn commit(&self, batches: Vec<Batch>) -> Result<(), Error> {
        let first = self.db.tip().lsn.0 + 1;
        let stamped = (first..).zip(batches).map(|(lsn, batch)| batch.stamp(Lsn(lsn)));
        let outcomes = self.db.commit(stamped.collect::<Vec<StampedBatch>>())?;
        match outcomes.iter().all(|outcome| *outcome == Outcome::Committed) {
            true => Ok(()),
            false => Err(Error::Unexpected("a batch was refused".to_owned())),
        }
    }
}

fn commit_what_waits(store: &Shared, queue: &Receiver<Waiting>) {
    while let Ok(first) = queue.recv() {
        let more = queue.try_iter().take(GROUP_TRANSACTIONS_MAX - 1);
        let (batches, answers): (Vec<_>, Vec<_>) =
            std::iter::once(first).chain(more).map(|waiting| (waiting.batch, waiting.answer)).unzip();
        let outcome = store.commit(batches).map_err(|error| error.to_string());
        for answer in answers {
            // A writer that has gone needs no answer.
            let _ = answer.send(outcome.clone());
        }
    }
}

/// A closed loop in each of so many threads.
fn in_threads<W>(threads: usize, span: Duration, make: impl Fn(u64) -> W) -> Sample
where
    W: FnMut() -> Result<(), String> + Send,
{
    let began = Instant::now();
    let mut sample = Sample::default();
    std::thread::scope(|scope| {
        let workers = (0..threads as u64).map(make);
        let running: Vec<_> =
            workers.map(|worker| scope.spawn(move || repeat(worker, began, span))).collect();
        for thread in running {
            match thread.join() {
                Ok(part) => sample.merge(part),
                Err(_) => sample.fail("a thread panicked".to_owned()),
            }
        }
    });
    sample
}

fn repeat(mut once: impl FnMut() -> Result<(), String>, began: Instant, span: Duration) -> Sample {
    let mut sample = Sample::default();
    let mut now = Instant::now();
    while now - began < span {
        let sent = now;
        let outcome = once();
        now = Instant::now();
        match outcome {
            Ok(()) => sample.note((now - sent).as_micros() as u32),
            Err(error) => {
                sample.fail(error);
                break;
            }
        }
    }
    sample.elapsed = now - began;
    sample
}

fn key(place: Place, size: Size) -> Bytes {
    Bytes::from(format!("{}/{}/{}", size.container(), place.partition(), place.id()))
}

/// An item's row, and its text if that lies apart: the first that its commit put.
fn read(db: &Db, key: &[u8]) -> Result<Option<(Bytes, Option<Bytes>)>, orrery_kv::Error> {
    let snapshot = db.snapshot();
    let Some(row) = snapshot.get(DOCUMENTS, key)? else { return Ok(None) };
    if row.len() > ROW_HEADER_BYTES {
        return Ok(Some((row, None)));
    }
    let lsn = row[LSN_AT..].first_chunk().map_or(0, |lsn| u64::from_be_bytes(*lsn));
    let text = snapshot.get(OVERFLOW, &overflow_key(Lsn(lsn), 0))?;
    Ok(Some((row, text)))
}

fn text_bytes(row: &Bytes, text: &Option<Bytes>) -> usize {
    row.len() - ROW_HEADER_BYTES + text.as_ref().map_or(0, Bytes::len)
}

fn batch(place: Place, size: Size, template: &Template, before: Option<&Bytes>) -> Batch {
    let mut batch = Batch::new();
    let mut row = vec![0; ROW_HEADER_BYTES];
    template.append(place, &mut row);
    if row.len() >= limits::TEXT_APART_BYTES_MIN {
        batch.put_overflow(OVERFLOW, Bytes::from(row.split_off(ROW_HEADER_BYTES)));
    }
    batch.put_stamped(DOCUMENTS, key(place, size), row, LSN_AT);
    let partition = Bytes::from(format!("{}/{}", size.container(), place.partition()));
    batch.put(INDEX, partition, Bytes::from_static(&[0; PARTITION_ROW_BYTES]));
    let before = before.map_or(&[][..], |row| row.as_ref());
    let mut entry = Batch::log_payload(LOG_ENTRY_BYTES + before.len());
    entry.extend_from_slice(&[0; LOG_ENTRY_BYTES]);
    entry.extend_from_slice(before);
    batch.log(LOG, size as u64 + 1, entry);
    batch
}

/// The place of an indexed item, its entries, which lie all over the index, and the counts they change.
fn put_entries(batch: &mut Batch, place: Place, entries: usize) {
    let number = place.number();
    let mut key = BytesMut::with_capacity(13);
    key.put_slice(b"place");
    key.put_u64(number);
    batch.put(INDEX, key.freeze(), Bytes::from_static(&[0; PLACE_ROW_BYTES]));
    for path in 0..entries as u64 {
        let value = mix(number.wrapping_mul(64).wrapping_add(path));
        let mut key = BytesMut::with_capacity(ENTRY_KEY_BYTES);
        key.put_slice(b"entry");
        key.put_u64(path);
        key.put_u8(0);
        key.put_u64(value);
        key.put_u64(number);
        key.put_u32(value as u32);
        batch.put_blind(INDEX, key.freeze(), Some(Bytes::new()));
        batch.tally(INDEX, Bytes::from_static(b"tally"), path, 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use orrery_kv::{KeyRange, Order};

    fn entries_after_one_create(entries: usize) -> Vec<usize> {
        let base = TempDir::new().unwrap();
        let engine = Engine::open(base.path(), Style::Groups, entries).unwrap();
        let place = Place::new(5, Spread::Many);
        let batch = engine.store.batch(place, Size::Kb1, &item::template(Size::Kb1), None);
        engine.store.commit(vec![batch]).unwrap();
        let snapshot = engine.store.db.snapshot();
        let found = snapshot.range(INDEX, &KeyRange::prefix(b"entry"), Order::Ascending);
        found.map(|row| row.unwrap().0.len()).collect()
    }

    #[test]
    fn an_indexed_item_has_as_many_entries_as_asked() {
        assert_eq!(entries_after_one_create(10), [ENTRY_KEY_BYTES; 10]);
        assert!(entries_after_one_create(0).is_empty());
    }
}
