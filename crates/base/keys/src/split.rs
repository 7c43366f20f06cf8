//! Splits the key space of a container into ranges.
//!
//! Hashes fill less than the key space: 126 bits for version 2 (and the first level of a hierarchical key),
//! 32 bits, as a number, for version 1. Splits are even in terms of hashes.

use crate::epk::Epk;
use crate::hashing::{Hashing, decode_number, encode_number};

/// The greatest hash of each kind.
const V1_MAX: u128 = u32::MAX as u128;
const V2_MAX: u128 = u128::MAX >> 2;

/// The inner bounds of ranges of equal size, which together cover the key space: one fewer than ranges.
pub fn even_bounds(hashing: Hashing, ranges: usize) -> Vec<Epk> {
    let count = ranges as u128;
    let bound = |i: u128| match hashing {
        Hashing::HashV1 => at_hash(hashing, i * V1_MAX / count),
        Hashing::HashV2 | Hashing::MultiHash => at_hash(hashing, i * (V2_MAX / count)),
    };
    (1..count).map(bound).collect()
}

/// The key halfway through the hashes of a range; `None` if it is too small to split.
pub fn midpoint(hashing: Hashing, min: &Epk, max: &Epk) -> Option<Epk> {
    let (low, high) = (hash_at(hashing, min), hash_at(hashing, max));
    let middle = low + high.checked_sub(low)? / 2;
    Some(at_hash(hashing, middle)).filter(|epk| min < epk && epk < max)
}

fn at_hash(hashing: Hashing, hash: u128) -> Epk {
    Epk::computed(match hashing {
        Hashing::HashV1 => encode_number(hash as f64),
        Hashing::HashV2 | Hashing::MultiHash => hash.to_be_bytes().to_vec(),
    })
}

/// The hash of a bound; bounds outside of the hashes map to the nearest one.
fn hash_at(hashing: Hashing, bound: &Epk) -> u128 {
    match hashing {
        Hashing::HashV1 => match decode_number(bound.as_bytes()) {
            // A float-to-integer cast saturates.
            Some(hash) => u128::from(hash as u32),
            None if bound.as_bytes() < &[0x05][..] => 0,
            None => V1_MAX,
        },
        Hashing::HashV2 | Hashing::MultiHash => {
            let bytes = bound.as_bytes().iter().chain(std::iter::repeat(&0)).take(16);
            bytes.fold(0, |hash, byte| hash << 8 | u128::from(*byte)).min(V2_MAX)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Hashing::{HashV1, HashV2, MultiHash};

    fn bounds(hashing: Hashing, ranges: usize) -> Vec<String> {
        even_bounds(hashing, ranges).iter().map(Epk::to_string).collect()
    }

    #[test]
    fn ranges_are_cut_evenly() {
        assert_eq!(bounds(HashV2, 2), ["1FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF"]);
        assert_eq!(bounds(MultiHash, 2), bounds(HashV2, 2));
        assert_eq!(bounds(HashV1, 4)[0], "05C1CFFFFFFFF8");
        for hashing in [HashV1, HashV2, MultiHash] {
            assert!(bounds(hashing, 0).is_empty() && bounds(hashing, 1).is_empty());
            for ranges in [2, 3, 5, 17, 1000] {
                let bounds = even_bounds(hashing, ranges);
                assert_eq!(bounds.len(), ranges - 1);
                assert!(bounds.is_sorted_by(|a, b| a < b) && bounds[0] > Epk::start());
                assert!(bounds[ranges - 2] < Epk::end());
            }
        }
    }

    #[test]
    fn the_middle_of_everything_is_the_bound_of_two_ranges() {
        for hashing in [HashV1, HashV2, MultiHash] {
            let middle = midpoint(hashing, &Epk::start(), &Epk::end());
            assert_eq!(middle, even_bounds(hashing, 2).pop(), "{hashing:?}");
        }
    }

    #[test]
    fn a_range_can_be_halved_until_nothing_is_between() {
        for (hashing, halvings) in [(HashV1, 20..=33), (HashV2, 120..=127), (MultiHash, 120..=127)] {
            let (mut max, mut count) = (Epk::end(), 0);
            while let Some(middle) = midpoint(hashing, &Epk::start(), &max) {
                assert!(middle < max, "{middle} {max}");
                max = middle;
                count += 1;
            }
            assert!(halvings.contains(&count), "{hashing:?} {count}");
        }
    }

    #[test]
    fn bounds_in_any_order_or_form_are_accepted() {
        let epk = |hex: &str| Epk::parse(hex).unwrap();
        for hashing in [HashV1, HashV2, MultiHash] {
            assert_eq!(midpoint(hashing, &Epk::end(), &Epk::start()), None);
            assert_eq!(midpoint(hashing, &epk("3F"), &epk("3F")), None);
            let _ = midpoint(hashing, &epk("05FF"), &epk("05FFFFFF"));
        }
        let level = "1FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF";
        assert_eq!(midpoint(MultiHash, &epk(level), &epk(&format!("{level}FF"))), None, "one first level");
    }
}
