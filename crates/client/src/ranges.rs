//! The physical partitions of a container.

use crate::answer::Answer;
use serde::Deserialize;

/// A half-open interval of effective partition keys, in the store's hexadecimal form.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Range {
    pub id: String,
    #[serde(rename = "minInclusive")]
    pub min: String,
    #[serde(rename = "maxExclusive")]
    pub max: String,
    /// Its ancestors.
    #[serde(default)]
    pub parents: Vec<String>,
}

#[derive(Deserialize)]
struct Feed {
    #[serde(rename = "PartitionKeyRanges")]
    ranges: Vec<Range>,
}

impl Range {
    /// One page of the response to [`Call::ranges`](crate::Call::ranges).
    pub fn read(answer: &Answer) -> Result<Vec<Self>, serde_json::Error> {
        answer.parse::<Feed>().map(|feed| feed.ranges)
    }

    /// The unsplit ranges, in order.
    pub fn leaves(all: Vec<Self>) -> Vec<Self> {
        let parents: Vec<String> = all.iter().flat_map(|range| range.parents.clone()).collect();
        let mut leaves: Vec<Self> = all.into_iter().filter(|range| !parents.contains(&range.id)).collect();
        leaves.sort_by(|one, other| one.min.cmp(&other.min));
        leaves
    }

    /// Whether the sorted ranges cover the whole key space; while partitions are moved they may
    /// not.
    pub fn are_whole(leaves: &[Self]) -> bool {
        leaves.first().is_some_and(|first| first.min.is_empty())
            && leaves.last().is_some_and(|last| last.max == "FF")
            && leaves.windows(2).all(|pair| pair[0].max == pair[1].min)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(id: &str, min: &str, max: &str, parents: &[&str]) -> Range {
        let parents = parents.iter().map(|id| (*id).to_owned()).collect();
        Range { id: id.to_owned(), min: min.to_owned(), max: max.to_owned(), parents }
    }

    #[test]
    fn ranges_that_were_split_are_left_out_and_a_gap_is_noticed() {
        let (old, left, right) =
            (range("0", "", "FF", &[]), range("1", "", "1F", &["0"]), range("2", "1F", "FF", &["0"]));
        let leaves = Range::leaves(vec![right.clone(), old.clone(), left.clone()]);
        assert_eq!(leaves, [left.clone(), right.clone()]);
        assert!(Range::are_whole(&leaves) && Range::are_whole(&[old]));
        assert!(!Range::are_whole(&[left]) && !Range::are_whole(&[right]) && !Range::are_whole(&[]));
    }
}
