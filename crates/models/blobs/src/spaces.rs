//! The spaces that blobs are stored in, beside `meta`, the log of changes and chunks.

use orrery_catalog::change_log;
use orrery_kv::{CachePolicy, Space, SpaceSet, SpaceSpec};

pub use change_log::LOG;

/// The states of blobs, their history, and blocks that wait to be committed.
pub const BLOBS: Space = Space::new(8);
/// Content that is small, and where the pieces of other content are.
pub const CONTENT: Space = Space::new(9);
/// Which blobs have which index tags.
pub const TAGS: Space = Space::new(10);

pub const SPECS: &[SpaceSpec] = &[
    SpaceSpec { block_bytes: 8 * 1024, is_user_data: true, ..SpaceSpec::by_key(BLOBS, "blobs") },
    SpaceSpec {
        // Rows are as large as blocks, and most are read as a whole.
        block_bytes: 32 * 1024,
        level_0_files: 8,
        is_user_data: true,
        ..SpaceSpec::by_key(CONTENT, "blob-content")
    },
    // Finds read ranges of keys; a row is read alone when it is replaced.
    SpaceSpec { cache: CachePolicy::Nothing, ..SpaceSpec::by_key(TAGS, "blob-tags") },
];

/// The spaces of a store of blobs alone.
pub static SPACES: SpaceSet = SpaceSet::new(&[change_log::SPECS, orrery_chunks::SPECS, SPECS]);
