//! The change feed: what happened to the items of a container, in the order of commits.
//!
//! ```text
//! log          entries, one change each, and the commits they form
//! latest       each item once, in its current version: from the log, or from the items where they are fewer
//! versions     every change, with the item after it and before it
//! retention    how far back versions are kept, and the log position of a moment
//! trim         removing what no reader can ask for any more
//! ```
//!
//! A position is the LSN of a commit: all of it has been seen. So the changes of one commit are never divided, a position
//! is good for any scope of the container, before a split and after it, and nothing is kept for a reader. Readers look
//! at one snapshot, which has every commit up to its own LSN and none above; so nothing is seen twice or left out.

mod latest;
mod log;
mod retention;
mod trim;
mod versions;

pub use latest::latest;
pub use log::{Change, Entry};
pub(crate) use log::{log, replaced};
pub use retention::{NotRetained, check_retained, horizon, position_at, retention};

pub use trim::{Trimming, apply_trimming, plan_trimming};
pub use versions::{Version, versions};

use orrery_core::{Lsn, Timestamp};

/// Where a page begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Start {
    /// Changes of later commits than this.
    pub after: Lsn,
    /// And of this second or later ones, whatever the clock did meanwhile.
    pub since: Option<Timestamp>,
}

impl Start {
    fn is_before(self, at: Timestamp) -> bool {
        self.since.is_some_and(|since| at.seconds() < since.seconds())
    }
}

#[derive(Debug)]
pub struct Changes<T> {
    pub changes: Vec<T>,
    /// Where the next page begins.
    pub after: Lsn,
    /// Whether the page ended before it had seen all that there is.
    pub has_more: bool,
    pub work: Work,
}

/// What a page took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Log entries that were looked at, and what they hold.
    pub entries: usize,
    pub entry_bytes: usize,
    /// Items that were read, and their text.
    pub items: usize,
    pub item_bytes: usize,
}

impl Work {
    fn and(self, other: Self) -> Self {
        Self {
            entries: self.entries + other.entries,
            entry_bytes: self.entry_bytes + other.entry_bytes,
            items: self.items + other.items,
            item_bytes: self.item_bytes + other.item_bytes,
        }
    }
}
