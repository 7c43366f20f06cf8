//! The largest items written.

use crate::limits;

#[derive(Clone, Debug, Default)]
pub struct Largest {
    items: Vec<Large>,
}

/// An item with its size at the last write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Large {
    pub epk: Vec<u8>,
    pub id: String,
    pub bytes: usize,
}

impl Largest {
    pub fn add(&mut self, item: Large) {
        self.items.retain(|known| (&known.epk, &known.id) != (&item.epk, &item.id));
        self.items.push(item);
        if self.items.len() > limits::USAGE_LARGE_ITEMS_MAX {
            let smallest = (0..self.items.len()).min_by_key(|at| self.items[*at].bytes);
            smallest.map(|at| self.items.swap_remove(at));
        }
    }

    pub fn items(&self) -> &[Large] {
        &self.items
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_stay_each_as_it_was_written_last() {
        let mut largest = Largest::default();
        let item = |at: usize, bytes| Large { epk: vec![0], id: at.to_string(), bytes };
        (0..100).for_each(|at| largest.add(item(at, at)));
        largest.add(item(99, 200));
        largest.add(item(98, 1));
        let mut sizes: Vec<usize> = largest.items().iter().map(|item| item.bytes).collect();
        sizes.sort_unstable();
        let expected: Vec<usize> = [1].into_iter().chain(84..98).chain([200]).collect();
        assert_eq!(sizes, expected);
    }
}
