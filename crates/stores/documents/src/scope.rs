//! The scopes of document transactions (one logical partition of one container, or the catalog), and the partition key
//! ranges that a read covers.

use orrery_documents::catalog::{Container, scope};
use orrery_documents::item::FeedScope;
use orrery_documents::ranges::Range;
use orrery_keys::Epk;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope<'a> {
    /// Databases, containers, offers and background work.
    Catalog,
    /// One logical partition, by its container and the bytes of its effective partition key.
    Partition { container: u32, epk: &'a [u8] },
}

impl Scope<'_> {
    /// The scope's bytes for the transaction manager.
    pub(crate) fn to_bytes(self) -> Vec<u8> {
        match self {
            Self::Catalog => vec![scope::CATALOG],
            Self::Partition { container, epk } => {
                let mut bytes = Vec::with_capacity(5 + epk.len());
                bytes.push(scope::DOCUMENT_PARTITION);
                bytes.extend_from_slice(&container.to_be_bytes());
                bytes.extend_from_slice(epk);
                bytes
            }
        }
    }
}

/// The ranges that a scope overlaps: at least one, since every key is in one.
pub fn covered<'a>(scope: &FeedScope, container: &'a Container) -> &'a [Range] {
    match scope {
        FeedScope::Partition(epk) => overlapping(container.ranges().leaves(), epk, epk),
        FeedScope::Between(min, max) => overlapping(container.ranges().leaves(), min, max),
    }
}

/// The ranges that overlap `[min, max)`, and at least the one that contains `min`.
fn overlapping<'a>(ranges: &'a [Range], min: &Epk, max: &Epk) -> &'a [Range] {
    let first = ranges.partition_point(|range| range.min <= *min).saturating_sub(1);
    let end = ranges.partition_point(|range| range.min < *max).clamp(first + 1, ranges.len());
    &ranges[first..end]
}

#[cfg(test)]
mod tests {
    use super::*;
    use orrery_documents::ranges::Ranges;
    use orrery_keys::Hashing;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_scope_covers_exactly_the_ranges_that_it_shares_keys_with(
            count in 1usize..20, split in 0usize..8, one in 0u8..=0x40, other in 0u8..=0x40,
        ) {
            let ranges = Ranges::even(Hashing::HashV2, count).grown(Hashing::HashV2, count + split);
            let key = |byte: u8| Epk::from_bytes(&[byte; 16]).expect("a key");
            let (min, max) = (key(one.min(other)), key(one.max(other)));
            let shares = |range: &&Range| range.min < max && min < range.max;
            let mut expected: Vec<&Range> = ranges.leaves().iter().filter(shares).collect();
            if min == max {
                expected = vec![ranges.of(&min)];
            }
            let covered: Vec<&Range> = overlapping(ranges.leaves(), &min, &max).iter().collect();
            prop_assert_eq!(covered, expected);
            let all = overlapping(ranges.leaves(), &Epk::start(), &Epk::end());
            prop_assert_eq!(all.len(), ranges.leaves().len());
        }
    }
}
