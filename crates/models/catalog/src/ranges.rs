//! The physical partitions of a container: ranges that tile the space of effective partition keys.
//!
//! Throughput determines the number of ranges; raising it splits some. A split range is gone, and its
//! children list it among their parents. Lowering the throughput merges nothing.

use orrery_keys::{Epk, Hashing, even_bounds, midpoint};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ranges {
    leaves: Vec<Range>,
    next_id: u32,
    /// Incremented by every change; the etag of the ranges feed.
    version: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Range {
    pub id: u32,
    pub min: Epk,
    pub max: Epk,
    /// All ancestors of this range, oldest first.
    pub parents: Vec<u32>,
    /// The version that created it.
    pub since: u32,
}

impl Ranges {
    pub fn even(hashing: Hashing, count: usize) -> Self {
        let mut bounds = vec![Epk::start()];
        bounds.extend(even_bounds(hashing, count));
        bounds.push(Epk::end());
        let leaves = bounds.windows(2).enumerate().map(|(id, ends)| Range {
            id: id as u32,
            min: ends[0].clone(),
            max: ends[1].clone(),
            parents: Vec::new(),
            since: 1,
        });
        Self { leaves: leaves.collect(), next_id: count as u32, version: 1 }
    }

    /// From stored parts; `None` unless they cover the whole key space without overlap.
    pub fn from_parts(leaves: Vec<Range>, next_id: u32, version: u32) -> Option<Self> {
        let tiled = leaves.first()?.min == Epk::start()
            && leaves.last()?.max == Epk::end()
            && leaves.windows(2).all(|pair| pair[0].max == pair[1].min);
        tiled.then_some(Self { leaves, next_id, version })
    }

    /// Splits the widest ranges until there are at least `count`.
    pub fn grown(&self, hashing: Hashing, count: usize) -> Self {
        let mut grown = self.clone();
        if grown.leaves.len() >= count {
            return grown;
        }
        grown.version += 1;
        while grown.leaves.len() < count {
            // The range with the fewest ancestors is the widest, because every split halves.
            let splittable = grown.leaves.iter().enumerate().filter_map(|(at, range)| {
                Some((range.parents.len(), at, midpoint(hashing, &range.min, &range.max)?))
            });
            let Some((_, at, middle)) = splittable.min_by_key(|(depth, at, _)| (*depth, *at)) else { break };
            grown.split(at, middle);
        }
        grown
    }

    fn split(&mut self, at: usize, middle: Epk) {
        let parent = self.leaves[at].clone();
        let parents: Vec<u32> = parent.parents.iter().copied().chain([parent.id]).collect();
        let child = |id, min, max| Range { id, min, max, parents: parents.clone(), since: self.version };
        let children =
            [child(self.next_id, parent.min, middle.clone()), child(self.next_id + 1, middle, parent.max)];
        self.next_id += 2;
        self.leaves.splice(at..=at, children);
    }

    pub fn leaves(&self) -> &[Range] {
        &self.leaves
    }

    pub fn next_id(&self) -> u32 {
        self.next_id
    }

    pub fn version(&self) -> u32 {
        self.version
    }

    /// The range that contains a partition key.
    pub fn of(&self, epk: &Epk) -> &Range {
        let after = self.leaves.partition_point(|range| range.min <= *epk);
        &self.leaves[after.saturating_sub(1)]
    }

    /// `None` if it was split or never existed.
    pub fn get(&self, id: u32) -> Option<&Range> {
        self.leaves.iter().find(|range| range.id == id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tiles(ranges: &Ranges) -> bool {
        Ranges::from_parts(ranges.leaves.clone(), ranges.next_id, ranges.version).is_some()
    }

    #[test]
    fn a_new_container_has_as_many_ranges_as_it_asks_for() {
        for count in [1, 2, 5, 17] {
            for hashing in [Hashing::HashV1, Hashing::HashV2, Hashing::MultiHash] {
                let ranges = Ranges::even(hashing, count);
                assert_eq!(ranges.leaves().len(), count);
                assert!(tiles(&ranges));
            }
        }
        let two = Ranges::even(Hashing::HashV2, 2);
        assert_eq!(two.leaves()[0].max.to_string(), "1FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF");
        assert_eq!(two.leaves()[1].max.to_string(), "FF");
    }

    #[test]
    fn growing_splits_and_children_name_all_their_parents() {
        for hashing in [Hashing::HashV1, Hashing::HashV2] {
            let one = Ranges::even(hashing, 1);
            let five = one.grown(hashing, 5);
            assert!(tiles(&five) && five.leaves().len() == 5 && five.version() == 2);
            assert!(five.leaves().iter().all(|range| range.parents.first() == Some(&0)));
            assert_eq!(five.get(0), None);
            assert_eq!(five.grown(hashing, 3), five, "fewer ranges merge nothing");
        }
    }

    #[test]
    fn every_key_is_in_exactly_one_range() {
        let ranges = Ranges::even(Hashing::HashV2, 5).grown(Hashing::HashV2, 9);
        for first in 0..=0x3fu8 {
            let key = Epk::from_bytes(&[first; 16]).expect("a key");
            let holding = ranges.leaves().iter().filter(|range| range.min <= key && key < range.max);
            assert_eq!(holding.map(|range| range.id).collect::<Vec<_>>(), [ranges.of(&key).id]);
        }
    }
}
