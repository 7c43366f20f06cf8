//! Where items lie, remembered: an item found by its number is then one lookup and not two.
//!
//! The number of an item is never given to another, and its place changes only when it is renamed. So what is
//! remembered is a hint: whoever goes there looks whether the item is the one.

use super::place::Place;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// A fixed number of places, each in the one slot that its number leads to.
pub(super) struct Places {
    shards: Vec<OnceLock<Box<[Slot]>>>,
}

type Slot = Mutex<Option<(u32, u64, Arc<Place>)>>;

/// Shards are made when something falls into them, so a server that indexes nothing has none.
const SHARDS_BITS: u32 = 6;
const SLOTS_BITS: u32 = 10;

impl Default for Places {
    fn default() -> Self {
        Self { shards: (0..1 << SHARDS_BITS).map(|_| OnceLock::new()).collect() }
    }
}

impl Places {
    pub fn get(&self, container: u32, ordinal: u64) -> Option<Arc<Place>> {
        let slot = self.slot(container, ordinal).lock().unwrap_or_else(PoisonError::into_inner);
        let known = slot.as_ref().filter(|known| (known.0, known.1) == (container, ordinal))?;
        Some(known.2.clone())
    }

    pub fn put(&self, container: u32, ordinal: u64, place: Arc<Place>) {
        let mut slot = self.slot(container, ordinal).lock().unwrap_or_else(PoisonError::into_inner);
        *slot = Some((container, ordinal, place));
    }

    fn slot(&self, container: u32, ordinal: u64) -> &Slot {
        let mixed = (ordinal ^ u64::from(container).rotate_left(40)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let shard = (mixed >> (u64::BITS - SHARDS_BITS)) as usize;
        let slot = (mixed >> (u64::BITS - SHARDS_BITS - SLOTS_BITS)) as usize & ((1 << SLOTS_BITS) - 1);
        let slots =
            self.shards[shard].get_or_init(|| (0..1 << SLOTS_BITS).map(|_| Slot::default()).collect());
        &slots[slot]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_found_under_its_own_number_only() {
        let places = Places::default();
        let place = |id: u64| Arc::new(Place { generation: 0, epk: vec![1], id: id.to_string() });
        (0..200_000).for_each(|ordinal| places.put(7, ordinal, place(ordinal)));
        let found = (0..200_000).filter_map(|ordinal| Some((ordinal, places.get(7, ordinal)?)));
        let found: Vec<(u64, Arc<Place>)> = found.collect();
        assert!(found.iter().all(|(ordinal, place)| place.id == ordinal.to_string()));
        assert!((1 << 15..=1 << 16).contains(&found.len()), "{} are kept", found.len());
        assert!(found.iter().all(|(ordinal, _)| places.get(8, *ordinal).is_none()));
    }
}
