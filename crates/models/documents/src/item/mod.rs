//! Items: a row each, the text that arrived behind a small header.

mod collection;
mod creation_order;
mod feed;
mod operations;
mod patch;
mod prefetch;
mod prepare;
mod prune;
mod record;
mod statistics;

pub use feed::{FeedScope, Page, id_of, ids_by_ordinal, read_feed};
pub use operations::{Effect, ItemError, Target, create, delete, read, replace, upsert};
pub(crate) use operations::{Removal, head, remove, require_container, stored};

pub use collection::Items;
pub(crate) use collection::failed;
pub use orrery_catalog::{Preconditions, TagMatch, Verdict};
pub use patch::{Change, patch};
pub use prepare::{Directive, PrepareError, PreparedItem, partition_key_of, prepare};
pub(crate) use prepare::{is_system, unique_of};
pub use prune::{Pruning, partitions, settings};
pub(crate) use record::LSN_AT;
pub use record::{ItemHead, ItemRow, Ttl};
pub use statistics::{Statistics, statistics};
