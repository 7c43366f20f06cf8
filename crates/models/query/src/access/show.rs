//! Ways as text, for who asks how a query is run:
//! `index /status = "PENDING"`, `composite (/a ASC, /b DESC) from /a = 1, backwards`.

use super::indexes::{IndexOf, Interval, Path, PathDisplay, Span};
use super::interval::Within;
use super::way::{Access, IndexEnd, IndexEnds, IndexScan, PostingSet};
use orrery_value::Value;
use std::fmt;

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
            Self::IndexScan(along) => write!(f, "{along}"),
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
                write!(f, "{}", Stretch { index, span: &span })
            }
            Self::Range { index, span } => write!(f, "{}", Stretch { index, span }),
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

/// So many are shown of a list.
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
            [span] => write!(f, "{}", Stretch { index: &self.index, span })?,
            spans => write!(f, "{} in {} places", Named(&self.index), spans.len())?,
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
        if let Some(set) = &self.among {
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
        write!(f, "{which} of {}", self.along)
    }
}

/// `/a ASC, /b DESC`: as the service spells a composite index.
pub struct CompositeDisplay<'a>(pub &'a [(Path, bool)]);

impl fmt::Display for CompositeDisplay<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().enumerate().try_for_each(|(at, (path, descends))| {
            let direction = if *descends { "DESC" } else { "ASC" };
            write!(f, "{}{} {direction}", if at > 0 { ", " } else { "" }, PathDisplay(path))
        })
    }
}

struct Named<'a>(&'a IndexOf);

impl fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            IndexOf::Path(path) => write!(f, "index {}", PathDisplay(path)),
            IndexOf::Composite(parts) => write!(f, "composite ({})", CompositeDisplay(parts)),
        }
    }
}

/// A part of an index.
struct Stretch<'a> {
    index: &'a IndexOf,
    span: &'a Span,
}

impl fmt::Display for Stretch<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { index, span } = *self;
        let equal = |value: &Value| Interval::equal(value.clone());
        let mut intervals: Vec<Interval> = span.prefix.iter().map(equal).collect();
        if span.next != Interval::All {
            intervals.push(span.next.clone());
        }
        match (index, &intervals[..]) {
            (_, []) => write!(f, "{}", Named(index)),
            (IndexOf::Path(path), [interval, ..]) => write!(f, "index {}", Within(path, interval)),
            (IndexOf::Composite(parts), intervals) => {
                write!(f, "{} from ", Named(index))?;
                let named = parts.iter().zip(intervals).enumerate();
                named.into_iter().try_for_each(|(at, ((path, _), interval))| {
                    write!(f, "{}{}", if at > 0 { ", " } else { "" }, Within(path, interval))
                })
            }
        }
    }
}
