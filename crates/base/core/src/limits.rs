//! Every limit in one place. Names end in their unit; the ones Azure documents have Azure's value.

mod services;

pub use services::*;

/// The largest item, as the JSON text that is stored.
pub const ITEM_BYTES_MAX: usize = 2 * 1024 * 1024;
/// A text of so many bytes lies apart from its item's row and is written once; a smaller one lies in the row.
pub const TEXT_APART_BYTES_MIN: usize = 16 * 1024;
/// The largest request body read before the request is refused; a little above an item for its envelope.
pub const BODY_BYTES_MAX: usize = ITEM_BYTES_MAX + 64 * 1024;
/// Arrays and objects inside one another.
pub const NESTING_LEVELS_MAX: usize = 128;
/// Names of databases and containers.
pub const NAME_CHARS_MAX: usize = 255;
/// Ids of items.
pub const ITEM_ID_BYTES_MAX: usize = 1023;
/// A partition key value, each component.
pub const PARTITION_KEY_BYTES_MAX: usize = 2048;
/// Paths of a hierarchical partition key.
pub const PARTITION_KEY_PATHS_MAX: usize = 3;
/// An effective partition key. The longest is version 1 of a long string: a hash of up to 10 bytes and 102
/// of the value; a range's end may be one more.
pub const EPK_BYTES_MAX: usize = 128;
/// Unique keys of a container, and paths over all of them.
pub const UNIQUE_KEYS_MAX: usize = 10;
pub const UNIQUE_KEY_PATHS_MAX: usize = 16;
/// The values of one unique key, as they are written into a row's key; the engine's keys end at 65,535 bytes.
pub const UNIQUE_KEY_BYTES_MAX: usize = 32 * 1024;
/// Computed properties of a container.
pub const COMPUTED_PROPERTIES_MAX: usize = 20;
/// Operations of one patch, and of one batch.
pub const PATCH_OPERATIONS_MAX: usize = 10;
pub const BATCH_OPERATIONS_MAX: usize = 100;
/// The body of a batch.
pub const BATCH_BYTES_MAX: usize = 2 * 1024 * 1024;
/// Text of items that one batch may read, write and replace, and so may answer with.
pub const BATCH_WORK_BYTES_MAX: usize = 32 * 1024 * 1024;
/// Text of items that one transaction of a bulk request writes and replaces; what is left goes into the next.
pub const BULK_TRANSACTION_BYTES_MAX: usize = 8 * 1024 * 1024;
/// A plan of a migration, how deep it may be nested, and its rules.
pub const MIGRATION_PLAN_BYTES_MAX: usize = 1024 * 1024;
pub const MIGRATION_PLAN_LEVELS_MAX: usize = 64;
pub const MIGRATION_RULES_MAX: usize = 1000;
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
/// How long a migration waits for a server that does not answer or has no throughput left.
pub const MIGRATION_PATIENCE_SECONDS_MAX: u64 = 300;
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
/// How long the conditions of one request's patches may take, since a partition waits for them.
pub const PATCH_CONDITIONS_MILLIS_MAX: u64 = 500;
/// What one transaction of a partition's removal removes and looks at, and partitions that a round goes on with.
pub const PURGE_ITEMS_MAX: usize = 256;
pub const PURGE_BYTES_MAX: usize = 4 * 1024 * 1024;
pub const PURGE_ROWS_MAX: usize = 4096;
pub const PURGES_PER_ROUND_MAX: usize = 64;
/// Composite indexes of a container, and paths of each.
pub const COMPOSITE_INDEXES_MAX: usize = 100;
pub const COMPOSITE_PATHS_MAX: usize = 8;
/// What a range is said to hold, in the header that tells a container's quota: 50 GB.
pub const RANGE_KILOBYTES: u64 = 50 * 1024 * 1024;
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
/// What one logical partition may hold, of items' text.
pub const PARTITION_BYTES_MAX: u64 = 20_000_000_000;
/// A page of a feed, in payload bytes and in items when the caller names no number.
pub const PAGE_BYTES_MAX: usize = 4 * 1024 * 1024;
pub const PAGE_ITEMS_DEFAULT: usize = 1000;
/// Rows (live or expired) that one page may look at before it returns with a continuation.
pub const PAGE_ROWS_SCANNED_MAX: usize = 50_000;
pub const PAGE_BYTES_SCANNED_MAX: usize = 64 * 1024 * 1024;
/// Items of a container up to which reads without an order come in the order of creation; larger containers are read in the order
/// of keys. So many are collected and sorted, in a container or in the partitions that are asked for.
pub const INSERTION_ORDER_ITEMS_MAX: u64 = 20_000;
pub const INSERTION_ORDER_COLLECTED_MAX: u64 = 1_000;
/// Query text.
pub const QUERY_TEXT_BYTES_MAX: usize = 512 * 1024;
/// Levels of a query's tree: operators, members, calls and subqueries inside one another. Whoever walks the tree
/// may recurse, so it is a bound on stacks too. Chains of AND, OR and `||` are built balanced and cost little.
pub const QUERY_TREE_LEVELS_MAX: usize = 256;
/// How many of these levels a subquery counts for: it has more clauses, and so needs more of a stack.
pub const QUERY_SUBQUERY_LEVELS: usize = 8;
/// JOINs of one SELECT.
pub const QUERY_JOINS_MAX: usize = 10;
/// Items between the parentheses of one IN.
pub const QUERY_IN_ITEMS_MAX: usize = 16_000;
/// How much of a token a message about it repeats.
pub const QUERY_TOKEN_SHOWN_BYTES_MAX: usize = 256;
/// A continuation token as it arrives.
pub const CONTINUATION_BYTES_MAX: usize = 16 * 1024;
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
/// How long a resource token works: what may be asked for, and what is given if nothing is.
pub const RESOURCE_TOKEN_SECONDS_MIN: u64 = 10;
pub const RESOURCE_TOKEN_SECONDS_DEFAULT: u64 = 60 * 60;
pub const RESOURCE_TOKEN_SECONDS_MAX: u64 = 5 * 60 * 60;
/// Custom roles and assignments of an account, and what a role is made of.
pub const ROLE_DEFINITIONS_MAX: usize = 100;
pub const ROLE_ASSIGNMENTS_MAX: usize = 2_000;
pub const ROLE_ACTIONS_MAX: usize = 64;
pub const ROLE_TEXT_CHARS_MAX: usize = 512;
/// A bearer token, and how far its times may be off ours.
pub const BEARER_BYTES_MAX: usize = 16 * 1024;
pub const BEARER_SKEW_SECONDS_MAX: u64 = 5 * 60;
/// A development token.
pub const BEARER_MINTED_SECONDS_MAX: u64 = 30 * 24 * 60 * 60;
/// The keys of an issuer: their document, their number, how long it may take to come, how often it is asked for when a
/// key is unknown, and after which time in any case.
pub const ISSUER_BYTES_MAX: usize = 256 * 1024;
pub const ISSUER_KEYS_MAX: usize = 100;
pub const ISSUER_SECONDS_MAX: u64 = 5;
pub const ISSUER_REFRESH_SECONDS_MIN: u64 = 30;
pub const ISSUER_AGE_SECONDS_MAX: u64 = 24 * 60 * 60;

/// Transactions the committer puts under one sync.
pub const GROUP_TRANSACTIONS_MAX: usize = 1024;
/// Bytes of puts under one sync; a transaction larger than this goes alone.
pub const GROUP_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Transactions waiting for the committer before writers are told to come back.
pub const COMMIT_QUEUE_TRANSACTIONS_MAX: usize = 8192;
/// Bytes waiting for the committer before writers are told to come back.
pub const COMMIT_QUEUE_BYTES_MAX: usize = 256 * 1024 * 1024;
/// How long one commit may take before the watchdog stops the process.
pub const COMMIT_SECONDS_MAX: u64 = 60;
/// Seconds between two log lines about a failure that repeats, such as writes that are refused.
pub const LOG_LINE_EVERY_SECONDS: u64 = 1;
/// How often a transaction is run again because one it built on was refused.
pub const TRANSACTION_RETRIES_MAX: usize = 16;
/// Free disk space below which writes are refused, before the engine meets a full disk.
pub const DISK_FREE_BYTES_MIN: u64 = 256 * 1024 * 1024;
/// The share of that reserve, one in so many, that deletes leave too: the engine needs room to merge what they removed.
pub const DISK_FREE_LAST_SHARE: u64 = 4;
/// When a folder is opened, the checksum chain of this many last commits is verified, up to so many bytes. Logs are
/// trimmed before them, so the number of commits may be lowered but not raised: holes would come to be looked at.
pub const LOG_VERIFY_COMMITS: u64 = 10_000;
pub const LOG_VERIFY_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Expired items the reaper looks at in one round, and rows a background sweep removes in one commit.
pub const REAP_ITEMS_MAX: usize = 512;
/// Text of expired items that one commit removes.
pub const REAP_BYTES_MAX: usize = 4 * 1024 * 1024;
pub const SWEEP_ROWS_MAX: usize = 512;

/// The sentence of an error: it may repeat what a client sent, but not at any length.
pub const ERROR_MESSAGE_BYTES_MAX: usize = 4096;

/// Open connections of a listener. One of so many is in reserve for clients that have shown a credential.
pub const CONNECTIONS_MAX: usize = 8192;
pub const CONNECTIONS_RESERVE_SHARE: usize = 8;
/// How often, at most, the log says that there is no room for more connections.
pub const PRESSURE_LOG_SECONDS: u64 = 10;
/// One request's head, and its number of headers. A hundred is what the HTTP/1.1 parser has room for without
/// an allocation for each request.
pub const HEAD_BYTES_MAX: usize = 64 * 1024;
pub const HEADERS_MAX: usize = 100;
/// Requests in flight on one HTTP/2 connection.
pub const STREAMS_MAX: u32 = 256;
/// How long a client may take for a TLS handshake or a request head, and for a whole body.
pub const HEAD_SECONDS_MAX: u64 = 15;
pub const BODY_SECONDS_MAX: u64 = 60;
/// How much of a body nobody wants is read and thrown away, so that the client hears why.
pub const BODY_DISCARD_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Bodies up to this size take nothing of the memory for bodies; and how long a larger one waits for some.
pub const BODY_FREE_BYTES_MAX: usize = 16 * 1024;
pub const BODY_WAIT_MILLIS_MAX: u64 = 2_000;
/// How long a connection may be open without a request; clients keep theirs for minutes.
pub const IDLE_SECONDS_MAX: u64 = 10 * 60;
/// How long a browser may remember that a web page of an allowed origin may send a kind of request.
pub const PREFLIGHT_SECONDS: u64 = 10 * 60;
/// How often an HTTP/2 connection is asked whether anyone is there, and how long the answer may take.
pub const PING_SECONDS: u64 = 30;
pub const PING_ANSWER_SECONDS_MAX: u64 = 20;
/// No request takes longer than this from its first byte to its commit: body and commit, with room to spare.
pub const REQUEST_SECONDS_MAX: u64 = BODY_SECONDS_MAX + COMMIT_SECONDS_MAX + 60;
/// How far a request's date may be from ours.
pub const DATE_SKEW_SECONDS_MAX: u64 = 15 * 60;
/// How long a stop waits for requests in flight, and then for threads that work for nobody any more. Both together stay
/// below the 20 seconds in which the process has ended.
pub const STOP_SECONDS_MAX: u64 = 15;
pub const STOP_THREADS_SECONDS_MAX: u64 = 2;

/// A page of a query ends, with what it has and a continuation, when it has taken this long.
pub const PAGE_MILLIS_MAX: u64 = 2_000;
/// What must be seen whole (sorting, grouping) may take this long before it is refused.
pub const QUERY_MILLIS_MAX: u64 = 45_000;
/// Memory for the rows that a page of a sorted, grouped or distinct query holds at once; with more rows than
/// fit, pages become shorter.
pub const PAGE_SORT_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Memory for what a subquery builds; beyond it the query is refused.
pub const QUERY_MEMORY_BYTES_MAX: usize = 128 * 1024 * 1024;
/// An array or object that a query builds for one row: its memory, and its levels. An item has at most
/// [`NESTING_LEVELS_MAX`] of these, and the text of a query [`QUERY_TREE_LEVELS_MAX`] more.
pub const VALUE_BYTES_MAX: usize = 16 * 1024 * 1024;
pub const VALUE_LEVELS_MAX: usize = NESTING_LEVELS_MAX + QUERY_TREE_LEVELS_MAX;
/// A regular expression of a query: its text, what its automata take when they are compiled, and the classes of one that
/// looks around or refers back, each of which may become an automaton of its own. Larger ones are refused.
pub const REGEX_PATTERN_BYTES_MAX: usize = 32 * 1024;
pub const REGEX_BYTES_MAX: usize = 10 * 1024 * 1024;
pub const REGEX_CLASSES_MAX: usize = 256;
/// Steps of a regular expression that looks around or refers back: on one text, about a tenth of a second, and on all
/// texts of a page; and the memory for what it may still try.
pub const REGEX_STEPS_MAX: u64 = 10_000_000;
pub const REGEX_PAGE_STEPS_MAX: u64 = 1_000_000_000;
pub const REGEX_STACK_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Bytes of a text times the characters of a pattern, repetitions written out: what automata may have to do at most, about
/// two seconds.
pub const REGEX_WORK_MAX: u64 = 1 << 28;
/// Compiled patterns that an execution keeps; those of a query whose patterns come from documents may be many.
pub const REGEX_CACHED_MAX: usize = 8;
/// Expressions of a GROUP BY.
pub const GROUP_KEYS_MAX: usize = 100;
/// A sorted query holds a row up to this size; of a longer one it holds the position, and reads the item again for the page.
pub const SORT_ROW_BYTES_MAX: usize = 4 * 1024;
/// Queries that run at once: those that have just begun, and those that take long. More wait for one of them to end.
pub const QUERIES_BRIEF_MAX: usize = 16;
pub const QUERIES_LONG_MAX: usize = 16;
/// A query that has not ended by then is begun again among those that take long, if it has looked at the clock so often: about
/// once in a thousand rows.
pub const QUERY_BRIEF_MILLIS_MAX: u64 = 50;
pub const QUERY_BRIEF_LOOKS_MIN: u32 = 8;
/// How long a query waits for its turn among those that take long, or for memory, before it is refused.
pub const QUERY_WAIT_SECONDS_MAX: u64 = 20;
/// When a client that was refused so is told to try again.
pub const QUERY_BUSY_RETRY_MILLIS: u64 = 1_000;
/// What the server may use for queries and for bodies of requests together, unless it is told otherwise, and at least.
pub const MEMORY_MEGABYTES_DEFAULT: usize = 1024;
pub const MEMORY_MEGABYTES_MIN: usize = 64;
/// The part of it that is for bodies: a quarter.
pub const MEMORY_FOR_BODIES_DIVISOR: usize = 4;
/// Memory that is kept for one query that found none left: as much as a query may hold.
pub const QUERY_OWN_MEMORY_BYTES_MAX: usize = 256 * 1024 * 1024;
/// Where a query goes on, before it is sealed into a token of at most [`CONTINUATION_BYTES_MAX`].
pub const CONTINUATION_STATE_BYTES_MAX: usize = 11_000;
/// Counts that one tally keeps, and tallies that are kept in memory.
pub const TALLY_FIELDS_MAX: usize = 256;
pub const TALLIES_CACHED_MAX: usize = 4096;
/// From this much text on, a logical partition has index entries of its own; a smaller one is read through as fast.
pub const PARTITION_LARGE_BYTES: u64 = 512 * 1024;
/// Generations of an indexing policy that items may be indexed under at once.
pub const INDEX_GENERATIONS_MAX: usize = 16;
/// Items that a step of entering a container's items anew looks at, and how much of their text.
pub const REINDEX_ITEMS_MAX: usize = 1024;
pub const REINDEX_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Items of one partition that are entered anew in one transaction, and partitions at once.
pub const REINDEX_CHUNK_ITEMS_MAX: usize = 64;
pub const REINDEX_THREADS: usize = 16;
/// How much of a string an index keeps. It is part of the stored format.
pub const INDEX_STRING_BYTES_MAX: usize = 128;
/// Terms that an item is entered in indexes by. One that has more, such as a megabyte of different numbers, is left
/// out of them, so that a commit stays small.
pub const INDEX_TERMS_MAX: usize = 50_000;
/// Walks along an index that are merged into one: partitions that are read by their own entries.
pub const INDEX_WALKS_MAX: usize = 64;
/// Items that have expired and are not removed yet, as a query without documents remembers them.
pub const EXPIRED_CACHED_MAX: usize = 1024;
/// Cells that a shape is entered under in a spatial index, and stretches of cells that a question about one looks at.
pub const SPATIAL_CELLS_MAX: usize = 8;
pub const SPATIAL_LOOKUPS_MAX: usize = 64;
/// Terms that are kept of what a filter implies; more are not worth seeking.
pub const PREDICATE_TERMS_MAX: usize = 1_000;
/// Simple values inside an array or object of the query that are sought one by one.
pub const PREDICATE_LEAVES_MAX: usize = 16;
/// Examples that a check of stored data gives of each kind of fault.
pub const CHECK_EXAMPLES_MAX: usize = 3;
/// What is remembered of how containers are used, to advise on it: so many containers, and of each so many shapes of
/// queries with the beginning of their text, paths that they asked for, and partitions that were asked most.
pub const USAGE_CONTAINERS_MAX: usize = 256;
pub const USAGE_SHAPES_MAX: usize = 256;
pub const USAGE_SHAPE_CHARS_MAX: usize = 300;
pub const USAGE_PATHS_MAX: usize = 1024;
pub const USAGE_PARTITIONS_MAX: usize = 64;
/// How much of one path is remembered, and composite indexes that would have helped one shape.
pub const USAGE_PATH_BYTES_MAX: usize = 256;
pub const USAGE_COMPOSITES_MAX: usize = 4;
/// Items from this size on are remembered as large ones, so many of each container.
pub const ITEM_LARGE_BYTES: usize = 64 * 1024;
pub const USAGE_LARGE_ITEMS_MAX: usize = 16;
/// What a survey of a container looks at: partitions, items, their text, and names of paths; and how many of the
/// largest partitions it names.
pub const SURVEY_PARTITIONS_MAX: usize = 200_000;
pub const SURVEY_ITEMS_MAX: usize = 1024;
pub const SURVEY_BYTES_MAX: usize = 32 * 1024 * 1024;
pub const SURVEY_PATHS_MAX: usize = 4096;
pub const SURVEY_LARGEST_MAX: usize = 8;
/// Numbers of documents that a query gathers from indexes to sort them; with more, it reads the documents instead.
pub const POSTINGS_MATERIALIZED_MAX: usize = 100_000;
/// Lists of documents that are merged as they are walked; more of them are gathered first.
pub const POSTINGS_MERGED_MAX: usize = 32;
/// Stretches of one index that a query walks one after the other.
pub const INDEX_SPANS_MAX: usize = 1_000;
/// Different values of one part of a composite index that a query steps over to reach those of the next.
pub const INDEX_SKIPS_MAX: usize = 64;
/// Texts of queries whose trees are kept, and how long such a text may be.
pub const PARSE_CACHE_ENTRIES_MAX: usize = 128;
pub const PARSE_CACHE_TEXT_BYTES_MAX: usize = 2_048;
/// Queries with their parameters whose plans are kept, because they came before.
pub const PLAN_CACHE_ENTRIES_MAX: usize = 2_048;
/// Memory that the constants of such a plan may take: a short text can stand for a large value.
pub const QUERY_REMEMBERED_CONSTANTS_BYTES_MAX: usize = 4 * 1024;
/// A query that took no longer is run where its request is.
pub const QUERY_SHORT_MICROS_MAX: u64 = 1_000;
/// One that is run there and takes longer than this is begun again on a thread of its own.
pub const QUERY_PATIENCE_MILLIS: u64 = 10;
/// What a query may count in indexes before it chooses one: entries of one stretch, entries of one where it is known
/// to be worth it, and stretches.
pub const PROBE_ENTRIES_MAX: u64 = 128;
pub const PROBE_ENTRIES_FURTHER_MAX: u64 = 10_000;
pub const PROBES_MAX: u32 = 64;
/// How long a read waits for a commit that its session token speaks of and that is not durable yet.
pub const SESSION_WAIT_MILLIS: u64 = 100;
/// What an account with bounded staleness shows as its bounds, the service's for several regions. Nothing is ever stale here.
pub const STALENESS_COMMITS_SHOWN: u64 = 100_000;
pub const STALENESS_SECONDS_SHOWN: u64 = 300;
/// Request units a second: of one logical partition, of a range of a serverless container, and of all requests about
/// databases, containers and offers.
pub const PARTITION_UNITS_PER_SECOND_MAX: u64 = 10_000;
pub const SERVERLESS_UNITS_PER_SECOND_MAX: u64 = 5_000;
pub const METADATA_UNITS_PER_SECOND_MAX: u64 = 240;
/// Unused request units are saved for so long and spent at most so fast, by ranges that have less than that.
pub const BURST_SECONDS_MAX: i64 = 300;
pub const BURST_UNITS_PER_SECOND_MAX: u64 = 3_000;
/// Logical partitions whose request units are counted at once.
pub const PARTITIONS_METERED_MAX: usize = 65_536;
/// What a page of the change feed looks at before it ends with what it has: log entries, and their bytes. Two SDKs take
/// an empty page for the end of what is new, so it is much.
pub const CHANGE_FEED_ENTRIES_SCANNED_MAX: usize = 200_000;
pub const CHANGE_FEED_BYTES_SCANNED_MAX: usize = 256 * 1024 * 1024;
/// Items of a partition or container that are read instead of a longer log, and how much of their text.
pub const CHANGE_FEED_ITEMS_READ_MAX: u64 = 1_000;
pub const CHANGE_FEED_ITEMS_BYTES_MAX: usize = 8 * 1024 * 1024;
/// The same after a page's worth of log entries that none of them was found by.
pub const CHANGE_FEED_ITEMS_READ_INSTEAD_MAX: u64 = 20_000;
pub const CHANGE_FEED_ITEMS_BYTES_INSTEAD_MAX: usize = 32 * 1024 * 1024;
/// How far a clock may have been set back for a start at a time to miss nothing.
pub const CHANGE_FEED_CLOCK_SETBACK_MILLIS_MAX: u64 = 10_000;
/// Log entries that one step of trimming looks at, and their bytes; and how often a container is looked at.
pub const LOG_TRIM_ENTRIES_MAX: usize = 4096;
pub const LOG_TRIM_BYTES_MAX: usize = 16 * 1024 * 1024;
pub const LOG_TRIM_EVERY_SECONDS: u64 = 60;

/// How long a stored procedure, or the triggers of one write, may run.
pub const SCRIPT_MILLIS_MAX: u64 = 5_000;
/// From then on no more operations are taken from it, so that it can say how far it came before its time is over.
pub const SCRIPT_ACCEPT_MILLIS_MAX: u64 = 3_000;
/// How long whoever asked waits, tries and all, before it is told that the time is over.
pub const SCRIPT_ANSWER_MILLIS_MAX: u64 = 20_000;
/// What the user-defined functions of one page of a query may take together.
pub const UDF_MILLIS_MAX: u64 = 5_000;
/// Memory and stack of one JavaScript runtime.
pub const SCRIPT_MEMORY_BYTES_MAX: usize = 64 * 1024 * 1024;
pub const SCRIPT_STACK_BYTES_MAX: usize = 256 * 1024;
/// What a script gives back, and how much of its log is kept; the log travels in a header, escaped.
pub const SCRIPT_OUTPUT_BYTES_MAX: usize = 4 * 1024 * 1024;
pub const SCRIPT_LOG_BYTES_MAX: usize = 4 * 1024;
pub const SCRIPT_LOG_HEADER_BYTES_MAX: usize = 8 * 1024;
/// Operations of one script, and the text of what it writes; it is told to come back before it reaches them.
pub const SCRIPT_OPERATIONS_MAX: u64 = 10_000;
pub const SCRIPT_WRITTEN_BYTES_MAX: usize = 8 * 1024 * 1024;
/// What a script changes in all, with the text of what it replaces and deletes; more is refused.
pub const SCRIPT_CHANGED_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Items of a partition whose numbers are remembered for a script that names them by link.
pub const SCRIPT_ORDINALS_MAX: usize = 100_000;
/// Items of a page of a query in a script, when it names no number.
pub const SCRIPT_PAGE_ITEMS_DEFAULT: usize = 100;
/// Time after the end of a script's own in which its process may end it in good order, before it is killed.
pub const SCRIPT_KILL_GRACE_MILLIS: u64 = 250;
/// Interval at which the server looks at the clock while it waits for a script's process.
pub const SCRIPT_WAIT_SLICE_MILLIS: u64 = 50;
/// A script that runs longer than this is a long one: it gives its place to the next and yields the processor.
pub const SCRIPT_SHORT_MILLIS_MAX: u64 = 500;
/// Short scripts that run at once, and long ones beside them; more wait for one of them to end.
pub const SCRIPTS_MAX: usize = 8;
pub const SCRIPTS_LONG_MAX: usize = 8;
/// Processes for scripts that wait for work at least, once there were so many, and at most.
pub const SCRIPT_WORKERS_WARM: usize = 2;
pub const SCRIPT_WORKERS_IDLE_MAX: usize = 8;
/// The longest message that a script's process may send.
pub const SCRIPT_FRAME_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Memory of a script's process in all: the JavaScript heap, and copies of what goes in and out.
pub const SCRIPT_PROCESS_BYTES_MAX: u64 = 256 * 1024 * 1024;
/// What is kept of the message, and of the stack trace, of an error that a script throws.
pub const SCRIPT_ERROR_BYTES_MAX: usize = 16 * 1024;
/// Tries of a script while others write to its partition; in the last one they wait for it.
pub const SCRIPT_TRIES_MAX: usize = 3;
/// Triggers that one write may name.
pub const WRITE_TRIGGERS_MAX: usize = 16;

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
/// How often applying begins anew because somebody else changed the server meanwhile.
pub const BLUEPRINT_ROUNDS_MAX: usize = 4;

/// The schemas of a container as they are given, how many there may be, and arrays and objects inside one another.
pub const SCHEMA_BYTES_MAX: usize = 256 * 1024;
pub const SCHEMAS_MAX: usize = 256;
pub const SCHEMA_LEVELS_MAX: usize = 64;
/// Parts of one schema when its references are followed, and parts inside one another on such a way.
pub const SCHEMA_PARTS_MAX: u64 = 10_000;
pub const SCHEMA_REFERENCE_LEVELS_MAX: usize = 64;
/// Regular expressions of one schema, and what one of them takes when it is compiled.
pub const SCHEMA_PATTERNS_MAX: usize = 128;
pub const SCHEMA_PATTERN_BYTES_MAX: usize = 256 * 1024;
/// Levels of an item times levels of a recursive schema: what there is stack for.
pub const SCHEMA_RECURSION_LEVELS_MAX: usize = 1_024;
/// Values of an item, each as often as recursions meet it, up to which all that is wrong with it is looked for.
pub const SCHEMA_EXPLAIN_STEPS_MAX: u64 = 100_000;
/// What is said of a schema that is refused.
pub const SCHEMA_REFUSAL_CHARS_MAX: usize = 1_000;
/// Violations that are told of one item; how long the place and the reason of one are; texts that are shown in them.
pub const VIOLATIONS_SHOWN_MAX: usize = 5;
pub const VIOLATION_POINTER_CHARS_MAX: usize = 200;
pub const VIOLATION_REASON_CHARS_MAX: usize = 300;
pub const VIOLATION_VALUE_BYTES_MAX: usize = 60;
/// Items with violations that are remembered of a container.
pub const VIOLATIONS_KEPT_MAX: usize = 10;

/// What is measured of each by itself: containers, and logical partitions of all of them, whose keys are this long at most
/// as they are sent; the rest is counted together.
pub const MONITOR_CONTAINERS_MAX: usize = 256;
pub const MONITOR_PARTITIONS_MAX: usize = 2_048;
pub const MONITOR_PARTITION_KEY_BYTES_MAX: usize = 512;
/// Logical partitions of a container, and queries of all, that a report names.
pub const MONITOR_PARTITIONS_TOLD_MAX: usize = 10;
pub const MONITOR_QUERIES_TOLD_MAX: usize = 20;
/// How often the sizes of containers are looked up, how many partitions one look goes through in all, and how often what
/// was measured is written down.
pub const MONITOR_SIZES_EVERY_SECONDS: u64 = 60;
pub const MONITOR_SIZES_ROWS_MAX: u64 = 1_000_000;
pub const METERING_EVERY_SECONDS: u64 = 60;
/// Hours that measured use is kept for: thirteen months.
pub const METERING_HOURS_MAX: u32 = 13 * 31 * 24;
/// Hours of use that one transaction writes or forgets.
pub const METERING_ROWS_MAX: usize = 1_024;
/// Looks at the counters that alerts keep, at most this many within a rule's window; alerts at once, and those that are
/// over and still told.
pub const ALERT_SAMPLES_MAX: usize = 16;
pub const ALERT_WINDOW_SECONDS_MAX: u64 = 86_400;
pub const ALERTS_MAX: usize = 1_024;
pub const ALERTS_RESOLVED_MAX: usize = 64;
/// How long a collector of measurements has to take them.
pub const OTLP_SECONDS_MAX: u64 = 10;
