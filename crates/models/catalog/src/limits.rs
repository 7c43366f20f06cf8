//! The limits of databases, containers and what belongs to them, and of schemas. Azure publishes most of these.

/// Unique keys of a container, and paths over all of them.
pub const UNIQUE_KEYS_MAX: usize = 10;
pub const UNIQUE_KEY_PATHS_MAX: usize = 16;
/// Computed properties of a container.
pub const COMPUTED_PROPERTIES_MAX: usize = 20;
/// Composite indexes of a container.
pub const COMPOSITE_INDEXES_MAX: usize = 100;
/// Vector dimensions by index type.
pub const VECTOR_DIMENSIONS_FLAT_MAX: u64 = 505;
pub const VECTOR_DIMENSIONS_MAX: u64 = 4096;
/// What a vector index may ask for: bytes of a quantized vector (at most one a dimension), the length of its search list,
/// and the number of paths that shard it.
pub const VECTOR_QUANTIZATION_BYTES_MAX: u64 = 512;
pub const VECTOR_SHARD_PATHS_MAX: usize = 1;
pub const VECTOR_SEARCH_LIST_MIN: i64 = 25;
pub const VECTOR_SEARCH_LIST_MAX: i64 = 500;
/// Entries of any one list in a container's definition that has no smaller limit of its own.
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
/// How far throughput may fall below the most it has ever been: so many times.
pub const THROUGHPUT_MANUAL_SCALE_MAX: u64 = 100;
pub const THROUGHPUT_AUTOSCALE_SCALE_MAX: u64 = 10;
/// One physical partition carries this much of a container's throughput.
pub const THROUGHPUT_PER_RANGE: u64 = 6000;
/// Databases in an account, and containers in a database.
pub const DATABASES_MAX: usize = 10_000;
pub const CONTAINERS_MAX: usize = 10_000;
/// Users and client encryption keys of a database, permissions of a user, and scripts of a container by their kind.
pub const USERS_MAX: u64 = 500_000;
pub const CLIENT_KEYS_MAX: u64 = 20;
pub const PERMISSIONS_MAX: u64 = 2_000_000;
pub const STORED_PROCEDURES_MAX: u64 = 100;
pub const TRIGGERS_MAX: u64 = 25;
pub const USER_DEFINED_FUNCTIONS_MAX: u64 = 50;
/// The text of a stored procedure, a trigger or a user-defined function.
pub const SCRIPT_BYTES_MAX: usize = 256 * 1024;
/// What a client encryption key holds besides its id, and what a permission does.
pub const CLIENT_KEY_BYTES_MAX: usize = 16 * 1024;
pub const PERMISSION_BYTES_MAX: usize = 16 * 1024;
/// Custom roles and assignments of an account, and what a role is made of.
pub const ROLE_DEFINITIONS_MAX: usize = 100;
pub const ROLE_ASSIGNMENTS_MAX: usize = 2_000;
pub const ROLE_ACTIONS_MAX: usize = 64;
pub const ROLE_TEXT_CHARS_MAX: usize = 512;
/// Rows that a background sweep removes in one commit.
pub const SWEEP_ROWS_MAX: usize = 512;
/// Generations of an indexing policy that items may be indexed under at once.
pub const INDEX_GENERATIONS_MAX: usize = 16;
/// The schemas of a container as they are given, and how many there may be.
pub const SCHEMA_BYTES_MAX: usize = 256 * 1024;
pub const SCHEMAS_MAX: usize = 256;
/// Items with violations that are remembered of a container.
pub const VIOLATIONS_KEPT_MAX: usize = 10;
/// Hours of use that one transaction writes or forgets.
pub const METERING_ROWS_MAX: usize = 1_024;

// Storage accounts and what they hold, as Azure publishes.

pub const ACCOUNT_NAME_CHARS_MIN: usize = 3;
pub const ACCOUNT_NAME_CHARS_MAX: usize = 24;
pub const RESOURCE_NAME_CHARS_MIN: usize = 3;
pub const RESOURCE_NAME_CHARS_MAX: usize = 63;
pub const ACCESS_POLICIES_MAX: usize = 5;
pub const ACCESS_POLICY_ID_CHARS_MAX: usize = 64;
pub const CORS_RULES_MAX: usize = 5;
pub const RETENTION_DAYS_MAX: u16 = 365;
