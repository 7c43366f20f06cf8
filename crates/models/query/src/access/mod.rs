//! How a query finds its documents without reading them all.
//!
//! ```text
//! filter ─ need ─> what every match has ─ choose ─> Access ─ run ─> documents, or what is known of them
//! ```
//!
//! What comes out is a superset of the matches, each document once: the executor applies the whole filter again.
//! So an index may know less than the filter asks, and an answer is the same without any.

mod indexes;

pub use indexes::{
    Begin, Entries, Entry, IndexOf, Indexes, Interval, Known, Path, Rectangle, Shown, Span, Step,
};
