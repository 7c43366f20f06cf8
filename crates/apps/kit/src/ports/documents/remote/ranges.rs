//! The physical partitions of containers, remembered until one of them is gone.

use super::Remote;
use super::call::{Ask, Patience, send};
use crate::ports::documents::StoreError;
use http::Method;
use serde::Deserialize;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// A half-open interval of effective partition keys, in hexadecimal as the store writes them.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Range {
    pub id: String,
    #[serde(rename = "minInclusive")]
    pub min: String,
    #[serde(rename = "maxExclusive")]
    pub max: String,
    #[serde(default)]
    parents: Vec<String>,
}

#[derive(Default)]
pub struct Ranges(Mutex<HashMap<String, Arc<Vec<Range>>>>);

#[derive(Deserialize)]
struct Feed {
    #[serde(rename = "PartitionKeyRanges")]
    ranges: Vec<Range>,
}

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

/// In order, without a gap.
pub async fn of(remote: &Remote, container: &str) -> Result<Arc<Vec<Range>>, StoreError> {
    if let Some(known) = remote.inner.ranges.known(container) {
        return Ok(known);
    }
    let (mut all, mut continuation, mut patience) = (Vec::new(), None, Patience::new(remote));
    loop {
        let path = vec!["dbs", &remote.inner.database, "colls", container, "pkranges"];
        let mut ask = Ask::new(Method::GET, path);
        if let Some(token) = continuation {
            ask = ask.header("x-ms-continuation", token);
        }
        let answer = send(remote, &ask, &mut patience).await?;
        if !answer.is_good() {
            return Err(answer.refusal());
        }
        all.extend(answer.json::<Feed>()?.ranges);
        continuation = answer.header("x-ms-continuation").map(str::to_owned);
        if continuation.is_none() {
            break;
        }
    }
    let ranges = Arc::new(leaves(all)?);
    remote.inner.ranges.keep(container, ranges.clone());
    Ok(ranges)
}

/// Those that have not been split, if they cover all there is.
fn leaves(all: Vec<Range>) -> Result<Vec<Range>, StoreError> {
    let parents: Vec<String> = all.iter().flat_map(|range| range.parents.clone()).collect();
    let mut leaves: Vec<Range> = all.into_iter().filter(|range| !parents.contains(&range.id)).collect();
    leaves.sort_by(|one, other| one.min.cmp(&other.min));
    let is_whole = leaves.first().is_some_and(|first| first.min.is_empty())
        && leaves.last().is_some_and(|last| last.max == "FF")
        && leaves.windows(2).all(|pair| pair[0].max == pair[1].min);
    if is_whole {
        Ok(leaves)
    } else {
        Err(StoreError::Unavailable("its partitions are being moved".to_owned()))
    }
}

#[cfg(test)]
pub fn range(id: &str, min: &str, max: &str, parents: &[&str]) -> Range {
    let parents = parents.iter().map(|id| (*id).to_owned()).collect();
    Range { id: id.to_owned(), min: min.to_owned(), max: max.to_owned(), parents }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_that_were_split_are_left_out_and_a_gap_is_noticed() {
        let (old, left, right) =
            (range("0", "", "FF", &[]), range("1", "", "1F", &["0"]), range("2", "1F", "FF", &["0"]));
        let all = vec![right.clone(), old.clone(), left.clone()];
        assert_eq!(leaves(all), Ok(vec![left.clone(), right.clone()]));
        assert!(leaves(vec![left]).is_err() && leaves(vec![right]).is_err() && leaves(vec![]).is_err());
        assert!(leaves(vec![old]).is_ok());
    }
}
