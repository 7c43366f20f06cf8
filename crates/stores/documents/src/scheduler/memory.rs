//! The memory budget of all queries.
//!
//! Most of it is shared: a query reserves what it holds, while any is left. The rest belongs to the one query in the
//! roomy lane, so that a query which found no memory left always completes.

use crate::limits;
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// A semaphore has fewer permits than there are bytes.
const UNIT_BYTES: usize = 64 * 1024;

/// How much of a budget is in use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryUse {
    pub bytes: usize,
    pub bytes_max: usize,
}

pub(super) struct Memory {
    shared: Arc<Semaphore>,
    shared_units: usize,
    own_bytes: usize,
}

/// The reservation of one query, released on drop.
pub(super) enum Share {
    Unlimited,
    Shared { pool: Arc<Semaphore>, held: Option<OwnedSemaphorePermit> },
    Own { bytes_max: usize },
}

/// Why a query gets no more memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Short {
    /// Other queries hold it.
    OfShared,
    /// It would exceed the limit of any query.
    OfAll { bytes_max: usize },
}

impl Memory {
    pub fn new(bytes: usize) -> Self {
        let own_bytes = (bytes / 2).min(limits::QUERY_OWN_MEMORY_BYTES_MAX);
        let shared_units = (bytes - own_bytes) / UNIT_BYTES;
        Self { shared: Arc::new(Semaphore::new(shared_units)), shared_units, own_bytes }
    }

    pub fn share(&self) -> Share {
        Share::Shared { pool: self.shared.clone(), held: None }
    }

    pub fn own(&self) -> Share {
        Share::Own { bytes_max: self.own_bytes }
    }

    pub fn in_use(&self) -> MemoryUse {
        let units = self.shared_units - self.shared.available_permits();
        MemoryUse { bytes: units * UNIT_BYTES, bytes_max: self.shared_units * UNIT_BYTES + self.own_bytes }
    }
}

impl Share {
    /// Grows the reservation to this many bytes, if they are available.
    pub fn grow_to(&mut self, bytes: usize) -> Result<(), Short> {
        match self {
            Self::Unlimited => Ok(()),
            Self::Own { bytes_max } if bytes > *bytes_max => Err(Short::OfAll { bytes_max: *bytes_max }),
            Self::Own { .. } => Ok(()),
            Self::Shared { pool, held } => {
                let has = held.as_ref().map_or(0, OwnedSemaphorePermit::num_permits);
                let more = bytes.div_ceil(UNIT_BYTES).saturating_sub(has);
                let more = u32::try_from(more).map_err(|_| Short::OfShared)?;
                let more = pool.clone().try_acquire_many_owned(more).map_err(|_| Short::OfShared)?;
                match held {
                    Some(held) => held.merge(more),
                    None => *held = Some(more),
                }
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_of_a_query_is_unavailable_to_others_until_it_ends() {
        let memory = Memory::new(64 * UNIT_BYTES);
        assert_eq!(memory.in_use(), MemoryUse { bytes: 0, bytes_max: 64 * UNIT_BYTES });
        let (mut one, mut other) = (memory.share(), memory.share());
        assert_eq!(one.grow_to(1), Ok(()));
        assert_eq!(one.grow_to(20 * UNIT_BYTES), Ok(()));
        assert_eq!(one.grow_to(5 * UNIT_BYTES), Ok(()), "it has more already");
        assert_eq!(memory.in_use().bytes, 20 * UNIT_BYTES);
        assert_eq!(other.grow_to(13 * UNIT_BYTES), Err(Short::OfShared));
        assert_eq!(memory.own().grow_to(32 * UNIT_BYTES), Ok(()), "one query has memory of its own");
        drop(one);
        assert_eq!(other.grow_to(13 * UNIT_BYTES), Ok(()));
        let all = Short::OfAll { bytes_max: 32 * UNIT_BYTES };
        assert_eq!(memory.own().grow_to(33 * UNIT_BYTES), Err(all));
    }
}
