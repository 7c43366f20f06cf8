//! The limits of blueprints.

/// A blueprint file; the files read together; and the values that aliases may expand to.
pub const BLUEPRINT_BYTES_MAX: usize = 4 * 1024 * 1024;
pub const BLUEPRINT_FILES_MAX: usize = 256;
pub const BLUEPRINT_NODES_MAX: usize = 500_000;
/// Cost of evaluating a file's expressions, in values and bytes of text, and their nesting depth.
pub const BLUEPRINT_STEPS_MAX: usize = 2 * 1024 * 1024;
pub const BLUEPRINT_LEVELS_MAX: usize = 64;
/// Containers and queries of one blueprint, and example items of a container.
pub const BLUEPRINT_CONTAINERS_MAX: usize = 1000;
pub const BLUEPRINT_QUERIES_MAX: usize = 1000;
pub const BLUEPRINT_FIXTURES_MAX: usize = 10_000;
/// Storage accounts of one blueprint, tables and queues of an account, and example messages of a queue.
pub const BLUEPRINT_ACCOUNTS_MAX: usize = 100;
pub const BLUEPRINT_TABLES_MAX: usize = 1000;
pub const BLUEPRINT_QUEUES_MAX: usize = 1000;
pub const BLUEPRINT_MESSAGES_MAX: usize = 1000;
