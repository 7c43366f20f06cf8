//! How a query finds its documents without reading them all.
//!
//! ```text
//! filter ─ need ─> what every match has ─ choose ─> Access ─ run ─> documents, or what is known of them
//! ```
//!
//! What comes out is a superset of the matches, each document once: the executor applies the whole filter again.
//! So an index may know less than the filter asks, and an answer is the same without any.

mod choices;
mod choose;
mod conditions;
mod cost;
mod gather;
mod indexes;
mod interval;
mod known;
#[cfg(test)]
mod multiples;
mod need;
mod open;
mod path;
mod postings;
mod rules;
mod settle;
mod show;
mod usage;
mod way;
mod weigh;

pub use choose::{AccessPreference, ScanOrder};
pub use indexes::{
    DeclaredIndexes, Entry, EntryCursor, EntryValue, IndexOf, Indexes, Interval, NameDisplay, Path,
    PathDisplay, Rectangle, SeekKey, Span, Step, is_stored_whole,
};
pub use need::{IndexPredicate, index_predicate};
pub use path::{Slots, path_of, paths_read, subexpressions};
pub use rules::rectangle_of;
pub use show::CompositeDisplay;
pub use usage::{IndexUsage, IndexUse, Purpose};
pub use way::{
    Access, EndProbe, IndexEnd, IndexEnds, IndexScan, KeySource, PostingSet, SortedPrefix, TieOrder,
};

pub(crate) use choose::{Task, choose, in_order};
pub(crate) use known::document;
pub(crate) use open::{conditions, open_conditions};
pub(crate) use postings::Postings;
pub(crate) use settle::{Settled, settle};
pub(crate) use usage::index_usage;
