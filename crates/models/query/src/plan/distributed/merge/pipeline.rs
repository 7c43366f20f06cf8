//! The steps of a plan in sequence: sources, groups, DISTINCT, OFFSET, LIMIT and TOP.

use super::super::info::{Direction, DistinctType, QueryInfo};
use super::Next;
use super::groups::Groups;
use super::sources::{Pulled, Sources};
use crate::error::QueryError;
use crate::execute::size_of_value;
use crate::limits;
use orrery_value::Value;
use std::collections::BTreeSet;

/// Placeholder for a client's resume condition; this client has none.
const FILTER: &str = "{documentdb-formattableorderbyquery-filter}";

/// The output for a row of an ordered source.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Output {
    Payload,
    /// With its sort keys and resource id, for a search that ranks it.
    Whole,
}

pub(super) struct Pipeline {
    info: QueryInfo,
    text: String,
    output: Output,
    sources: Sources,
    /// Until the partial results of all ranges have arrived.
    collecting: Option<Groups>,
    groups: Groups,
    distinct: Distinct,
    /// Counts rows instead of emitting them, for a COUNT over DISTINCT rows.
    counted: Option<i64>,
    skip: u64,
    left: Option<u64>,
    buffered: BufferedBytes,
}

enum Distinct {
    All,
    Ordered(Option<Value>),
    Unordered(BTreeSet<Value>),
}

impl Distinct {
    /// Whether the row differs from all rows before it.
    fn takes(&mut self, row: &Value, buffered: &mut BufferedBytes) -> Result<bool, QueryError> {
        match self {
            Self::All => Ok(true),
            Self::Ordered(last) => {
                let is_new = last.as_ref() != Some(row);
                *last = Some(row.clone());
                Ok(is_new)
            }
            Self::Unordered(seen) => {
                if seen.contains(row) {
                    return Ok(false);
                }
                buffered.add(row)?;
                Ok(seen.insert(row.clone()))
            }
        }
    }
}

/// Bytes of the buffered rows.
#[derive(Default)]
pub(super) struct BufferedBytes(usize);

impl BufferedBytes {
    pub(super) fn add(&mut self, row: &Value) -> Result<(), QueryError> {
        self.0 = self.0.saturating_add(size_of_value(row));
        if self.0 <= limits::QUERY_MEMORY_BYTES_MAX {
            return Ok(());
        }
        let max = limits::QUERY_MEMORY_BYTES_MAX >> 20;
        Err(QueryError::Refused(format!(
            "Merging the ranges would hold more than {max} MiB of groups or distinct rows; ask for fewer, or one partition at a time."
        )))
    }
}

impl Pipeline {
    pub(super) fn new(info: &QueryInfo, text: &str, ranges: usize, output: Output) -> Self {
        let rewritten = info.rewritten_query.replace(FILTER, "true");
        // A rank has no direction for ties to follow.
        let ties_descend = output == Output::Payload && info.order_by.first() == Some(&Direction::Descending);
        Self {
            text: if rewritten.is_empty() { text.to_owned() } else { rewritten },
            output,
            sources: Sources::new(ranges, &info.order_by, ties_descend),
            collecting: Groups::are_in(info).then(Groups::default),
            groups: Groups::default(),
            distinct: match info.distinct_type {
                DistinctType::None => Distinct::All,
                DistinctType::Ordered => Distinct::Ordered(None),
                DistinctType::Unordered => Distinct::Unordered(BTreeSet::new()),
            },
            counted: info.distinct_count_alias.as_ref().map(|_| 0),
            skip: info.offset.unwrap_or(0),
            left: info.limit.or(info.top),
            buffered: BufferedBytes::default(),
            info: info.clone(),
        }
    }

    pub(super) fn accept(&mut self, range: usize, rows: Vec<Value>, continuation: Option<String>) {
        self.sources.accept(range, rows, continuation);
    }

    pub(super) fn next(&mut self) -> Result<Next, QueryError> {
        loop {
            if self.left == Some(0) {
                return Ok(Next::End);
            }
            let row = match self.merged()? {
                Next::Row(row) => row,
                Next::End => match self.count() {
                    Some(count) => return Ok(Next::Row(count)),
                    None => return Ok(Next::End),
                },
                fetch @ Next::Fetch { .. } => return Ok(fetch),
            };
            if !self.distinct.takes(&row, &mut self.buffered)? {
                continue;
            }
            if let Some(counted) = &mut self.counted {
                *counted += 1;
            } else if self.skip > 0 {
                self.skip -= 1;
            } else {
                self.left = self.left.map(|left| left - 1);
                return Ok(Next::Row(row));
            }
        }
    }

    /// The rows after the sources and groups.
    fn merged(&mut self) -> Result<Next, QueryError> {
        loop {
            let row = match self.sources.pull()? {
                Pulled::Fetch { range, continuation } => {
                    return Ok(Next::Fetch { range, text: self.text.clone(), continuation });
                }
                Pulled::Row(row) => row,
                Pulled::End => {
                    if let Some(groups) = self.collecting.take() {
                        self.groups = groups;
                    }
                    return Ok(self.groups.next(&self.info)?.map_or(Next::End, Next::Row));
                }
            };
            match &mut self.collecting {
                Some(groups) => {
                    self.buffered.add(&row)?;
                    groups.add(row, &self.info);
                }
                None if !self.info.order_by.is_empty() && self.output == Output::Payload => {
                    return Ok(Next::Row(row.member("payload").clone()));
                }
                None => return Ok(Next::Row(row)),
            }
        }
    }

    /// Emits the number of distinct rows, once.
    fn count(&mut self) -> Option<Value> {
        let count = Value::from(self.counted.take()?);
        let alias = self.info.distinct_count_alias.clone().unwrap_or_default();
        Some(if alias.is_empty() { count } else { Value::Object(vec![(alias, count)]) })
    }
}
