//! Access paths as data: chosen by `choose`, followed by the executor.
//!
//! Every access path returns each document that can give a row exactly once.

use super::indexes::{IndexOf, Interval, Path, PathDisplay, Rectangle, Span, Step};
use super::interval::Within;
use orrery_value::Value;
use std::fmt;

/// The access path of a query.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Access {
    /// No document can pass the filter.
    Nothing,
    /// Every document, in key order.
    #[default]
    Scan,
    /// Every document, in ordinal order.
    OrdinalScan,
    /// The documents of a posting set, in ordinal order.
    Postings {
        set: PostingSet,
        /// The covering values, if the set and the collection hold everything the query reads.
        covered: Option<Vec<(Path, Value)>>,
    },
    /// The documents of an index's entries, in index order.
    IndexScan(IndexScan),
    /// MIN, MAX and COUNT over all documents, answered from the ends of an index.
    IndexMinMax {
        /// The number of documents, for COUNT.
        documents: Option<u64>,
        /// The ends of the index that hold the extreme values.
        ends: IndexEnds,
    },
}

/// Documents by ascending ordinal.
#[derive(Clone, Debug, PartialEq)]
pub enum PostingSet {
    /// The entries with these values, one for each part of the index.
    Equal {
        index: IndexOf,
        values: Vec<Value>,
    },
    /// Entries of several values; not in ordinal order, so they are materialised first.
    Range {
        index: IndexOf,
        span: Span,
    },
    /// Documents whose shape may intersect the rectangle; materialised first.
    Spatial {
        path: Path,
        rectangle: Rectangle,
    },
    /// Every document except those whose value at the path is known to lie outside the interval;
    /// materialised first. It can only be intersected with other sets.
    NotOutside {
        path: Path,
        interval: Interval,
    },
    /// Materialised ordinals.
    Ordinals(Vec<u64>),
    /// Every ordinal except the materialised ones.
    AllExcept(Vec<u64>),
    Intersection(Vec<PostingSet>),
    Union(Vec<PostingSet>),
}

/// An index scan, for queries that accept documents in any order or need them sorted.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexScan {
    pub index: IndexOf,
    /// The spans to scan, in scan order. Each document appears once, unless the index truncates values
    /// that the spans distinguish.
    pub spans: Vec<Span>,
    /// Whether the spans are merged in the order of the parts after their prefixes; otherwise they
    /// are scanned one after the other.
    pub merged: bool,
    pub reverse: bool,
    /// Restricts the scan to these documents.
    pub restrict_to: Option<PostingSet>,
    /// The covering values, if the index and the collection hold everything the query reads.
    pub covered: Option<Covering>,
    /// The prefix of ORDER BY that the scan order satisfies, if any.
    pub sorted: Option<SortedPrefix>,
}

/// Returns the first documents, from the ends of a scan, that give a row with a value.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexEnds {
    /// Each of its spans has its own ends.
    pub scan: IndexScan,
    /// The part of the index that holds the values; the scan is sorted by it.
    pub part: usize,
    /// The ends in probing order, each with its purpose.
    pub ends: Vec<(IndexEnd, EndProbe)>,
}

/// The purpose of the value at an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndProbe {
    Value,
    /// Only checks for an array or object, which leaves the aggregate undefined.
    Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexEnd {
    First,
    Last,
}

/// The source of each value of a covering read.
#[derive(Clone, Debug, PartialEq)]
pub struct Covering {
    /// Parts of the entry.
    pub parts: Vec<usize>,
    /// Values that all documents of the collection share.
    pub given: Vec<(Path, Value)>,
}

/// The prefix of ORDER BY that the order of a scan satisfies.
#[derive(Clone, Debug, PartialEq)]
pub struct SortedPrefix {
    /// The source of the values of the first keys.
    pub keys: Vec<KeySource>,
    pub ties: TieOrder,
    /// Whether the scan meets every document that can give a row. Documents it misses have no value in
    /// any part of the index.
    pub is_complete: bool,
}

/// The source of a key's value.
#[derive(Clone, Debug, PartialEq)]
pub enum KeySource {
    /// In this part of an entry.
    Part(usize),
    /// The filter permits no other value.
    Constant(Value),
}

/// The order of documents with equal sort keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TieOrder {
    /// By ordinal, in the requested direction.
    Sorted,
    /// In another order, so each run of equal keys is sorted before it is emitted.
    Unsorted,
    /// In any order, because they give the same row.
    Irrelevant,
}

impl IndexOf {
    /// The parts of the index, and whether each descends. The only part of a single-path index ascends.
    pub(crate) fn parts(&self) -> Vec<(Path, bool)> {
        match self {
            Self::Path(path) => vec![(path.clone(), false)],
            Self::Composite(parts) => parts.clone(),
        }
    }
}

impl PostingSet {
    /// Whether it is a complement, which excludes documents and cannot be iterated alone.
    pub(crate) fn is_complement(&self) -> bool {
        matches!(self, Self::NotOutside { .. } | Self::AllExcept(_))
    }

    /// The values, by path, that every document of the set has, as precisely as the index distinguishes
    /// them.
    pub(crate) fn constants(&self) -> Vec<(Path, &Value)> {
        match self {
            Self::Equal { index, values } => {
                let parts = index.parts().into_iter().zip(values);
                parts.filter(|((path, _), _)| !passes_array(path)).map(|((path, _), it)| (path, it)).collect()
            }
            // Where the value is constant, no document has none or another ([`Estimator::others`]).
            Self::NotOutside { path, interval } => {
                interval.only().map(|it| (path.clone(), it)).into_iter().collect()
            }
            Self::Intersection(sets) => sets.iter().flat_map(Self::constants).collect(),
            _ => Vec::new(),
        }
    }
}

impl Interval {
    /// The single value in the interval.
    pub(crate) fn only(&self) -> Option<&Value> {
        use std::ops::Bound::Included;
        match self {
            Self::Between(Included(low), Included(high)) if low == high => Some(low),
            _ => None,
        }
    }
}

pub(crate) fn passes_array(path: &[Step]) -> bool {
    path.contains(&Step::Each)
}

// Access paths as text, for `explain`: `index /status = "PENDING"`, `composite (/a ASC, /b DESC) from /a = 1,
// backwards`.

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => f.write_str("nothing"),
            Self::Scan => f.write_str("scan"),
            Self::OrdinalScan => f.write_str("scan in the order of creation"),
            Self::Postings { set, covered } => {
                write!(f, "{set}")?;
                f.write_str(covering(covered.is_some()))
            }
            Self::IndexScan(scan) => write!(f, "{scan}"),
            Self::IndexMinMax { documents, ends } => {
                f.write_str(if documents.is_some() { "counted, " } else { "" })?;
                write!(f, "{ends}")
            }
        }
    }
}

fn covering(covered: bool) -> &'static str {
    if covered { ", without documents" } else { "" }
}

impl fmt::Display for PostingSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Equal { index, values } => {
                let span = Span { prefix: values.clone(), next: Interval::All };
                write!(f, "{}", SpanDisplay { index, span: &span })
            }
            Self::Range { index, span } => write!(f, "{}", SpanDisplay { index, span }),
            Self::Spatial { path, rectangle: it } => {
                write!(
                    f,
                    "spatial {} in {}..{}, {}..{}",
                    PathDisplay(path),
                    it.west,
                    it.east,
                    it.south,
                    it.north
                )
            }
            Self::NotOutside { path, interval } => write!(f, "not outside {}", Within(path, interval)),
            Self::Ordinals(numbers) => write!(f, "{} documents", numbers.len()),
            Self::AllExcept(numbers) => write!(f, "all but {} documents", numbers.len()),
            Self::Intersection(sets) => joined(f, sets, " and "),
            Self::Union(sets) => joined(f, sets, " or "),
        }
    }
}

/// List items shown.
const SHOWN_MAX: usize = 4;

fn joined(f: &mut fmt::Formatter<'_>, sets: &[PostingSet], word: &str) -> fmt::Result {
    for (at, set) in sets.iter().take(SHOWN_MAX).enumerate() {
        f.write_str(if at > 0 { word } else { "" })?;
        match set {
            PostingSet::Intersection(_) | PostingSet::Union(_) => write!(f, "({set})")?,
            set => write!(f, "{set}")?,
        }
    }
    match sets.len().saturating_sub(SHOWN_MAX) {
        0 => Ok(()),
        more => write!(f, "{word}{more} more"),
    }
}

impl fmt::Display for IndexScan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.spans[..] {
            [span] => write!(f, "{}", SpanDisplay { index: &self.index, span })?,
            spans => write!(f, "{} in {} places", IndexDisplay(&self.index), spans.len())?,
        }
        if self.merged {
            f.write_str(" merged")?;
        }
        if self.sorted.is_some() {
            f.write_str(" in order")?;
        }
        if self.reverse {
            f.write_str(", backwards")?;
        }
        if let Some(set) = &self.restrict_to {
            write!(f, ", among ({set})")?;
        }
        f.write_str(covering(self.covered.is_some()))
    }
}

impl fmt::Display for IndexEnds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let which = match &self.ends[..] {
            [(IndexEnd::First, _)] => "first",
            [(IndexEnd::Last, _)] => "last",
            _ => "first and last",
        };
        write!(f, "{which} of {}", self.scan)
    }
}

/// `/a ASC, /b DESC`, the service's spelling of a composite index.
pub struct CompositeDisplay<'a>(pub &'a [(Path, bool)]);

impl fmt::Display for CompositeDisplay<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().enumerate().try_for_each(|(at, (path, descends))| {
            let direction = if *descends { "DESC" } else { "ASC" };
            write!(f, "{}{} {direction}", if at > 0 { ", " } else { "" }, PathDisplay(path))
        })
    }
}

struct IndexDisplay<'a>(&'a IndexOf);

impl fmt::Display for IndexDisplay<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            IndexOf::Path(path) => write!(f, "index {}", PathDisplay(path)),
            IndexOf::Composite(parts) => write!(f, "composite ({})", CompositeDisplay(parts)),
        }
    }
}

/// One part of an index.
struct SpanDisplay<'a> {
    index: &'a IndexOf,
    span: &'a Span,
}

impl fmt::Display for SpanDisplay<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { index, span } = *self;
        let equal = |value: &Value| Interval::equal(value.clone());
        let mut intervals: Vec<Interval> = span.prefix.iter().map(equal).collect();
        if span.next != Interval::All {
            intervals.push(span.next.clone());
        }
        match (index, &intervals[..]) {
            (_, []) => write!(f, "{}", IndexDisplay(index)),
            (IndexOf::Path(path), [interval, ..]) => write!(f, "index {}", Within(path, interval)),
            (IndexOf::Composite(parts), intervals) => {
                write!(f, "{} from ", IndexDisplay(index))?;
                let named = parts.iter().zip(intervals).enumerate();
                named.into_iter().try_for_each(|(at, ((path, _), interval))| {
                    write!(f, "{}{}", if at > 0 { ", " } else { "" }, Within(path, interval))
                })
            }
        }
    }
}
