//! The limits of databases, containers, their subresources and schemas. Azure publishes most of these.

/// Unique keys of a container, and their paths in total.
pub const UNIQUE_KEYS_MAX: usize = 10;
pub const UNIQUE_KEY_PATHS_MAX: usize = 16;
/// Computed properties of a container.
pub const COMPUTED_PROPERTIES_MAX: usize = 20;
/// Composite indexes of a container.
pub const COMPOSITE_INDEXES_MAX: usize = 100;
/// Vector dimensions by index type.
pub const VECTOR_DIMENSIONS_FLAT_MAX: u64 = 505;
pub const VECTOR_DIMENSIONS_MAX: u64 = 4096;
/// Limits of a vector index: bytes of a quantized vector (at most one per dimension), the length of its
/// search list, and the number of shard key paths.
pub const VECTOR_QUANTIZATION_BYTES_MAX: u64 = 512;
pub const VECTOR_SHARD_PATHS_MAX: usize = 1;
pub const VECTOR_SEARCH_LIST_MIN: i64 = 25;
pub const VECTOR_SEARCH_LIST_MAX: i64 = 500;
/// Entries of a list in a container's definition without a smaller limit of its own.
pub const DEFINITION_LIST_ENTRIES_MAX: usize = 1000;
/// The longest time to live, of a container or an item.
pub const TTL_SECONDS_MAX: i64 = i32::MAX as i64;
/// All-versions change feed retention.
pub const CHANGE_FEED_RETENTION_MINUTES_MAX: i64 = 10_080;
/// Throughput (RU/s): smallest manual, smallest autoscale, steps, and largest.
pub const THROUGHPUT_MANUAL_MIN: u64 = 400;
pub const THROUGHPUT_MANUAL_STEP: u64 = 100;
pub const THROUGHPUT_AUTOSCALE_MIN: u64 = 1000;
pub const THROUGHPUT_AUTOSCALE_STEP: u64 = 1000;
pub const THROUGHPUT_MAX: u64 = 1_000_000;
/// The minimum throughput is the historical maximum divided by this.
pub const THROUGHPUT_MANUAL_SCALE_MAX: u64 = 100;
pub const THROUGHPUT_AUTOSCALE_SCALE_MAX: u64 = 10;
/// Throughput that one physical partition serves.
pub const THROUGHPUT_PER_RANGE: u64 = 6000;
/// Databases in an account, and containers in a database.
pub const DATABASES_MAX: usize = 10_000;
pub const CONTAINERS_MAX: usize = 10_000;
/// Users and client encryption keys per database, permissions per user, and scripts of each kind per
/// container.
pub const USERS_MAX: u64 = 500_000;
pub const CLIENT_KEYS_MAX: u64 = 20;
pub const PERMISSIONS_MAX: u64 = 2_000_000;
pub const STORED_PROCEDURES_MAX: u64 = 100;
pub const TRIGGERS_MAX: u64 = 25;
pub const USER_DEFINED_FUNCTIONS_MAX: u64 = 50;
/// The text of a stored procedure, a trigger or a user-defined function.
pub const SCRIPT_BYTES_MAX: usize = 256 * 1024;
/// Contents of a client encryption key besides its id, and the operations of a permission.
pub const CLIENT_KEY_BYTES_MAX: usize = 16 * 1024;
pub const PERMISSION_BYTES_MAX: usize = 16 * 1024;
/// Custom roles and assignments of an account, and the contents of a role.
pub const ROLE_DEFINITIONS_MAX: usize = 100;
pub const ROLE_ASSIGNMENTS_MAX: usize = 2_000;
pub const ROLE_ACTIONS_MAX: usize = 64;
pub const ROLE_TEXT_CHARS_MAX: usize = 512;
/// Rows that a background sweep removes in one commit.
pub const SWEEP_ROWS_MAX: usize = 512;
/// Indexing generations that may coexist.
pub const INDEX_GENERATIONS_MAX: usize = 16;
/// The schemas of a container as text, and their number.
pub const SCHEMA_BYTES_MAX: usize = 256 * 1024;
pub const SCHEMAS_MAX: usize = 256;
/// Items with violations that are remembered per container.
pub const VIOLATIONS_KEPT_MAX: usize = 10;
/// Usage hours that one transaction writes or deletes.
pub const METERING_ROWS_MAX: usize = 1_024;

// Storage accounts and their contents, as published by Azure.

pub const ACCOUNT_NAME_CHARS_MIN: usize = 3;
pub const ACCOUNT_NAME_CHARS_MAX: usize = 24;
pub const RESOURCE_NAME_CHARS_MIN: usize = 3;
pub const RESOURCE_NAME_CHARS_MAX: usize = 63;
pub const ACCESS_POLICIES_MAX: usize = 5;
pub const ACCESS_POLICY_ID_CHARS_MAX: usize = 64;
pub const CORS_RULES_MAX: usize = 5;
pub const RETENTION_DAYS_MAX: u16 = 365;
/// Names and values of the metadata of a queue, a blob container or a blob.
pub const METADATA_BYTES_MAX: usize = 8 * 1024;
