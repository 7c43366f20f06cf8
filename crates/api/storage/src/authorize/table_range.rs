//! The part of a table that a signature is for: from one pair of keys to another, both included.

use crate::error::StorageError;
use orrery_protocol::storage::sas::Fields;
use std::cmp::Ordering;

/// A bound without a row key has all rows of its partition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableRange {
    pub start: Option<Bound>,
    pub end: Option<Bound>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bound {
    pub partition_key: String,
    pub row_key: Option<String>,
}

impl TableRange {
    /// None if the signature is for the whole table. What is empty is as good as missing: both are signed alike.
    pub(super) fn of(fields: &Fields) -> Result<Option<Self>, StorageError> {
        let start = bound(&fields.spk, &fields.srk, "srk is there without spk")?;
        let end = bound(&fields.epk, &fields.erk, "erk is there without epk")?;
        let range = Self { start, end };
        Ok((range != Self::default()).then_some(range))
    }

    pub fn contains(&self, partition_key: &str, row_key: &str) -> bool {
        let compare = |bound: &Bound| {
            let rows = bound.row_key.as_deref().map_or(Ordering::Equal, |bound| units(row_key, bound));
            units(partition_key, &bound.partition_key).then(rows)
        };
        self.start.as_ref().is_none_or(|start| compare(start).is_ge())
            && self.end.as_ref().is_none_or(|end| compare(end).is_le())
    }
}

fn bound(
    partition_key: &Option<String>,
    row_key: &Option<String>,
    refusal: &'static str,
) -> Result<Option<Bound>, StorageError> {
    let said = |key: &Option<String>| key.clone().filter(|key| !key.is_empty());
    match (said(partition_key), said(row_key)) {
        (Some(partition_key), row_key) => Ok(Some(Bound { partition_key, row_key })),
        (None, None) => Ok(None),
        // It was meant to bound something, and would bound nothing.
        (None, Some(_)) => Err(StorageError::authentication_failed(refusal)),
    }
}

/// As keys of entities are ordered: by units of 16 bits.
fn units(one: &str, other: &str) -> Ordering {
    one.encode_utf16().cmp(other.encode_utf16())
}
