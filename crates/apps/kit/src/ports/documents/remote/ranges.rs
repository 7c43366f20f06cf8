//! The physical partitions of containers, cached until one of them is gone.

use super::Remote;
use super::call::{RequestBuilder, RetryBudget, send};
use super::errors;
use crate::ports::documents::StoreError;
use orrery_client::Call;
pub use orrery_client::Range;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

#[derive(Default)]
pub struct Ranges(Mutex<HashMap<String, Arc<Vec<Range>>>>);

impl Ranges {
    fn known(&self, container: &str) -> Option<Arc<Vec<Range>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(container).cloned()
    }

    pub fn forget(&self, container: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(container);
    }

    fn keep(&self, container: &str, ranges: Arc<Vec<Range>>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(container.to_owned(), ranges);
    }
}

/// Sorted and contiguous.
pub async fn of(remote: &Remote, container: &str) -> Result<Arc<Vec<Range>>, StoreError> {
    if let Some(known) = remote.inner.ranges.known(container) {
        return Ok(known);
    }
    let (mut all, mut continuation, mut patience) = (Vec::new(), None::<String>, RetryBudget::new(remote));
    loop {
        let ask = RequestBuilder::of(Call::ranges(&remote.inner.database, container))
            .after(continuation.as_deref());
        let answer = send(remote, &ask, &mut patience).await?;
        if !answer.is_success() {
            return Err(answer.refusal());
        }
        all.extend(Range::read(&answer).map_err(|error| errors::not_understood(&error.to_string()))?);
        continuation = answer.continuation();
        if continuation.is_none() {
            break;
        }
    }
    let ranges = Arc::new(leaves(all)?);
    remote.inner.ranges.keep(container, ranges.clone());
    Ok(ranges)
}

/// The ranges that have not been split, if they cover the whole key space.
fn leaves(all: Vec<Range>) -> Result<Vec<Range>, StoreError> {
    let leaves = Range::leaves(all);
    if Range::are_whole(&leaves) { Ok(leaves) } else { Err(are_moving()) }
}

pub fn are_moving() -> StoreError {
    StoreError::Unavailable("its partitions are being moved".to_owned())
}

#[cfg(test)]
pub fn range(id: &str, min: &str, max: &str, parents: &[&str]) -> Range {
    let parents = parents.iter().map(|id| (*id).to_owned()).collect();
    Range { id: id.to_owned(), min: min.to_owned(), max: max.to_owned(), parents }
}
