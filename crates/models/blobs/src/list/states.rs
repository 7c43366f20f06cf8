//! The states of a container, name by name: rows of several ranges, merged.

use crate::address::BlobName;
use crate::blob::{Blob, BlobState, record};
use crate::operations::{ListInclude, ShowOnly};
use crate::row::{self, Kind};
use crate::spaces::BLOBS;
use crate::staging::Staging;
use bytes::Bytes;
use orrery_core::Ticks;
use orrery_kv::{Error, Order as Direction, Read, Rows};
use std::iter::Peekable;

/// The place of a state among those of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Order(u64, u8);

impl Order {
    pub const FIRST: Self = Self(0, 0);
    pub const LAST: Self = Self(u64::MAX, u8::MAX);

    pub fn of(state: BlobState) -> Self {
        match state {
            BlobState::Snapshot(at) => Self(at.count(), 1),
            BlobState::Version(at) => Self(at.count(), 2),
            BlobState::DeletedBlob => Self(u64::MAX, 3),
            BlobState::Current => Self(u64::MAX, 4),
        }
    }

    pub fn write(self) -> [u8; 9] {
        let mut bytes = [0; 9];
        bytes[..8].copy_from_slice(&self.0.to_be_bytes());
        bytes[8] = self.1;
        bytes
    }

    pub fn read(bytes: [u8; 9]) -> Self {
        let word = bytes[..8].iter().fold(0, |word, byte| word << 8 | u64::from(*byte));
        Self(word, bytes[8])
    }
}

/// Everything of one name that was read.
#[derive(Debug)]
pub(super) struct Group {
    pub name: String,
    /// The oldest first, the current one last.
    pub blobs: Vec<Blob>,
    /// Blocks that wait, and since when.
    pub staged: Option<(BlobName, Ticks)>,
}

pub(super) struct States<'a> {
    state: &'a dyn Read,
    container: u32,
    current: Cursor<'a>,
    history: Option<Cursor<'a>>,
    staging: Option<Cursor<'a>>,
    seen: usize,
}

struct Cursor<'a> {
    kind: Kind,
    rows: Peekable<Rows<'a>>,
}

impl<'a> States<'a> {
    pub fn new(
        state: &'a dyn Read,
        container: u32,
        include: ListInclude,
        show_only: Option<ShowOnly>,
    ) -> Self {
        let ListInclude { snapshots, versions, deleted, deleted_with_versions, uncommitted } = include;
        let has_history =
            snapshots || versions || deleted || deleted_with_versions || show_only == Some(ShowOnly::Deleted);
        let cursor = |kind| Cursor { kind, rows: (Box::new(std::iter::empty()) as Rows<'a>).peekable() };
        Self {
            state,
            container,
            current: cursor(Kind::Current),
            history: has_history.then(|| cursor(Kind::History)),
            staging: uncommitted.then(|| cursor(Kind::Staging)),
            seen: 0,
        }
    }

    /// Goes to the first name that is not before these bytes.
    pub fn seek(&mut self, from: &[u8]) {
        let (state, container) = (self.state, self.container);
        for cursor in self.cursors() {
            let range = cursor.kind.range_from(container, from);
            cursor.rows = state.range(BLOBS, &range, Direction::Ascending).peekable();
        }
    }

    /// How many rows were read.
    pub fn seen(&self) -> usize {
        self.seen
    }

    fn cursors(&mut self) -> impl Iterator<Item = &mut Cursor<'a>> {
        [Some(&mut self.current), self.history.as_mut(), self.staging.as_mut()].into_iter().flatten()
    }

    /// Everything of the next name.
    pub fn next(&mut self) -> Result<Option<Group>, Error> {
        let mut name: Option<String> = None;
        for cursor in self.cursors() {
            if let Some(next) = cursor.peek_name()? {
                name = Some(name.map_or(next.clone(), |known| known.min(next)));
            }
        }
        let Some(name) = name else { return Ok(None) };
        let mut group = Group { name, blobs: Vec::new(), staged: None };
        let mut seen = 0;
        for cursor in [self.history.as_mut(), Some(&mut self.current)].into_iter().flatten() {
            while let Some((state, value)) = cursor.take(&group.name)? {
                seen += 1;
                group.blobs.push(record::read(&group.name, state, &value)?);
            }
        }
        if let Some((_, value)) = self.staging.as_mut().map_or(Ok(None), |cursor| cursor.take(&group.name))? {
            let name = BlobName::parse(&group.name).map_err(|error| Error::Corrupt(error.to_string()))?;
            seen += 1;
            group.staged = Some((name, Staging::read(&value)?.created));
        }
        self.seen += seen;
        Ok(Some(group))
    }
}

impl Cursor<'_> {
    fn peek_name(&mut self) -> Result<Option<String>, Error> {
        match self.rows.peek() {
            None => Ok(None),
            Some(Err(error)) => Err(error.clone()),
            Some(Ok((key, _))) => read_key(self.kind, key).map(|(name, _)| Some(name)),
        }
    }

    /// The next row, if it is of this name.
    fn take(&mut self, wanted: &str) -> Result<Option<(BlobState, Bytes)>, Error> {
        if self.peek_name()?.is_none_or(|name| name != wanted) {
            return Ok(None);
        }
        let Some(row) = self.rows.next() else { return Ok(None) };
        let (key, value) = row?;
        Ok(Some((read_key(self.kind, &key)?.1, value)))
    }
}

fn read_key(kind: Kind, key: &[u8]) -> Result<(String, BlobState), Error> {
    match kind {
        Kind::History | Kind::Protected => row::read_history(key),
        Kind::Current | Kind::Staging => Ok((row::read_name(key)?, BlobState::Current)),
    }
}
