//! What queries leave to those after them: where items lie, and how many entries were counted.

use super::counts::Counts;
use super::places::Places;
use orrery_core::Lsn;

/// Of all containers of a store, and never more than fits.
#[derive(Default)]
pub struct Memory {
    pub(super) places: Places,
    pub(super) counts: Counts,
}

/// The memory, for a query that sees the store as it was after a commit.
#[derive(Clone, Copy)]
pub struct Recall<'a> {
    pub(super) memory: &'a Memory,
    pub(super) at: Lsn,
}

impl Memory {
    pub fn at(&self, at: Lsn) -> Recall<'_> {
        Recall { memory: self, at }
    }
}
