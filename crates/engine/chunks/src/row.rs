//! Every key of chunks, in one enum, and the space they are in.

use crate::{ChunkId, FileId, Location};
use bytes::Bytes;
use orrery_keys::{KeyBuf, KeyReader};
use orrery_kv::{CachePolicy, Error, KeyRange, Space, SpaceSpec};

/// The rows of chunks; their bytes are in files.
pub const CHUNKS: Space = Space::new(7);

pub const SPECS: &[SpaceSpec] = &[SpaceSpec {
    cache: CachePolicy::Rows,
    // Deleting a blob writes small rows here, and must go on when the disk is full.
    is_user_data: false,
    ..SpaceSpec::by_key(CHUNKS, "chunks")
}];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Row {
    /// Where a chunk is; there as long as the chunk is.
    Location(ChunkId),
    /// References beyond the first, as a tally: how many were retained and how many released.
    References(ChunkId),
    /// The chunk's references changed, so reclaiming shall look at it. Its value is the LSN of the last change.
    Changed(ChunkId),
    /// The chunks and bytes that rows refer to in a file, as a tally.
    Live(FileId),
    /// A chunk is in this file and was first written to another.
    Moved(FileId, ChunkId),
    /// How often references changed, as a tally, so that reclaiming knows when to look.
    Changes,
    /// Written to learn that everything queued before it is decided.
    Barrier,
}

const LOCATION: u8 = 1;
const REFERENCES: u8 = 2;
const CHANGED: u8 = 3;
const LIVE: u8 = 4;
const MOVED: u8 = 5;
const CHANGES: u8 = 6;
const BARRIER: u8 = 7;

/// Fields of [`Row::References`].
pub(crate) const RETAINED: u64 = 0;
pub(crate) const RELEASED: u64 = 1;
/// Fields of [`Row::Live`].
pub(crate) const LIVE_CHUNKS: u64 = 0;
pub(crate) const LIVE_BYTES: u64 = 1;

impl Row {
    pub fn key(self) -> Bytes {
        let key = KeyBuf::with_capacity(17);
        Bytes::from(match self {
            Row::Location(id) => key.u8(LOCATION).u64(id.0).finish(),
            Row::References(id) => key.u8(REFERENCES).u64(id.0).finish(),
            Row::Changed(id) => key.u8(CHANGED).u64(id.0).finish(),
            Row::Live(file) => key.u8(LIVE).u64(file.0).finish(),
            Row::Moved(file, id) => key.u8(MOVED).u64(file.0).u64(id.0).finish(),
            Row::Changes => key.u8(CHANGES).finish(),
            Row::Barrier => key.u8(BARRIER).finish(),
        })
    }
}

pub(crate) fn locations() -> KeyRange {
    KeyRange::prefix(&[LOCATION])
}

/// The locations of the chunks that were first written to a file.
pub(crate) fn locations_first_in(file: FileId) -> KeyRange {
    let first = |file| Row::Location(ChunkId::new(file, 0)).key().to_vec();
    KeyRange::new(first(file), first(FileId(file.0 + 1)))
}

pub(crate) fn references() -> KeyRange {
    KeyRange::prefix(&[REFERENCES])
}

/// The chunks from this one on whose references changed.
pub(crate) fn changed_from(id: ChunkId) -> KeyRange {
    KeyRange { start: Row::Changed(id).key().to_vec(), ..KeyRange::prefix(&[CHANGED]) }
}

pub(crate) fn live() -> KeyRange {
    KeyRange::prefix(&[LIVE])
}

pub(crate) fn moved() -> KeyRange {
    KeyRange::prefix(&[MOVED])
}

pub(crate) fn moved_to(file: FileId) -> KeyRange {
    KeyRange::prefix(&KeyBuf::new().u8(MOVED).u64(file.0).finish())
}

/// The number in a key of one number.
pub(crate) fn read_number(key: &[u8]) -> Result<u64, Error> {
    read_key(key, |reader| reader.u64().ok())
}

pub(crate) fn read_moved(key: &[u8]) -> Result<(FileId, ChunkId), Error> {
    read_key(key, |reader| Some((FileId(reader.u64().ok()?), ChunkId(reader.u64().ok()?))))
}

fn read_key<T>(key: &[u8], parts: impl Fn(&mut KeyReader<'_>) -> Option<T>) -> Result<T, Error> {
    let mut reader = KeyReader::new(key);
    let read = reader.u8().ok().and_then(|_| parts(&mut reader));
    read.filter(|_| reader.is_empty()).ok_or_else(|| Error::Corrupt("the key of a chunk's row".into()))
}

/// The version of [`Row::Location`]'s value, and of what it points to.
const LOCATION_VERSION: u8 = 1;
const LOCATION_BYTES: usize = 21;

/// Version (1), file (8), offset (8), length (4).
pub(crate) fn write_location(location: &Location) -> Bytes {
    let key = KeyBuf::with_capacity(LOCATION_BYTES).u8(LOCATION_VERSION);
    Bytes::from(key.u64(location.file.0).u64(location.offset).u32(location.length).finish())
}

pub(crate) fn read_location(chunk: ChunkId, value: &[u8]) -> Result<Location, Error> {
    let parts = || {
        let mut reader = KeyReader::new(value);
        reader.u8().ok().filter(|version| *version == LOCATION_VERSION)?;
        let (file, offset, length) = (reader.u64().ok()?, reader.u64().ok()?, reader.u32().ok()?);
        let location = Location { chunk, file: FileId(file), offset, length };
        (reader.is_empty() && length > 0).then_some(location)
    };
    parts().ok_or_else(|| Error::Corrupt(format!("the row of the chunk {chunk}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use orrery_kv::SpaceSet;

    #[test]
    fn the_stored_bytes_are_these() {
        let location = Location { chunk: ChunkId::new(FileId(2), 3), file: FileId(4), offset: 5, length: 6 };
        let value = write_location(&location);
        assert_eq!(
            value[..],
            [&[1u8][..], &4u64.to_be_bytes(), &5u64.to_be_bytes(), &6u32.to_be_bytes()].concat()
        );
        assert_eq!(read_location(location.chunk, &value), Ok(location));
        assert!(read_location(location.chunk, &value[..20]).is_err());
        assert_eq!(Row::Location(location.chunk).key()[..], [1, 0, 0, 0, 0, 2, 0, 0, 3]);
        let moved = Row::Moved(FileId(4), location.chunk).key();
        assert_eq!(moved[..], [&[5u8][..], &4u64.to_be_bytes(), &location.chunk.0.to_be_bytes()].concat());
        assert_eq!(read_moved(&moved), Ok((FileId(4), location.chunk)));
        assert!(read_moved(&moved[..9]).is_err());
    }

    #[test]
    fn the_chunks_of_a_file_are_a_range() {
        let range = locations_first_in(FileId(2));
        let has = |file, number| range.contains(&Row::Location(ChunkId::new(FileId(file), number)).key());
        assert!(has(2, 0) && has(2, crate::limits::FILE_CHUNKS_MAX - 1));
        assert!(!has(1, 5) && !has(3, 0));
    }

    #[test]
    fn the_space_can_be_declared_beside_others() {
        const SET: SpaceSet = SpaceSet::new(&[SPECS]);
        assert_eq!(SET.name(CHUNKS), "chunks");
    }
}
