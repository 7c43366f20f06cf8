//! What a transaction may touch: one logical partition of one container, or the catalog.

use std::hash::{DefaultHasher, Hash, Hasher};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope<'a> {
    /// Databases, containers, offers and background work.
    Catalog,
    /// One logical partition, by its container and the bytes of its effective partition key.
    Partition { container: u32, epk: &'a [u8] },
}

impl Scope<'_> {
    pub(crate) fn stripe(self, stripes: usize) -> usize {
        let mut hasher = DefaultHasher::new();
        self.hash(&mut hasher);
        (hasher.finish() % stripes as u64) as usize
    }
}
