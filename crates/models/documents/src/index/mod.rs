//! Indexes over items: what of an item is indexed, under which keys, and keeping it so.
//!
//! ```text
//! policy ─ rules ─> what is indexed ─ terms ─> of one item ─ write ─> entries in its own transaction
//! ```
//!
//! A term is the number of a path, or of a composite index, and a value there. An item has an entry for each of its
//! terms, found by term over the whole container; items of a large partition have one more, found by partition and
//! term. The rows are described in `docs/formats/index.md`.

pub mod advice;
mod cells;
mod check;
mod composite;
mod counts;
mod declared;
mod gather;
mod place;
mod reach;
mod rebuild;
mod search;
mod span;
mod survey;
mod terms;
mod text;
mod walk;
mod write;

pub use check::{Checked, Fault, Finding, check_container, check_logs, check_owners, check_texts};
pub use counts::{IndexStatistics, StatisticsView};
pub(crate) use declared::Declared;
pub use orrery_catalog::indexing::number::{composite_number, path_number, spatial_number};
pub use orrery_catalog::indexing::{Composite, Generations, IndexRules, Older};
pub use place::Place;
pub(crate) use reach::{Area, Reach};
pub use rebuild::{Chunk, Progress, next, note, progress, reenter};
pub(crate) use search::Searched;
pub use survey::{Survey, SurveyedPartition, SurveyedPath, Weight, holdings, partition_key, survey, weigh};
pub use terms::{Terms, terms};
pub(crate) use write::{Entering, enlarge};

/// Fields of a container's tally that are no path: how many items it has, and how many of them are indexed.
pub const DOCUMENTS: u64 = 0;
pub const INDEXED: u64 = 1;
