//! The keyspaces that the spaces are in: one each, and sixteen for texts; and one for the newest rows of the index.
//!
//! Texts lie in the order of commits, so their files do not overlap and fjall never merges them; and what is removed is
//! given back only when its file is merged. We order that ourselves ([`gather`](crate::gather)), and while a keyspace is merged
//! it takes no new files. So commits take turns with the keyspaces of texts, 65,536 at a time, and the one whose turn it is
//! is left alone.

use bytes::Bytes;
use fjall::config::{BlockSizePolicy, CompressionPolicy};
use fjall::{CompressionType, Database, Keyspace, KeyspaceCreateOptions, Readable, Snapshot};
use orrery_kv::{Error, KeyRange, Order, Row, Rows, Space};
use std::sync::OnceLock;

use crate::engine::{opening, reading};
use crate::memtables;

/// Documents are read one by one and in scans. A scan pays for each block it enters, and one of 4 KB holds three
/// or four documents; with twice the size it takes a tenth less time, and a single read no more. A folder keeps
/// the size it was made with.
const DOCUMENTS_BLOCK_BYTES: u32 = 8 * 1024;
/// Which of the keyspaces: that of a space, or a slice of texts.
pub type Place = usize;

/// Keyspaces of texts.
pub const SLICES: usize = 16;
/// The commits of a turn, as a power of two.
const TURN_BITS: u32 = 16;
/// The first of them; those of the other spaces come before.
pub const TEXTS: Place = Space::Texts as usize;
/// Where the newest rows of the index are, as [`recent`](crate::recent) writes them.
pub const RUNS: Place = TEXTS + SLICES;
/// Every keyspace there can be.
pub const PLACES: usize = RUNS + 1;

/// Where the row of a key is; of the index, when it is in a file.
pub fn place(space: Space, key: &[u8]) -> Place {
    match space {
        Space::Texts => TEXTS + slice(key),
        Space::Meta | Space::Documents | Space::Index | Space::Log => space as usize,
    }
}

/// A text's key begins with the LSN of its commit.
fn slice(key: &[u8]) -> usize {
    let lsn = key.first_chunk().map_or(0, |lsn| u64::from_be_bytes(*lsn));
    (lsn >> TURN_BITS) as usize % SLICES
}

/// The slice whose turn is next.
pub fn next_turn(place: Place) -> Place {
    TEXTS + (place + 1 - TEXTS) % SLICES
}

/// Views have them too and may outlive the engine, so the database itself is not among them.
#[derive(Default)]
pub struct Spaces {
    /// Slices are made when the first text comes, and the one for runs with the first row of the index.
    keyspaces: [OnceLock<Keyspace>; PLACES],
}

impl Spaces {
    pub fn open(database: &Database) -> Result<Self, Error> {
        let spaces = Self::default();
        for place in 0..PLACES {
            if place < TEXTS || database.keyspace_exists(&name(place)) {
                spaces.made(database, place)?;
            }
        }
        Ok(spaces)
    }

    pub fn get(&self, place: Place) -> Option<&Keyspace> {
        self.keyspaces[place].get()
    }

    /// The same, made if it is not there. Only one thread writes.
    pub fn made(&self, database: &Database, place: Place) -> Result<&Keyspace, Error> {
        if let Some(known) = self.get(place) {
            return Ok(known);
        }
        let made = database.keyspace(&name(place), || options(place)).map_err(opening)?;
        Ok(self.keyspaces[place].get_or_init(|| made))
    }

    /// Those that are there.
    pub fn all(&self) -> impl Iterator<Item = (Place, &Keyspace)> {
        (0..PLACES).filter_map(|place| self.get(place).map(|keyspace| (place, keyspace)))
    }

    /// The slices of texts that are there.
    pub fn slices(&self) -> impl Iterator<Item = (Place, &Keyspace)> {
        self.all().filter(|(place, _)| (TEXTS..RUNS).contains(place))
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
        if space != Space::Texts {
            return match self.get(space as usize) {
                Some(keyspace) => rows(snapshot, keyspace, range, order),
                None => Box::new(std::iter::empty()),
            };
        }
        let slices = self.slices().map(|(_, slice)| rows(snapshot, slice, range, order));
        let slices = slices.filter_map(|mut rest| rest.next().map(|first| (first, rest)));
        Box::new(Merged { slices: slices.collect(), order })
    }
}

fn name(place: Place) -> String {
    match place {
        RUNS => "runs".to_owned(),
        TEXTS.. => format!("{}{}", Space::Texts.name(), place - TEXTS),
        _ => Space::ALL[place].name().to_owned(),
    }
}

fn options(place: Place) -> KeyspaceCreateOptions {
    let options = KeyspaceCreateOptions::default()
        .max_memtable_size(memtables::NEVER_BYTES)
        .manual_journal_persist(true);
    if place == Space::Documents as usize {
        options.data_block_size_policy(BlockSizePolicy::all(DOCUMENTS_BLOCK_BYTES))
    } else if (TEXTS..RUNS).contains(&place) {
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

/// Of a row that could be read.
fn key(row: &Result<Row, Error>) -> Option<&[u8]> {
    row.as_ref().ok().map(|(key, _)| key.as_ref())
}

fn row(guard: fjall::Guard) -> Result<Row, Error> {
    let (key, value) = guard.into_inner().map_err(reading)?;
    Ok((Bytes::from(key), Bytes::from(value)))
}

/// The rows of all slices in one order. What could not be read comes first.
struct Merged<'a> {
    /// The first row of each that has any left, and the rest.
    slices: Vec<(Result<Row, Error>, Rows<'a>)>,
    order: Order,
}

impl Iterator for Merged<'_> {
    type Item = Result<Row, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let (at, _) = self.slices.iter().enumerate().min_by(|(_, (one, _)), (_, (other, _))| {
            match (key(one), key(other), self.order) {
                (Some(one), Some(other), Order::Ascending) => one.cmp(other),
                (Some(one), Some(other), Order::Descending) => other.cmp(one),
                (one, other, _) => one.is_some().cmp(&other.is_some()),
            }
        })?;
        let (first, rest) = &mut self.slices[at];
        match rest.next() {
            Some(next) => Some(std::mem::replace(first, next)),
            None => Some(self.slices.swap_remove(at).0),
        }
    }
}
