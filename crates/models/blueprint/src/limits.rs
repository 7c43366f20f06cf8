//! The limits of blueprints.

/// A file with a blueprint; those that are read together; and the values that aliases may make of one.
pub const BLUEPRINT_BYTES_MAX: usize = 4 * 1024 * 1024;
pub const BLUEPRINT_FILES_MAX: usize = 256;
pub const BLUEPRINT_NODES_MAX: usize = 500_000;
/// What evaluating the expressions of a file may come to, in values and bytes of text, and how deep they may be.
pub const BLUEPRINT_STEPS_MAX: usize = 2 * 1024 * 1024;
pub const BLUEPRINT_LEVELS_MAX: usize = 64;
/// Containers and queries of one blueprint, and example items of a container.
pub const BLUEPRINT_CONTAINERS_MAX: usize = 1000;
pub const BLUEPRINT_QUERIES_MAX: usize = 1000;
pub const BLUEPRINT_FIXTURES_MAX: usize = 10_000;
