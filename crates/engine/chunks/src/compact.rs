//! Compaction: the live chunks of a file that is mostly garbage, or one of many small ones, are copied to another, so that the file
//! can be removed.
//!
//! Each chunk is verified while it is copied. One that is damaged stays where it is, and with it its file: nothing is lost by
//! reclaiming that was not lost before.

use crate::append_file::{InFlight, Reservation};
use crate::chunks::{Inner, KnownFile};
use crate::files::ChunkFile;
use crate::read;
use crate::reclaim::{Commits, ReclaimError, Reclaimed, Reclaimer, live_bytes};
use crate::references::{locate, tally_live};
use crate::row::{self, CHUNKS, Row, write_location};
use crate::{ChunkId, Error, FileId, Location, format, limits};
use orrery_kv::{Error as EngineError, Expect, Order, Read, Txn};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A chunk that was copied.
struct Move {
    from: Location,
    to: Location,
    in_flight: InFlight,
}

/// Copies some chunks of the file that is most worth it.
pub(crate) fn compact<C: Commits>(
    inner: &Arc<Inner>,
    reclaimer: &mut Reclaimer,
    commits: &C,
    step: &mut Reclaimed,
) -> Result<(), ReclaimError<C::Error>> {
    let snapshot = commits.snapshot();
    let live = live_bytes(&*snapshot)?;
    let known = inner.known().clone();
    let may_move = |id: &FileId| !reclaimer.damaged.contains(id);
    let ranked = rank(&facts(&known, &live, may_move), inner.options.file_bytes_max);
    let Some(file) = ranked.into_iter().find(|id| known[id].seal_if_quiet()) else { return Ok(()) };
    inner.pool.tidy();
    let moves = match copy_chunks(inner, reclaimer, live_chunks(&*snapshot, file)?, file) {
        Ok(moves) if moves.is_empty() => {
            tracing::error!(%file, "the tally of a chunk file says that it has chunks, and no row leads to one");
            reclaimer.damaged.insert(file);
            return Ok(());
        }
        Ok(moves) => moves,
        Err(error) if error.is_damage() => {
            tracing::error!(%file, %error, "a chunk file that is mostly garbage is kept, because a chunk in it is damaged");
            reclaimer.damaged.insert(file);
            return Ok(());
        }
        Err(error) => return Err(error.into()),
    };
    if commits
        .commit(&|txn| moves.iter().for_each(|moved| moved.settle(txn)))
        .map_err(ReclaimError::Commit)?
    {
        step.bytes_moved += moves.iter().map(|moved| moved.to.stored_bytes()).sum::<u64>();
    }
    step.has_more = true;
    Ok(())
}

/// What decides whether a file is compacted.
#[derive(Clone, Copy, Debug)]
struct FileFacts {
    id: FileId,
    bytes: u64,
    live_bytes: u64,
    /// Whether uploads may still append to it.
    is_open: bool,
}

fn facts(
    known: &BTreeMap<FileId, KnownFile>,
    live: &BTreeMap<FileId, u64>,
    may_move: impl Fn(&FileId) -> bool,
) -> Vec<FileFacts> {
    let of = |(id, file): (&FileId, &KnownFile)| {
        let live_bytes = *live.get(id)?;
        let is_open = file.appended.upgrade().is_some_and(|file| !file.is_sealed());
        Some(FileFacts { id: *id, bytes: file.bytes(), live_bytes, is_open })
    };
    known.iter().filter(|(id, _)| may_move(id)).filter_map(of).collect()
}

/// The files worth compacting, the one with the smallest live part first; then small ones, if there are many.
fn rank(files: &[FileFacts], file_bytes_max: u64) -> Vec<FileId> {
    let is_small = |file: &&FileFacts| file.bytes < file_bytes_max / limits::SMALL_FILE_SHARE;
    let is_worth = |file: &&FileFacts| file.live_bytes * 2 <= file.bytes && !(file.is_open && is_small(file));
    let mut garbage: Vec<&FileFacts> = files.iter().filter(is_worth).collect();
    garbage.sort_by_key(|file| file.live_bytes * 1000 / file.bytes.max(1));
    let mut small: Vec<&FileFacts> = files.iter().filter(|file| is_small(file) && !file.is_open).collect();
    small.sort_by_key(|file| file.live_bytes);
    if small.len() <= limits::SMALL_FILES_MAX {
        small.clear();
    }
    garbage.into_iter().chain(small).map(|file| file.id).collect()
}

/// Live chunks of a file, as many as one step copies and at least one.
fn live_chunks(state: &dyn Read, file: FileId) -> Result<Vec<Location>, EngineError> {
    let (mut chunks, mut bytes) = (Vec::new(), 0);
    let first = state.range(CHUNKS, &row::locations_first_in(file), Order::Ascending);
    let first = first.map(|row| {
        let (key, value) = row?;
        row::read_location(ChunkId(row::read_number(&key)?), &value).map(Some)
    });
    let moved = state.range(CHUNKS, &row::moved_to(file), Order::Ascending);
    let moved = moved.map(|row| locate(state, row::read_moved(&row?.0)?.1));
    for location in first.chain(moved) {
        let Some(location) = location?.filter(|location| location.file == file) else { continue };
        bytes += location.stored_bytes();
        if bytes > limits::RECLAIM_STEP_BYTES && !chunks.is_empty() {
            break;
        }
        chunks.push(location);
    }
    Ok(chunks)
}

/// Copies are synced when this returns.
fn copy_chunks(
    inner: &Arc<Inner>,
    reclaimer: &mut Reclaimer,
    chunks: Vec<Location>,
    file: FileId,
) -> Result<Vec<Move>, Error> {
    let source = read::open(&*inner.files, file)?;
    let mut moves = Vec::with_capacity(chunks.len());
    for from in chunks {
        inner.check_room_to_copy(from.stored_bytes())?;
        let room = reserve(inner, reclaimer, from.length)?;
        copy(&*source, &from, &room)?;
        let (to, in_flight) = room.end(from.length);
        moves.push(Move { from, to: Location { chunk: from.chunk, ..to }, in_flight });
    }
    if inner.is_durable() {
        let mut targets: Vec<_> = moves.iter().map(|moved| moved.in_flight.file()).collect();
        targets.dedup_by_key(|target| target.id);
        targets.into_iter().try_for_each(|target| target.sync())?;
    }
    Ok(moves)
}

fn reserve(inner: &Arc<Inner>, reclaimer: &mut Reclaimer, length: u32) -> Result<Reservation, Error> {
    let bytes_max = inner.options.file_bytes_max;
    let known = reclaimer.target.take().and_then(|target| {
        let room = target.reserve(length, bytes_max)?;
        reclaimer.target = Some(target);
        Some(room)
    });
    if let Some(room) = known {
        return Ok(room);
    }
    let target = inner.make_file()?;
    let room = target.reserve(length, bytes_max);
    reclaimer.target = Some(target);
    room.ok_or_else(|| Error::Unavailable("a new chunk file takes nothing".to_owned()))
}

/// Verifies every frame, and writes checksums made from what was verified.
fn copy(source: &dyn ChunkFile, from: &Location, room: &Reservation) -> Result<(), Error> {
    let mut checksums = Vec::new();
    for start in (0..from.length).step_by(limits::COPY_BUFFER_BYTES as usize) {
        let content = read::read(source, from, start..from.length.min(start + limits::COPY_BUFFER_BYTES))?;
        format::write_checksums(&mut checksums, from.chunk, start / format::FRAME_BYTES, &content);
        room.write(&content, u64::from(start))?;
    }
    room.write(&checksums, u64::from(from.length))
}

impl Move {
    fn settle(&self, txn: &mut Txn<'_>) {
        let (id, key) = (self.from.chunk, Row::Location(self.from.chunk).key());
        txn.require(CHUNKS, key.clone(), Expect::Is(write_location(&self.from)));
        txn.put(CHUNKS, key, write_location(&self.to));
        if !self.from.is_first() {
            txn.delete(CHUNKS, Row::Moved(self.from.file, id).key());
        }
        txn.put(CHUNKS, Row::Moved(self.to.file, id).key(), &b"\x01"[..]);
        tally_live(txn, &self.from, -1);
        tally_live(txn, &self.to, 1);
        txn.frees();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FULL: u64 = 8000;

    fn ranked(files: &[FileFacts]) -> Vec<u64> {
        rank(files, FULL).into_iter().map(|id| id.0).collect()
    }

    fn file(id: u64, bytes: u64, live_bytes: u64) -> FileFacts {
        FileFacts { id: FileId(id), bytes, live_bytes, is_open: false }
    }

    #[test]
    fn files_are_compacted_from_half_garbage_on_the_emptiest_first() {
        let files = [file(1, 8000, 4000), file(2, 8000, 4001), file(3, 8000, 100), file(4, 2000, 500)];
        assert_eq!(ranked(&files), [3, 4, 1]);
    }

    #[test]
    fn uploads_keep_small_files_open_and_give_up_others() {
        let open = |id, bytes| FileFacts { is_open: true, ..file(id, bytes, 10) };
        assert_eq!(ranked(&[open(1, 999), open(2, 1000)]), [2]);
    }

    #[test]
    fn small_files_are_merged_when_they_are_many() {
        let few: Vec<FileFacts> =
            (0..limits::SMALL_FILES_MAX as u64).map(|id| file(id, 900, 800 - id)).collect();
        assert_eq!(ranked(&few), [0; 0]);
        let many = [few, vec![file(99, 900, 790), file(100, 1000, 900)]].concat();
        let ranked = ranked(&many);
        assert_eq!(
            (ranked.len(), ranked[0]),
            (limits::SMALL_FILES_MAX + 1, limits::SMALL_FILES_MAX as u64 - 1)
        );
        assert!(!ranked.contains(&100), "full files are left alone");
    }
}
