//! The scope of a transaction: opaque bytes that a model makes, and that the manager locks and orders by.
//!
//! A model gives two transactions the same bytes when they must not run at the same time, such as two writes to one
//! logical partition of one container.

use orrery_core::Lsn;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

#[derive(Clone, Copy, Debug)]
pub struct Scope<'a> {
    bytes: &'a [u8],
    newest: Option<&'a NewestLsn>,
}

impl<'a> Scope<'a> {
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, newest: None }
    }

    /// Raises `newest` to the LSN of each commit in this scope, before anyone can see that commit.
    pub const fn tracked(self, newest: Option<&'a NewestLsn>) -> Self {
        Self { newest, ..self }
    }

    pub(crate) fn bytes(self) -> &'a [u8] {
        self.bytes
    }

    pub(crate) fn newest(self) -> Option<&'a NewestLsn> {
        self.newest
    }

    pub(crate) fn stripe(self, stripes: usize) -> usize {
        let mut hasher = DefaultHasher::new();
        self.bytes.hash(&mut hasher);
        (hasher.finish() % stripes as u64) as usize
    }
}

/// The LSN of the newest commit among those that share this cell.
#[derive(Clone, Debug, Default)]
pub struct NewestLsn(Arc<AtomicU64>);

impl NewestLsn {
    pub fn new(lsn: Lsn) -> Self {
        Self(Arc::new(AtomicU64::new(lsn.0)))
    }

    pub fn get(&self) -> Lsn {
        Lsn(self.0.load(Ordering::Acquire))
    }

    /// Never goes back.
    pub fn raise(&self, lsn: Lsn) {
        self.0.fetch_max(lsn.0, Ordering::AcqRel);
    }
}
