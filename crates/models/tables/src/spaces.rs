//! The space that entities are stored in, beside `meta` and the log of changes.

use orrery_catalog::change_log;
use orrery_kv::{Space, SpaceSet, SpaceSpec};

pub use change_log::LOG;

/// Entities, in the order of their tables and keys.
pub const ENTITIES: Space = Space::new(5);

pub const SPECS: &[SpaceSpec] = &[SpaceSpec {
    // As documents are: read one by one and in scans.
    block_bytes: 8 * 1024,
    level_0_files: 8,
    is_user_data: true,
    ..SpaceSpec::by_key(ENTITIES, "entities")
}];

/// The spaces of a store of tables alone.
pub static SPACES: SpaceSet = SpaceSet::new(&[change_log::SPECS, SPECS]);
