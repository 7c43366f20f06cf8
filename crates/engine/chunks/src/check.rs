//! Going through all chunks: every byte that a row refers to is read, and the rows are held against each other.
//!
//! Nothing is repaired. What no row refers to is no fault: a crash leaves such, and the next start reclaims it.

use crate::files::{ChunkFile, Files};
use crate::references::count_in;
use crate::row::{self, CHUNKS, LIVE_BYTES, LIVE_CHUNKS, Row, read_number};
use crate::{ChunkId, Error, FileId, Location, format, limits, read};
use orrery_kv::{Error as EngineError, KeyRange, Order, Read, Tally};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// What a check found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    pub chunks: u64,
    /// Content of these chunks.
    pub bytes: u64,
    pub files: u64,
    /// A sentence for each fault, up to [`CHECK_FAULTS_MAX`](limits::CHECK_FAULTS_MAX) of them.
    pub faults: Vec<String>,
    pub faults_unlisted: u64,
    /// Files that no row refers to, apart from one that only keeps the number of the newest.
    pub files_reclaimable: u64,
    /// Bytes that no row refers to, in any file.
    pub bytes_reclaimable: u64,
}

/// Checks the chunks of a store at rest. `references` are those of all models, each chunk as often as it is referred to, in any
/// order; without them, counts are not checked.
pub fn check(
    files: &dyn Files,
    state: &dyn Read,
    references: Option<&mut dyn Iterator<Item = Result<ChunkId, EngineError>>>,
) -> Result<Checked, EngineError> {
    let listed = files.list().map_err(|error| Error::unavailable(&error))?;
    let mut check =
        Check { files, state, open: None, live: BTreeMap::new(), moved: 0, checked: Checked::default() };
    check.chunks()?;
    check.live_tallies()?;
    check.moved_rows()?;
    check.files(listed.into_iter().collect());
    if let Some(references) = references {
        check.references(references)?;
    }
    check.unsettled()?;
    Ok(check.checked)
}

struct Check<'a> {
    files: &'a dyn Files,
    state: &'a dyn Read,
    /// The file that was read last.
    open: Option<(FileId, Arc<dyn ChunkFile>)>,
    /// Chunks and bytes that rows refer to in each file.
    live: BTreeMap<FileId, [u64; 2]>,
    /// Chunks that are not where they were first written.
    moved: u64,
    checked: Checked,
}

impl Check<'_> {
    fn fault(&mut self, sentence: String) {
        if self.checked.faults.len() < limits::CHECK_FAULTS_MAX {
            self.checked.faults.push(sentence);
        } else {
            self.checked.faults_unlisted += 1;
        }
    }

    /// Every chunk, in the order of their ids, which is nearly that of the files.
    fn chunks(&mut self) -> Result<(), EngineError> {
        let state = self.state;
        for row in state.range(CHUNKS, &row::locations(), Order::Ascending) {
            let (key, value) = row?;
            let id = ChunkId(read_number(&key)?);
            match row::read_location(id, &value) {
                Ok(location) => self.chunk(&location)?,
                Err(error) => self.fault(error.to_string()),
            }
        }
        Ok(())
    }

    fn chunk(&mut self, location: &Location) -> Result<(), EngineError> {
        self.checked.chunks += 1;
        self.checked.bytes += u64::from(location.length);
        let [chunks, bytes] = self.live.entry(location.file).or_default();
        (*chunks, *bytes) = (*chunks + 1, *bytes + location.stored_bytes());
        if !location.is_first() {
            self.moved += 1;
            let key = Row::Moved(location.file, location.chunk).key();
            if self.state.get(CHUNKS, &key)?.is_none() {
                self.fault(format!(
                    "the chunk {} was moved to the file {}, which does not know",
                    location.chunk, location.file
                ));
            }
        }
        if let Err(error) = self.read(location) {
            self.fault(format!("the chunk {} cannot be read: {error}", location.chunk));
        }
        Ok(())
    }

    fn read(&mut self, location: &Location) -> Result<(), Error> {
        let file = match &self.open {
            Some((id, file)) if *id == location.file => file.clone(),
            _ => {
                let file = read::open(self.files, location.file)?;
                self.open = Some((location.file, file.clone()));
                file
            }
        };
        for start in (0..location.length).step_by(limits::COPY_BUFFER_BYTES as usize) {
            let end = location.length.min(start + limits::COPY_BUFFER_BYTES);
            read::read(&*file, location, start..end)?;
        }
        Ok(())
    }

    fn live_tallies(&mut self) -> Result<(), EngineError> {
        let mut stored = BTreeMap::new();
        for row in self.state.range(CHUNKS, &row::live(), Order::Ascending) {
            let (key, value) = row?;
            let tally = Tally::read(&value)?;
            stored.insert(FileId(read_number(&key)?), [tally.get(LIVE_CHUNKS), tally.get(LIVE_BYTES)]);
        }
        let ids: std::collections::BTreeSet<FileId> =
            stored.keys().chain(self.live.keys()).copied().collect();
        for id in ids {
            let of = |tallies: &BTreeMap<FileId, [u64; 2]>| tallies.get(&id).copied().unwrap_or_default();
            let ([chunks, bytes], [counted, counted_bytes]) = (of(&stored), of(&self.live));
            if [chunks, bytes] != [counted, counted_bytes] {
                self.fault(format!(
                    "the file {id} has {counted} chunks ({counted_bytes} bytes) that rows refer to, and its tally says {chunks} ({bytes} bytes)"
                ));
            }
        }
        Ok(())
    }

    fn moved_rows(&mut self) -> Result<(), EngineError> {
        let rows = self.count(&row::moved())?;
        if rows != self.moved {
            self.fault(format!(
                "{} chunks were moved, and there are {rows} rows of moved chunks",
                self.moved
            ));
        }
        Ok(())
    }

    fn count(&self, range: &KeyRange) -> Result<u64, EngineError> {
        self.state.range(CHUNKS, range, Order::Ascending).try_fold(0, |count, row| row.map(|_| count + 1))
    }

    /// Files against the rows, and the heads of those that rows refer to.
    fn files(&mut self, listed: BTreeMap<FileId, u64>) {
        self.checked.files = listed.len() as u64;
        let newest = listed.keys().next_back().copied();
        for (id, bytes) in listed {
            let live = self.live.get(&id).map(|[_, bytes]| *bytes);
            let content = bytes.saturating_sub(format::HEAD_BYTES as u64);
            self.checked.bytes_reclaimable += content.saturating_sub(live.unwrap_or(0));
            if live.is_none() {
                self.checked.files_reclaimable += u64::from(content > 0 || newest != Some(id));
            } else if let Err(sentence) = self.head(id) {
                self.fault(format!("the head of the chunk file {id} {sentence}"));
            }
        }
    }

    fn head(&self, id: FileId) -> Result<(), String> {
        let file = read::open(self.files, id).map_err(|error| format!("cannot be read: {error}"))?;
        let mut head = Vec::new();
        file.read_at(&mut head, format::HEAD_BYTES, 0).map_err(|error| format!("cannot be read: {error}"))?;
        if head == format::head(id) { Ok(()) } else { Err("is damaged".to_owned()) }
    }

    /// The references that models have, against the counts.
    fn references(
        &mut self,
        references: &mut dyn Iterator<Item = Result<ChunkId, EngineError>>,
    ) -> Result<(), EngineError> {
        let mut found: HashMap<ChunkId, u64> = HashMap::new();
        for id in references {
            *found.entry(id?).or_default() += 1;
        }
        let state = self.state;
        for row in state.range(CHUNKS, &row::locations(), Order::Ascending) {
            let id = ChunkId(read_number(&row?.0)?);
            let counted = count_in(&Tally::of(state, CHUNKS, &Row::References(id).key())?);
            let found = found.remove(&id).unwrap_or(0);
            if found != counted {
                self.fault(format!("the chunk {id} has {found} references, and its count says {counted}"));
            }
        }
        let mut unknown: Vec<ChunkId> = found.into_keys().collect();
        unknown.sort_unstable();
        unknown.into_iter().for_each(|id| {
            self.fault(format!("something refers to the chunk {id}, which is not in the store"))
        });
        Ok(())
    }

    /// Tallies of references that say that a chunk shall go, where reclaiming was not told.
    fn unsettled(&mut self) -> Result<(), EngineError> {
        let state = self.state;
        for row in state.range(CHUNKS, &row::references(), Order::Ascending) {
            let (key, value) = row?;
            let id = ChunkId(read_number(&key)?);
            let is_there = state.get(CHUNKS, &Row::Location(id).key())?.is_some();
            let is_known = state.get(CHUNKS, &Row::Changed(id).key())?.is_some();
            if !is_known && (!is_there || count_in(&Tally::read(&value)?) == 0) {
                self.fault(format!("the chunk {id} has no references and will not be reclaimed"));
            }
        }
        Ok(())
    }
}
