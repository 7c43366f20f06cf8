//! The spaces that items are stored in, beside `meta` and the log of changes, and what each asks of the engine.

use orrery_catalog::change_log;
use orrery_kv::{Memtable, Space, SpaceSet, SpaceSpec};

pub use change_log::LOG;

/// Items.
pub const DOCUMENTS: Space = Space::new(1);
/// Everything that is derived from items and found by value: unique keys, expiry, indexes.
pub const INDEX: Space = Space::new(2);
/// Bodies of large items: each written once, under the commit that brought it.
pub const OVERFLOW: Space = Space::new(4);

pub const SPECS: &[SpaceSpec] = &[
    SpaceSpec {
        // Items are read one by one and in scans. A scan pays for each block it enters, and one of 4 KB holds three or
        // four items; with twice the size a scan takes a tenth less time, and a single read no more.
        block_bytes: 8 * 1024,
        // With four files, a load writes more and takes longer. An item is looked for only in files whose filter may have
        // it.
        level_0_files: 8,
        is_user_data: true,
        ..SpaceSpec::by_key(DOCUMENTS, "documents")
    },
    SpaceSpec {
        // An item has a dozen index rows, most of them small.
        memtable: Memtable::SortedRuns { name: "runs" },
        // As for items; an idle store compacts further.
        level_0_files: 6,
        ..SpaceSpec::by_key(INDEX, "index")
    },
    SpaceSpec::overflow(OVERFLOW, "texts"),
];

/// The spaces of a store of documents alone.
pub static SPACES: SpaceSet = SpaceSet::new(&[change_log::SPECS, SPECS]);
