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
mod used;
mod way;
mod weigh;

pub use choose::{Prefer, Walk};
pub use indexes::{
    Begin, Declared, Entries, Entry, IndexOf, Indexes, Interval, Known, Path, Rectangle, Shown, ShownName,
    Span, Step, is_kept_whole,
};
pub use need::{Need, need};
pub use path::{Slots, children, path_of, paths_read};
pub use rules::rectangle_of;
pub use show::Spelled;
pub use used::{Purpose, Use, Used};
pub use way::{Access, Along, End, Ends, KeyAt, Set, Sorted, Sought, Ties};

pub(crate) use choose::{Task, choose, in_order};
pub(crate) use known::document;
pub(crate) use open::{conditions, open_conditions};
pub(crate) use postings::Postings;
pub(crate) use settle::{Settled, settle};
pub(crate) use used::used;
