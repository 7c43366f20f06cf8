//! The limits of chunks and their files.

/// Content of one chunk. Larger chunks mean fewer rows for a large blob; a chunk is what reclaiming moves as a whole.
pub const CHUNK_BYTES_MAX: u32 = 32 * 1024 * 1024;
/// Size from which a file is not appended to any more, unless set by [`Options`](crate::Options).
pub const FILE_BYTES_MAX: u64 = 512 * 1024 * 1024;
/// Chunks that one file can get; a chunk's number is the lower part of its id.
pub const FILE_CHUNKS_MAX: u32 = 1 << 24;
/// Files that uploads append to at the same time. More uploads share them.
pub const OPEN_FILES_MAX: usize = 16;
/// Files that are kept open for reading.
pub const READ_FILES_MAX: usize = 128;
/// Bytes that a writer collects before it writes them; a multiple of a frame.
pub const WRITE_BUFFER_BYTES: usize = 256 * 1024;
/// Room that an upload asks for first, if nobody knows its length and it is more than one buffer. Afterwards it asks for as much as it
/// has used.
pub const RESERVED_BYTES_MIN: u64 = 512 * 1024;
/// Bytes written between two looks at the free disk space.
pub const DISK_CHECK_BYTES: u64 = 4 * 1024 * 1024;
/// Free disk space below which uploads are refused, unless set by [`Options`](crate::Options). Compaction, which makes room, may use
/// it down to this share of it.
pub const DISK_FREE_BYTES_MIN: u64 = 512 * 1024 * 1024;
pub const DISK_FREE_LAST_SHARE: u64 = 4;
/// Released chunks that one step of reclaiming looks at.
pub const RECLAIM_STEP_CHUNKS: usize = 256;
/// Bytes that one step of reclaiming copies, and at once.
pub const RECLAIM_STEP_BYTES: u64 = 32 * 1024 * 1024;
pub const COPY_BUFFER_BYTES: u32 = 1024 * 1024;
/// A file below this share of the full size is small, and so many small files are merged.
pub const SMALL_FILE_SHARE: u64 = 8;
pub const SMALL_FILES_MAX: usize = 32;
/// Faults of one kind that a check lists.
pub const CHECK_FAULTS_MAX: usize = 100;
