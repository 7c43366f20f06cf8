//! How a query finds its documents without reading them all.
//!
//! ```text
//! filter ─ need ─> what every match has ─ choose ─> Access ─ run ─> documents, or what is known of them
//! ```
//!
//! What comes out is a superset of the matches, each document once: the executor applies the whole filter again.
//! So an index may know less than the filter asks, and an answer is the same without any.

mod indexes;
mod interval;
mod need;
mod path;
mod rules;

pub use indexes::{
    Begin, Entries, Entry, IndexOf, Indexes, Interval, Known, Path, Rectangle, Shown, Span, Step,
};
pub use need::{Need, need};
pub use path::{Slots, path_of, paths_read};
pub use rules::rectangle_of;
