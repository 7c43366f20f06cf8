//! Ways as text, for who asks how a query is run:
//! `index /status = "PENDING"`, `composite (/a ASC, /b DESC) from /a = 1, backwards`.

use super::indexes::{IndexOf, Interval, Path, Shown, Span};
use super::interval::Within;
use super::way::{Access, Along, End, Ends, Set};
use orrery_value::Value;
use std::fmt;

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => f.write_str("nothing"),
            Self::Scan => f.write_str("scan"),
            Self::Numbered => f.write_str("scan in the order of creation"),
            Self::Postings { set, covered } => {
                write!(f, "{set}")?;
                f.write_str(covering(covered.is_some()))
            }
            Self::Along(along) => write!(f, "{along}"),
            Self::Told { documents, ends } => {
                f.write_str(if documents.is_some() { "counted, " } else { "" })?;
                write!(f, "{ends}")
            }
        }
    }
}

fn covering(covered: bool) -> &'static str {
    if covered { ", without documents" } else { "" }
}

impl fmt::Display for Set {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Equal { index, values } => {
                let span = Span { prefix: values.clone(), next: Interval::All };
                write!(f, "{}", Stretch { index, span: &span })
            }
            Self::Within { index, span } => write!(f, "{}", Stretch { index, span }),
            Self::Near { path, rectangle: it } => {
                write!(f, "spatial {} in {}..{}, {}..{}", Shown(path), it.west, it.east, it.south, it.north)
            }
            Self::Outside { path, interval } => write!(f, "not outside {}", Within(path, interval)),
            Self::Numbers(numbers) => write!(f, "{} documents", numbers.len()),
            Self::AllBut(numbers) => write!(f, "all but {} documents", numbers.len()),
            Self::All(sets) => joined(f, sets, " and "),
            Self::OneOf(sets) => joined(f, sets, " or "),
        }
    }
}

/// So many are shown of a list.
const SHOWN_MAX: usize = 4;

fn joined(f: &mut fmt::Formatter<'_>, sets: &[Set], word: &str) -> fmt::Result {
    for (at, set) in sets.iter().take(SHOWN_MAX).enumerate() {
        f.write_str(if at > 0 { word } else { "" })?;
        match set {
            Set::All(_) | Set::OneOf(_) => write!(f, "({set})")?,
            set => write!(f, "{set}")?,
        }
    }
    match sets.len().saturating_sub(SHOWN_MAX) {
        0 => Ok(()),
        more => write!(f, "{word}{more} more"),
    }
}

impl fmt::Display for Along {
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

impl fmt::Display for Ends {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let which = match &self.ends[..] {
            [(End::First, _)] => "first",
            [(End::Last, _)] => "last",
            _ => "first and last",
        };
        write!(f, "{which} of {}", self.along)
    }
}

/// `/a ASC, /b DESC`: as the service spells a composite index.
pub struct Spelled<'a>(pub &'a [(Path, bool)]);

impl fmt::Display for Spelled<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().enumerate().try_for_each(|(at, (path, descends))| {
            let direction = if *descends { "DESC" } else { "ASC" };
            write!(f, "{}{} {direction}", if at > 0 { ", " } else { "" }, Shown(path))
        })
    }
}

struct Named<'a>(&'a IndexOf);

impl fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            IndexOf::Path(path) => write!(f, "index {}", Shown(path)),
            IndexOf::Composite(parts) => write!(f, "composite ({})", Spelled(parts)),
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
