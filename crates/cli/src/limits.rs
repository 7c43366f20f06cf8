//! The limits of the verbs: migrations, imports and `orrery bench`.

/// Items of a page that a migration reads, requests that it has under way for one range, and ranges at once.
pub const MIGRATION_PAGE_ITEMS_MAX: usize = 1000;
pub const MIGRATION_REQUESTS_MAX: usize = 16;
pub const MIGRATION_WORKERS_MAX: usize = 64;
/// Operations of one bulk request go up to this size; a larger item has a request of its own.
pub const MIGRATION_BULK_BYTES_MAX: usize = 1024 * 1024;
/// Parts of one item that are joined.
pub const MIGRATION_CHILDREN_MAX: usize = 100_000;
/// Writes of one unit that are announced together; more are done in several goes.
pub const MIGRATION_WRITES_MAX: usize = 10_000;
/// How often one item is tried while others write to it, and rounds of a final comparison.
pub const MIGRATION_TRIES_MAX: usize = 64;
pub const MIGRATION_ROUNDS_MAX: usize = 5;
/// How often an import sends a record that the server cannot take at the moment.
pub const IMPORT_TRIES_MAX: usize = 64;
/// Ids that are named of those that differ, and items that were refused and are remembered.
pub const MIGRATION_NAMED_MAX: usize = 100;
/// Groups of partitions whose sums are kept apart; beyond as many partitions, several share one.
pub const MIGRATION_SUMS_MAX: u64 = 1 << 20;
/// Items that differ and are kept, to be looked at again; those beyond it are found by the next comparison.
pub const MIGRATION_DIFFERENCES_MAX: usize = 100_000;
/// Requests of one client that `orrery bench` keeps the times of.
pub const BENCH_SAMPLES_MAX: usize = 1_000_000;
/// Entities that are written together, as they are given; as JSON of a batch they are a little larger.
pub const TABLE_GROUP_BYTES_MAX: usize = 2 * 1024 * 1024;
/// How often applying begins anew because somebody else changed the server meanwhile.
pub const BLUEPRINT_ROUNDS_MAX: usize = 4;
