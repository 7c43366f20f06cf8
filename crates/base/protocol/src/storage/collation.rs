//! The order in which clients sort the names of the headers that they sign (wire guide §2.1).
//!
//! Some sort by bytes. Others sort as the service does, by a collation for words: hyphens count only between names that are the
//! same without them, punctuation is before digits, digits are before letters.

use std::cmp::Ordering;

/// The characters of names of headers that count, the lightest first.
const WEIGHED: &str = "!#$%&*.^_`|~+0123456789abcdefghijklmnopqrstuvwxyz";

/// Of two names in lower case.
pub(super) fn compare(one: &str, other: &str) -> Ordering {
    let weights = |name: &'_ str| name.chars().filter_map(weight).collect::<Vec<_>>();
    let hyphens = |name: &'_ str| name.chars().map(tie_weight).collect::<Vec<_>>();
    weights(one).cmp(&weights(other)).then_with(|| hyphens(one).cmp(&hyphens(other)))
}

fn weight(character: char) -> Option<usize> {
    WEIGHED.find(character)
}

fn tie_weight(character: char) -> u8 {
    match character {
        '\'' => 1,
        '-' => 2,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hyphens_count_last_and_punctuation_is_before_digits_and_letters() {
        // The order that the Python SDK sorts these into.
        let sorted =
            ["x-ms-meta-a_b", "x-ms-meta-a1", "x-ms-meta-aa", "x-ms-meta-ab", "x-ms-meta-a-b", "x-ms-meta-b"];
        let mut shuffled = sorted;
        shuffled.reverse();
        shuffled.sort_by(|one, other| compare(one, other));
        assert_eq!(shuffled, sorted);
    }
}
