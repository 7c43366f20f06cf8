//! The part of a container that a query covers, and which index entries it reads.

use crate::limits;
use crate::partition::{self, PartitionSize};
use crate::row;
use orrery_kv::{Error, Read};
use std::hash::{Hash, Hasher};
use std::mem;

/// Effective partition keys from the first up to, but not including, the second.
pub type EpkRange = (Vec<u8>, Vec<u8>);

#[derive(Clone, Debug)]
pub enum IndexScope {
    /// Large partitions, by their own entries, and how many items they have.
    Partitions { epks: Vec<Vec<u8>>, items: u64 },
    /// Anything else, by the container's entries: those that lie in these areas.
    Ranges(Vec<EpkRange>),
}

/// Whether an item is in a reach, judged by the beginning of its partition key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Membership {
    Yes,
    No,
    /// The whole key decides.
    Unsure,
}

impl IndexScope {
    /// The reach of whole partitions; `None` when they are small enough to be read through.
    pub fn of_partitions(
        state: &dyn Read,
        container: u32,
        epks: Vec<Vec<u8>>,
    ) -> Result<Option<Self>, Error> {
        let sizes = epks.iter().map(|epk| partition::size(state, container, epk));
        let sizes = sizes.collect::<Result<Vec<PartitionSize>, Error>>()?;
        if epks.len() <= limits::INDEX_WALKS_MAX && sizes.iter().all(|size| size.is_large || size.items == 0)
        {
            let items = sizes.iter().map(|size| size.items).sum();
            return Ok(Some(Self::Partitions { epks, items }));
        }
        let bytes: u64 = sizes.iter().map(|size| size.bytes).sum();
        if bytes < limits::PARTITION_LARGE_BYTES {
            return Ok(None);
        }
        let areas = epks.into_iter().map(|epk| (epk.clone(), [&epk[..], &[0]].concat()));
        Ok(Some(Self::Ranges(areas.collect())))
    }

    /// Whether an item lies in it whose key begins with these bytes; entries of partitions always do.
    pub fn holds_prefix(&self, prefix: [u8; 4]) -> Membership {
        let Self::Ranges(areas) = self else { return Membership::Yes };
        let mut inside = Membership::No;
        for (min, max) in areas {
            let (low, high) = (row::epk_prefix(min), row::epk_prefix(max));
            let is_above = prefix > low || min.is_empty();
            match (is_above, prefix < high) {
                (true, true) => return Membership::Yes,
                _ if prefix < low || prefix > high => {}
                _ => inside = Membership::Unsure,
            }
        }
        inside
    }

    pub fn holds(&self, epk: &[u8]) -> bool {
        match self {
            Self::Partitions { epks, .. } => epks.iter().any(|known| known == epk),
            Self::Ranges(areas) => areas.iter().any(|(min, max)| &min[..] <= epk && epk < &max[..]),
        }
    }
}

/// By where it is, however many items are there.
impl Hash for IndexScope {
    fn hash<H: Hasher>(&self, state: &mut H) {
        mem::discriminant(self).hash(state);
        match self {
            Self::Partitions { epks, .. } => epks.hash(state),
            Self::Ranges(areas) => areas.hash(state),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The beginning of a key never says what the whole key does not.
        #[test]
        fn a_prefix_is_never_wrong(
            epk in prop::collection::vec(0u8..3, 0..7),
            min in prop::collection::vec(0u8..3, 0..7),
            max in prop::collection::vec(0u8..3, 0..7),
        ) {
            let scope = IndexScope::Ranges(vec![(min, max)]);
            match scope.holds_prefix(row::epk_prefix(&epk)) {
                Membership::Yes => prop_assert!(scope.holds(&epk)),
                Membership::No => prop_assert!(!scope.holds(&epk)),
                Membership::Unsure => {}
            }
        }
    }
}
