//! Sets of keys: for each range of partition keys, ranges of row keys.
//!
//! ```text
//! RowKey
//!   │      ┌──┐
//!   │  ┌───┤  │         three bands; between them nothing is wanted
//!   │  │   │  │ ┌───┐
//!   │  └───┴──┘ └───┘
//!   └──────────────────  PartitionKey
//! ```

use super::cut::{Cut, Interval, Intervals};
use crate::limits;
use std::borrow::Cow;

/// Partition keys, and the row keys in each of these partitions; never none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Band {
    pub partitions: Interval,
    pub rows: Intervals,
}

/// Bands in order; where two touch, their rows differ.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Region {
    pub bands: Vec<Band>,
    /// Whether keys were added because it had become too complicated.
    pub is_coarse: bool,
}

impl Region {
    pub fn all() -> Self {
        Self::of(Intervals::all(), Intervals::all())
    }

    /// These rows in these partitions.
    pub fn of(partitions: Intervals, rows: Intervals) -> Self {
        if rows.is_empty() {
            return Self::default();
        }
        let bands = partitions.0.into_iter().map(|partitions| Band { partitions, rows: rows.clone() });
        Self { bands: bands.collect(), is_coarse: false }
    }

    pub fn intersection(&self, other: &Self) -> Self {
        self.combined(other, |ours, theirs| match (ours, theirs) {
            (Some(ours), Some(theirs)) => Cow::Owned(ours.intersection(theirs)),
            _ => Cow::Owned(Intervals::default()),
        })
    }

    pub fn union(&self, other: &Self) -> Self {
        self.combined(other, |ours, theirs| match (ours, theirs) {
            (Some(ours), Some(theirs)) => Cow::Owned(ours.union(theirs)),
            (Some(rows), None) | (None, Some(rows)) => Cow::Borrowed(rows),
            (None, None) => Cow::Owned(Intervals::default()),
        })
    }

    /// Walks through both; where either changes, its rows are combined anew.
    fn combined(
        &self,
        other: &Self,
        combine: impl for<'a> Fn(Option<&'a Intervals>, Option<&'a Intervals>) -> Cow<'a, Intervals>,
    ) -> Self {
        let mut combined = Self { bands: Vec::new(), is_coarse: self.is_coarse || other.is_coarse };
        let (mut ours, mut theirs) = (&self.bands[..], &other.bands[..]);
        let mut from = Cut::start();
        loop {
            let next = [ours, theirs].into_iter().filter_map(|bands| next_change(bands, &from)).min();
            let Some(to) = next.cloned() else { break };
            let rows = combine(rows_at(ours, &from), rows_at(theirs, &from));
            let partitions = Interval { from: from.clone(), to: to.clone() };
            if from < to && !rows.is_empty() {
                combined.push(partitions, rows.into_owned());
            }
            ours = without_ended(ours, &to);
            theirs = without_ended(theirs, &to);
            from = to;
        }
        combined.simplified()
    }

    fn push(&mut self, partitions: Interval, rows: Intervals) {
        match self.bands.last_mut() {
            Some(last) if last.partitions.to == partitions.from && last.rows == rows => {
                last.partitions.to = partitions.to;
            }
            _ => self.bands.push(Band { partitions, rows }),
        }
    }

    /// With more keys, if it has too many ranges of them.
    fn simplified(mut self) -> Self {
        let intervals = |region: &Self| region.bands.iter().map(|band| band.rows.0.len()).sum::<usize>();
        if intervals(&self) <= limits::PLAN_INTERVALS_MAX {
            return self;
        }
        self.is_coarse = true;
        self.bands.iter_mut().for_each(|band| band.rows = band.rows.hull());
        while self.bands.len() > limits::PLAN_INTERVALS_MAX {
            let pairs = self.bands.chunks(2).map(|pair| match pair {
                [one, two] => Band {
                    partitions: Interval { from: one.partitions.from.clone(), to: two.partitions.to.clone() },
                    rows: one.rows.union(&two.rows).hull(),
                },
                _ => pair[0].clone(),
            });
            self.bands = pairs.collect();
        }
        self
    }
}

/// Where the first band begins or ends, after a place.
fn next_change<'a>(bands: &'a [Band], from: &Cut) -> Option<&'a Cut> {
    let partitions = &bands.first()?.partitions;
    Some(if partitions.from > *from { &partitions.from } else { &partitions.to })
}

fn rows_at<'a>(bands: &'a [Band], at: &Cut) -> Option<&'a Intervals> {
    bands.first().filter(|band| band.partitions.from <= *at).map(|band| &band.rows)
}

fn without_ended<'a>(bands: &'a [Band], at: &Cut) -> &'a [Band] {
    match bands {
        [first, rest @ ..] if first.partitions.to <= *at => rest,
        _ => bands,
    }
}
