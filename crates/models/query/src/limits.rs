//! The limits of queries: text, plan, execution, regular expressions and index access.

/// Paths of a composite index.
pub const COMPOSITE_PATHS_MAX: usize = 8;
/// Query text.
pub const QUERY_TEXT_BYTES_MAX: usize = 512 * 1024;
/// Tree levels that a subquery counts for: it has more clauses, and so needs more stack.
pub const QUERY_SUBQUERY_LEVELS: usize = 8;
/// JOINs in one SELECT.
pub const QUERY_JOINS_MAX: usize = 10;
/// Items between the parentheses of an IN.
pub const QUERY_IN_ITEMS_MAX: usize = 16_000;
/// Bytes of a token that an error message repeats.
pub const QUERY_TOKEN_SHOWN_BYTES_MAX: usize = 256;
/// A page that has taken this long ends with the rows it has and a continuation.
pub const PAGE_MILLIS_MAX: u64 = 2_000;
/// Time limit for work that cannot be split into pages (sorting, grouping), after which the query is refused.
pub const QUERY_MILLIS_MAX: u64 = 45_000;
/// Memory for the rows that one page of a sorted, grouped or distinct query holds; if more rows are needed,
/// pages become shorter.
pub const PAGE_SORT_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Memory for the values that a subquery builds; beyond it the query is refused.
pub const QUERY_MEMORY_BYTES_MAX: usize = 128 * 1024 * 1024;
/// Memory for an array or object that a query builds for one row.
pub const VALUE_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Limits of a regular expression: its text, its compiled automata, and, for look-around or back-references,
/// its classes, each of which may become an automaton. Larger patterns are refused.
pub const REGEX_PATTERN_BYTES_MAX: usize = 32 * 1024;
pub const REGEX_BYTES_MAX: usize = 10 * 1024 * 1024;
pub const REGEX_CLASSES_MAX: usize = 256;
/// Steps of a pattern with look-around or back-references, on one text (about a tenth of a second) and on all
/// texts of a page; and the memory of its pending branches.
pub const REGEX_STEPS_MAX: u64 = 10_000_000;
pub const REGEX_PAGE_STEPS_MAX: u64 = 1_000_000_000;
pub const REGEX_STACK_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Bytes of a text times characters of a pattern with repetitions expanded: the worst case of an automaton,
/// about two seconds.
pub const REGEX_WORK_MAX: u64 = 1 << 28;
/// Compiled patterns that an execution caches; documents may supply many patterns.
pub const REGEX_CACHED_MAX: usize = 8;
/// Expressions of a GROUP BY.
pub const GROUP_KEYS_MAX: usize = 100;
/// A sorted query buffers rows up to this size; for a longer row it keeps the position and reads the item
/// again for the page.
pub const SORT_ROW_BYTES_MAX: usize = 4 * 1024;
/// The state of a continuation, before it is sealed into a token of at most [`CONTINUATION_BYTES_MAX`].
pub const CONTINUATION_STATE_BYTES_MAX: usize = 11_000;
/// Terms of an index predicate; more are not worth probing.
pub const PREDICATE_TERMS_MAX: usize = 1_000;
/// Simple values inside a constant array or object that are probed individually.
pub const PREDICATE_LEAVES_MAX: usize = 16;
/// Ordinals that a query reads from indexes to sort them; beyond it, the query scans the documents instead.
pub const POSTINGS_MATERIALIZED_MAX: usize = 100_000;
/// Posting lists that are merged while iterating; with more, they are materialised first.
pub const POSTINGS_MERGED_MAX: usize = 32;
/// Spans of one index that a query scans in sequence.
pub const INDEX_SPANS_MAX: usize = 1_000;
/// Distinct values of one part of a composite index that a skip scan steps over.
pub const INDEX_SKIPS_MAX: usize = 64;
/// Cached syntax trees, and the longest text that is cached.
pub const PARSE_CACHE_ENTRIES_MAX: usize = 128;
pub const PARSE_CACHE_TEXT_BYTES_MAX: usize = 2_048;
/// Probes while planning: entries counted in one span, entries if a longer count is known to pay off, and the
/// number of probes.
pub const PROBE_ENTRIES_MAX: u64 = 128;
pub const PROBE_ENTRIES_FURTHER_MAX: u64 = 10_000;
pub const PROBES_MAX: u32 = 64;
