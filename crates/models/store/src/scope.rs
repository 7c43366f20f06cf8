//! What a transaction may touch: one logical partition of one container, or the catalog.

use std::hash::{DefaultHasher, Hash, Hasher};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope<'a> {
    /// Databases, containers, offers and background work.
    Catalog,
    /// One logical partition, by its container and the bytes of its effective partition key.
    Partition { container: u32, epk: &'a [u8] },
}

/// A scope that is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum OwnedScope {
    Catalog,
    Partition { container: u32, epk: Box<[u8]> },
}

impl OwnedScope {
    pub fn is(&self, scope: Scope<'_>) -> bool {
        match (self, scope) {
            (Self::Catalog, Scope::Catalog) => true,
            (Self::Partition { container, epk }, Scope::Partition { container: other, epk: key }) => {
                *container == other && **epk == *key
            }
            _ => false,
        }
    }
}

impl Scope<'_> {
    pub(crate) fn to_owned(self) -> OwnedScope {
        match self {
            Self::Catalog => OwnedScope::Catalog,
            Self::Partition { container, epk } => OwnedScope::Partition { container, epk: epk.into() },
        }
    }

    pub(crate) fn stripe(self, stripes: usize) -> usize {
        let mut hasher = DefaultHasher::new();
        self.hash(&mut hasher);
        (hasher.finish() % stripes as u64) as usize
    }
}
