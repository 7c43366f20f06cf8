//! Access paths: finding the documents of a query without reading all of them.
//!
//! ```text
//! filter ─ predicate ─> necessary conditions ─ choose ─> Access ─ run ─> documents or covering values
//! ```
//!
//! An access path returns a superset of the matches, each document once, and the executor applies
//! the whole filter again. So an index may be less precise than the filter, and the result is the
//! same without any index.

mod access_path;
mod alternatives;
mod choose;
mod conditions;
mod cost;
mod covering;
mod document_path;
mod indexes;
mod interval;
mod materialize;
mod posting_cursor;
mod predicate;
mod predicate_rules;
mod selectivity;
#[cfg(test)]
mod test_support;
mod usage;

pub use access_path::{
    Access, CompositeDisplay, EndProbe, IndexEnd, IndexEnds, IndexScan, KeySource, PostingSet, SortedPrefix,
    TieOrder,
};
pub use choose::{AccessPreference, ScanOrder};
pub use document_path::{SlotPaths, path_of, paths_read, subexpressions};
pub use indexes::{
    DeclaredIndexes, Entry, EntryCursor, EntryValue, IndexOf, Indexes, Interval, NameDisplay, Path,
    PathDisplay, Rectangle, SeekKey, Span, Step, is_stored_whole,
};
pub use predicate::{IndexPredicate, index_predicate};
pub use predicate_rules::rectangle_of;
pub use usage::{IndexUsage, IndexUse, Purpose};

pub(crate) use choose::{PageRequest, choose, in_order};
pub(crate) use covering::{document, filter_conditions, residual_conditions};
pub(crate) use materialize::{Materialized, materialize};
pub(crate) use posting_cursor::PostingCursor;
pub(crate) use usage::index_usage;
