//! The part of a table that a signature is for: from one pair of keys to another, both included.

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
    /// None if the signature is for the whole table. A row key without its partition key bounds nothing.
    pub(super) fn of(fields: &Fields) -> Option<Self> {
        let bound = |partition_key: &Option<String>, row_key: &Option<String>| {
            partition_key.clone().map(|partition_key| Bound { partition_key, row_key: row_key.clone() })
        };
        let range = Self { start: bound(&fields.spk, &fields.srk), end: bound(&fields.epk, &fields.erk) };
        (range != Self::default()).then_some(range)
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

/// As keys of entities are ordered: by units of 16 bits.
fn units(one: &str, other: &str) -> Ordering {
    one.encode_utf16().cmp(other.encode_utf16())
}
