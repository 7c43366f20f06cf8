//! The limits of queries: text, plan, execution, regular expressions and index access.

/// Paths of a composite index.
pub const COMPOSITE_PATHS_MAX: usize = 8;
/// Query text.
pub const QUERY_TEXT_BYTES_MAX: usize = 512 * 1024;
/// How many levels of a query's tree a subquery counts for: it has more clauses, and so needs more of a stack.
pub const QUERY_SUBQUERY_LEVELS: usize = 8;
/// JOINs of one SELECT.
pub const QUERY_JOINS_MAX: usize = 10;
/// Items between the parentheses of one IN.
pub const QUERY_IN_ITEMS_MAX: usize = 16_000;
/// How much of a token a message about it repeats.
pub const QUERY_TOKEN_SHOWN_BYTES_MAX: usize = 256;
/// A page of a query ends, with what it has and a continuation, when it has taken this long.
pub const PAGE_MILLIS_MAX: u64 = 2_000;
/// What must be seen whole (sorting, grouping) may take this long before it is refused.
pub const QUERY_MILLIS_MAX: u64 = 45_000;
/// Memory for the rows that a page of a sorted, grouped or distinct query holds at once; with more rows than
/// fit, pages become shorter.
pub const PAGE_SORT_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Memory for what a subquery builds; beyond it the query is refused.
pub const QUERY_MEMORY_BYTES_MAX: usize = 128 * 1024 * 1024;
/// Memory for an array or object that a query builds for one row.
pub const VALUE_BYTES_MAX: usize = 16 * 1024 * 1024;
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
/// Where a query goes on, before it is sealed into a token of at most [`CONTINUATION_BYTES_MAX`].
pub const CONTINUATION_STATE_BYTES_MAX: usize = 11_000;
/// Terms that are kept of what a filter implies; more are not worth seeking.
pub const PREDICATE_TERMS_MAX: usize = 1_000;
/// Simple values inside an array or object of the query that are sought one by one.
pub const PREDICATE_LEAVES_MAX: usize = 16;
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
/// What a query may count in indexes before it chooses one: entries of one stretch, entries of one where it is known
/// to be worth it, and stretches.
pub const PROBE_ENTRIES_MAX: u64 = 128;
pub const PROBE_ENTRIES_FURTHER_MAX: u64 = 10_000;
pub const PROBES_MAX: u32 = 64;
