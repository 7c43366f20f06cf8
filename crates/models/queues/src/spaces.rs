//! The space that messages are stored in, beside `meta`.

use orrery_kv::{CachePolicy, Space, SpaceSet, SpaceSpec};

/// Messages: visibility rows, bodies and counts.
pub const MESSAGES: Space = Space::new(6);

pub const SPECS: &[SpaceSpec] = &[SpaceSpec {
    // A row is read once or twice, soon after it was written, and then removed.
    cache: CachePolicy::Nothing,
    // Gets write small rows, and are how a queue is drained: on a full disk they are taken for longer than puts.
    is_user_data: false,
    ..SpaceSpec::by_key(MESSAGES, "messages")
}];

/// The spaces of a store of queues alone.
pub static SPACES: SpaceSet = SpaceSet::new(&[SPECS]);
