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
mod entry_writer;
mod extract;
mod json_cursor;
mod layout;
mod locator;
mod policy_indexes;
mod reader;
mod rebuild;
mod scope;
mod span_cursor;
mod statistics;
mod survey;
mod terms;

pub use check::{Checked, Fault, Finding, LogOwners, check_container, check_logs, check_owners, check_texts};
pub(crate) use entry_writer::{EntryWriter, add_local_entries};
pub use locator::Locator;
pub use orrery_catalog::indexing::number::{composite_number, path_number, spatial_number};
pub use orrery_catalog::indexing::{Composite, Generations, IndexRules, Older};
pub(crate) use policy_indexes::PolicyIndexes;
pub(crate) use reader::IndexReader;
pub use rebuild::{Chunk, Progress, next_chunks, progress, reindex, save_progress};
pub(crate) use scope::{EpkRange, IndexScope};
pub use statistics::{IndexStatistics, StatisticsView};
pub use survey::{
    Survey, SurveyedPartition, SurveyedPath, Weight, item_weight, partition_key, survey, survey_partitions,
};
pub use terms::{Terms, terms};

/// Fields of a container's tally that are no path: how many items it has, and how many of them are indexed.
pub const DOCUMENTS: u64 = 0;
pub const INDEXED: u64 = 1;
