//! A range of the order in which entities are stored: by PartitionKey, then by RowKey.

use super::cut::{self, Cut, Interval, Side};
use crate::query::{KeyBounds, Position};
use crate::utf16;
use orrery_keys::KeyBuf;
use orrery_kv::KeyRange;
use std::fmt::{self, Display, Formatter};
use std::sync::Arc;

type Text = Arc<[u8]>;

/// A place in that order: a place among the partitions, or among the rows of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum KeyCut {
    Partitions(Cut),
    /// Neither before all rows of the partition nor after all of them.
    Rows(Text, Cut),
}

/// The entities from one place to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScanRange {
    from: KeyCut,
    to: KeyCut,
}

/// What kind of range it is, the cheapest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Access {
    Nothing,
    /// One entity.
    Point,
    /// Some rows of a partition.
    RowRange,
    Partition,
    /// Several partitions, but not all.
    PartitionRange,
    FullScan,
}

impl Access {
    pub fn name(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Point => "point",
            Self::RowRange => "row range",
            Self::Partition => "partition",
            Self::PartitionRange => "partition range",
            Self::FullScan => "full scan",
        }
    }
}

impl KeyCut {
    pub fn among_rows(partition: &Text, rows: &Cut) -> Self {
        match rows {
            Cut::End => Self::after_partition(partition),
            start if *start == Cut::start() => Self::before_partition(partition),
            rows => Self::Rows(partition.clone(), rows.clone()),
        }
    }

    pub fn before_partition(partition: &Text) -> Self {
        Self::Partitions(Cut::At(partition.clone(), Side::Before))
    }

    pub fn after_partition(partition: &Text) -> Self {
        Self::Partitions(Cut::At(partition.clone(), Side::After))
    }

    /// Of a bound of a signature, on this side of it.
    fn of_bound(bound: &Position, side: Side) -> Self {
        let text = |text: &str| Text::from(utf16::encode(text));
        let partition = text(&bound.partition_key);
        match &bound.row_key {
            None => Self::Partitions(Cut::At(partition, side)),
            Some(row) => Self::among_rows(&partition, &Cut::At(text(row), side)),
        }
    }

    /// The first stored key from here on, without the table's number; `None` at the end.
    fn key(&self) -> Option<Vec<u8>> {
        let partition_key = |partition: &[u8]| KeyBuf::new().bytes(partition);
        match self {
            Self::Partitions(Cut::End) | Self::Rows(_, Cut::End) => None,
            Self::Partitions(Cut::At(partition, Side::Before)) => Some(partition_key(partition).finish()),
            Self::Partitions(Cut::At(partition, Side::After)) => {
                orrery_keys::prefix_end(partition_key(partition).as_bytes())
            }
            Self::Rows(partition, Cut::At(row, Side::Before)) => {
                Some(partition_key(partition).raw(row).finish())
            }
            // No text is between one and the same with a zero behind it.
            Self::Rows(partition, Cut::At(row, Side::After)) => {
                Some(partition_key(partition).raw(row).u8(0).finish())
            }
        }
    }

    fn is_before(&self, other: &Self) -> bool {
        match (self.key(), other.key()) {
            (Some(ours), Some(theirs)) => ours < theirs,
            (ours, _) => ours.is_some(),
        }
    }
}

impl ScanRange {
    pub(super) fn new(from: KeyCut, to: KeyCut) -> Self {
        Self { from, to }
    }

    pub(super) fn table() -> Self {
        Self::new(KeyCut::Partitions(Cut::start()), KeyCut::Partitions(Cut::End))
    }

    pub(super) fn partitions(partitions: &Interval) -> Self {
        Self::new(KeyCut::Partitions(partitions.from.clone()), KeyCut::Partitions(partitions.to.clone()))
    }

    pub(super) fn rows(partition: &Text, rows: &Interval) -> Self {
        Self::new(KeyCut::among_rows(partition, &rows.from), KeyCut::among_rows(partition, &rows.to))
    }

    /// Whether the other begins where this ends, or before.
    pub(super) fn touches(&self, next: &Self) -> bool {
        !self.to.is_before(&next.from)
    }

    pub(super) fn extend_to(&mut self, next: &Self) {
        self.to = next.to.clone();
    }

    /// What of it is in the bounds.
    pub(super) fn within(mut self, bounds: &KeyBounds) -> Option<Self> {
        if let Some(start) = &bounds.start {
            let start = KeyCut::of_bound(start, Side::Before);
            if self.from.is_before(&start) {
                self.from = start;
            }
        }
        if let Some(end) = &bounds.end {
            let end = KeyCut::of_bound(end, Side::After);
            if end.is_before(&self.to) {
                self.to = end;
            }
        }
        self.from.is_before(&self.to).then_some(self)
    }

    /// The stored keys of it.
    pub(crate) fn keys(&self, table: u32) -> KeyRange {
        let stored = |key: Vec<u8>| KeyBuf::new().u32(table).raw(&key).finish();
        let all = crate::row::entities(table);
        KeyRange {
            start: self.from.key().map_or(all.start, stored),
            end: self.to.key().map(stored).or(all.end),
        }
    }

    pub fn access(&self) -> Access {
        if self.is_point() {
            return Access::Point;
        }
        match (self.first_partition(), self.last_partition()) {
            (Some(first), Some(last)) if first == last => {
                let is_whole =
                    matches!((&self.from, &self.to), (KeyCut::Partitions(_), KeyCut::Partitions(_)));
                if is_whole { Access::Partition } else { Access::RowRange }
            }
            _ if *self == Self::table() => Access::FullScan,
            _ => Access::PartitionRange,
        }
    }

    /// The partition that it is in, if that is only one.
    pub(super) fn partition_key(&self) -> Option<String> {
        let first = self.first_partition().filter(|first| Some(*first) == self.last_partition())?;
        Some(cut::text(first).into_owned())
    }

    fn is_point(&self) -> bool {
        let row = |cut: &KeyCut| match cut {
            KeyCut::Rows(partition, Cut::At(row, side)) => Some((partition.clone(), row.clone(), *side)),
            // Before the row without a name.
            KeyCut::Partitions(Cut::At(partition, Side::Before)) => {
                Some((partition.clone(), Text::from([]), Side::Before))
            }
            _ => None,
        };
        match (row(&self.from), row(&self.to)) {
            (Some((first, from, Side::Before)), Some((last, to, Side::After))) => first == last && from == to,
            _ => false,
        }
    }

    /// The partition that it begins in.
    fn first_partition(&self) -> Option<&Text> {
        match &self.from {
            KeyCut::Rows(partition, _) | KeyCut::Partitions(Cut::At(partition, Side::Before)) => {
                Some(partition)
            }
            _ => None,
        }
    }

    /// The partition that it ends in.
    fn last_partition(&self) -> Option<&Text> {
        match &self.to {
            KeyCut::Rows(partition, _) | KeyCut::Partitions(Cut::At(partition, Side::After)) => {
                Some(partition)
            }
            _ => None,
        }
    }
}

/// The first stored key from a position on.
pub(super) fn first_key(table: u32, from: &Position) -> Vec<u8> {
    let row_key = from.row_key.as_deref().unwrap_or_default();
    let key = KeyBuf::new().u32(table).bytes(&utf16::encode(&from.partition_key));
    key.raw(&utf16::encode(row_key)).finish()
}

/// `point 'p' 'r'`, `rows 'p' ['a', 'b')`, `partition 'p'`, `partitions ['a', 'c' 'r']` or `table`. A round bracket
/// excludes what stands beside it.
impl Display for ScanRange {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let partition = self.first_partition().map(|partition| quoted(partition)).unwrap_or_default();
        match self.access() {
            Access::Nothing => f.write_str("nothing"),
            Access::FullScan => f.write_str("table"),
            Access::Partition => write!(f, "partition {partition}"),
            Access::Point => {
                let row = match &self.to {
                    KeyCut::Rows(_, Cut::At(row, _)) => quoted(row),
                    _ => String::new(),
                };
                write!(f, "point {partition} {row}")
            }
            Access::RowRange => {
                let rows = |cut: &KeyCut, end: Cut| match cut {
                    KeyCut::Rows(_, rows) => rows.clone(),
                    KeyCut::Partitions(_) => end,
                };
                let (from, to) = (rows(&self.from, Cut::start()), rows(&self.to, Cut::End));
                write!(f, "rows {partition} {}, {}", opened("", &from), closed("", &to))
            }
            Access::PartitionRange => {
                let from = match &self.from {
                    KeyCut::Partitions(cut) => opened("", cut),
                    KeyCut::Rows(partition, cut) => opened(&format!("{} ", quoted(partition)), cut),
                };
                let to = match &self.to {
                    KeyCut::Partitions(cut) => closed("", cut),
                    KeyCut::Rows(partition, cut) => closed(&format!("{} ", quoted(partition)), cut),
                };
                write!(f, "partitions {from}, {to}")
            }
        }
    }
}

fn quoted(text: &[u8]) -> String {
    format!("'{}'", cut::text(text).replace('\'', "''"))
}

fn opened(before: &str, cut: &Cut) -> String {
    match cut {
        start if *start == Cut::start() && before.is_empty() => "(start".to_owned(),
        Cut::At(text, Side::Before) => format!("[{before}{}", quoted(text)),
        Cut::At(text, Side::After) => format!("({before}{}", quoted(text)),
        Cut::End => "(end".to_owned(),
    }
}

fn closed(before: &str, cut: &Cut) -> String {
    match cut {
        Cut::At(text, Side::Before) => format!("{before}{})", quoted(text)),
        Cut::At(text, Side::After) => format!("{before}{}]", quoted(text)),
        Cut::End => "end)".to_owned(),
    }
}
