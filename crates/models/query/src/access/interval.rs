//! Intervals of values: construction, intersection and display.

use super::indexes::{Interval, PathDisplay, Step};
use crate::datum::{Datum, Kind};
use orrery_value::Value;
use std::fmt;
use std::ops::{Bound, RangeBounds};

impl Interval {
    pub fn equal(value: Value) -> Self {
        Self::Between(Bound::Included(value.clone()), Bound::Included(value))
    }

    /// All values of a type; for undefined, all values.
    pub fn of_kind(kind: Kind) -> Self {
        match (least(kind), greatest(kind)) {
            (Some(low), Some(high)) => Self::Between(Bound::Included(low), Bound::Included(high)),
            (Some(low), None) => Self::Between(Bound::Included(low), Bound::Unbounded),
            (None, _) => Self::All,
        }
    }

    pub fn starts_with(prefix: String) -> Self {
        if prefix.is_empty() { Self::of_kind(Kind::String) } else { Self::StartsWith(prefix) }
    }

    pub fn is_empty(&self) -> bool {
        let kind = self.kind();
        let (low, high) = self.ends();
        let closed = |end: Bound<Value>, otherwise: Option<Value>| match (end, otherwise) {
            (Bound::Unbounded, Some(last)) => Bound::Included(last),
            (end, _) => end,
        };
        match (closed(low, kind.and_then(least)), closed(high, kind.and_then(greatest))) {
            (Bound::Unbounded, _) | (_, Bound::Unbounded) => false,
            (Bound::Included(low), Bound::Included(high)) => low > high,
            (Bound::Included(low) | Bound::Excluded(low), Bound::Included(high) | Bound::Excluded(high)) => {
                low >= high
            }
        }
    }

    /// The intersection; `None` if it is empty.
    pub(super) fn and(self, other: Self) -> Option<Self> {
        match (self.kind(), other.kind()) {
            (None, _) => return Some(other),
            (_, None) => return Some(self),
            (Some(one), Some(another)) if one != another => return None,
            _ => {}
        }
        let (ends, others) = (self.ends(), other.ends());
        let both = (tighter(&ends.0, &others.0, Value::gt), tighter(&ends.1, &others.1, Value::lt));
        // Keeps a prefix where possible, because the index knows best where its range ends.
        let both = match both {
            both if both == ends => self,
            both if both == others => other,
            (low, high) => Self::Between(low, high),
        };
        if both.is_empty() { None } else { Some(both) }
    }

    pub(super) fn holds(&self, value: &Value) -> bool {
        let (low, high) = self.ends();
        self.kind().is_none_or(|kind| kind == kind_of(value)) && (low, high).contains(value)
    }

    /// The complement within its type, as intervals.
    pub(super) fn outside(&self) -> Vec<Self> {
        let beyond = |end: &Bound<Value>| match end {
            Bound::Included(value) => Some(Bound::Excluded(value.clone())),
            Bound::Excluded(value) => Some(Bound::Included(value.clone())),
            Bound::Unbounded => None,
        };
        let (low, high) = self.ends();
        let below = beyond(&low).map(|end| Self::Between(Bound::Unbounded, end));
        let above = beyond(&high).map(|end| Self::Between(end, Bound::Unbounded));
        below.into_iter().chain(above).filter(|rest| !rest.is_empty()).collect()
    }

    /// The part of an interval after a value, or before it; `None` for an interval without ends to cut
    /// at.
    pub(super) fn without(&self, value: &Value, is_before: bool) -> Option<Self> {
        let Self::Between(low, high) = self else { return None };
        let (low, high) = match is_before {
            true => (low.clone(), Bound::Excluded(value.clone())),
            false => (Bound::Excluded(value.clone()), high.clone()),
        };
        let rest = Self::Between(low, high);
        (!rest.is_empty()).then_some(rest)
    }

    /// The type of its values; `None` for all values.
    pub(super) fn kind(&self) -> Option<Kind> {
        match self {
            Self::All => None,
            Self::StartsWith(_) => Some(Kind::String),
            Self::Between(low, high) => value_of(low).or(value_of(high)).map(kind_of),
        }
    }

    fn ends(&self) -> (Bound<Value>, Bound<Value>) {
        match self {
            Self::All => (Bound::Unbounded, Bound::Unbounded),
            Self::Between(low, high) => (low.clone(), high.clone()),
            Self::StartsWith(prefix) => {
                let after = after(prefix).map_or(Bound::Unbounded, |after| Bound::Excluded(after.into()));
                (Bound::Included(Value::from(prefix.as_str())), after)
            }
        }
    }
}

pub(super) fn kind_of(value: &Value) -> Kind {
    Datum::of(value).kind()
}

/// The first value of a type; for numbers, the first that JSON can express.
fn least(kind: Kind) -> Option<Value> {
    Some(match kind {
        Kind::Undefined => return None,
        Kind::Null => Value::Null,
        Kind::Bool => Value::Bool(false),
        Kind::Number => Value::from(f64::MIN),
        Kind::String => Value::String(String::new()),
        Kind::Array => Value::Array(Vec::new()),
        Kind::Object => Value::Object(Vec::new()),
    })
}

/// The last value of a type that is worth an explicit end; the other types have no practical last value.
fn greatest(kind: Kind) -> Option<Value> {
    match kind {
        Kind::Null => Some(Value::Null),
        Kind::Bool => Some(Value::Bool(true)),
        _ => None,
    }
}

fn value_of(end: &Bound<Value>) -> Option<&Value> {
    match end {
        Bound::Included(value) | Bound::Excluded(value) => Some(value),
        Bound::Unbounded => None,
    }
}

/// The tighter end; `is_inside` tells whether the first value is further in than the second.
fn tighter(a: &Bound<Value>, b: &Bound<Value>, is_inside: fn(&Value, &Value) -> bool) -> Bound<Value> {
    let is_first = match (value_of(a), value_of(b)) {
        (None, _) => false,
        (_, None) => true,
        (Some(one), Some(other)) if one == other => matches!(a, Bound::Excluded(_)),
        (Some(one), Some(other)) => is_inside(one, other),
    };
    if is_first { a.clone() } else { b.clone() }
}

/// The first string after all strings with this prefix, in code point order; `None` if there is none.
fn after(prefix: &str) -> Option<String> {
    let mut text = prefix.to_owned();
    while let Some(last) = text.pop() {
        // The successor of a code point skips the surrogates.
        if let Some(next) = (last..=char::MAX).nth(1) {
            text.push(next);
            return Some(text);
        }
    }
    None
}

/// A path and its interval: `/a = 1`, `1 < /a <= 5`, `/a is a string`.
pub(super) struct Within<'a>(pub &'a [Step], pub &'a Interval);

impl fmt::Display for Within<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(path, interval) = self;
        let path = PathDisplay(path);
        match interval {
            Interval::All => write!(f, "{path} is defined"),
            Interval::StartsWith(prefix) => {
                write!(f, "{path} starts with {}", Value::from(prefix.as_str()).to_json())
            }
            Interval::Between(Bound::Included(low), Bound::Included(high)) if low == high => {
                write!(f, "{path} = {}", low.to_json())
            }
            Interval::Between(low, high) => match kind_if_whole(interval) {
                Some(name) => write!(f, "{path} is {name}"),
                None => write_ends(f, &path, low, high),
            },
        }
    }
}

fn kind_if_whole(interval: &Interval) -> Option<&'static str> {
    const NAMED: [(Kind, &str); 5] = [
        (Kind::Bool, "a boolean"),
        (Kind::Number, "a number"),
        (Kind::String, "a string"),
        (Kind::Array, "an array"),
        (Kind::Object, "an object"),
    ];
    NAMED.iter().find(|(kind, _)| Interval::of_kind(*kind) == *interval).map(|(_, name)| *name)
}

fn write_ends(
    f: &mut fmt::Formatter<'_>,
    path: &PathDisplay<'_>,
    low: &Bound<Value>,
    high: &Bound<Value>,
) -> fmt::Result {
    let sign = |end: &Bound<Value>, open: &'static str, closed: &'static str| match end {
        Bound::Excluded(_) => open,
        _ => closed,
    };
    match (value_of(low), value_of(high)) {
        (Some(from), Some(to)) => {
            let (after_from, before_to) = (sign(low, "<", "<="), sign(high, "<", "<="));
            write!(f, "{} {after_from} {path} {before_to} {}", from.to_json(), to.to_json())
        }
        (Some(from), None) => write!(f, "{path} {} {}", sign(low, ">", ">="), from.to_json()),
        (None, Some(to)) => write!(f, "{path} {} {}", sign(high, "<", "<="), to.to_json()),
        (None, None) => write!(f, "{path} is defined"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn between(low: Bound<i64>, high: Bound<i64>) -> Interval {
        Interval::Between(low.map(Value::from), high.map(Value::from))
    }

    fn check(a: Interval, b: Interval, expected: &str) {
        let path = [Step::Member("a".to_owned())];
        let shown = |both: Option<Interval>| {
            both.map_or("nothing".to_owned(), |both| Within(&path, &both).to_string())
        };
        assert_eq!(shown(a.clone().and(b.clone())), expected);
        assert_eq!(shown(b.and(a)), expected);
    }

    #[test]
    fn two_intervals_of_a_type_become_one() {
        use Bound::{Excluded, Included, Unbounded};
        check(between(Excluded(1), Unbounded), between(Unbounded, Excluded(5)), "1 < /a < 5");
        check(between(Excluded(1), Unbounded), between(Included(1), Unbounded), "/a > 1");
        check(between(Included(1), Included(5)), between(Included(5), Included(9)), "/a = 5");
        check(between(Included(1), Excluded(5)), between(Included(5), Included(9)), "nothing");
        check(between(Included(1), Unbounded), Interval::All, "/a >= 1");
        check(between(Included(1), Unbounded), Interval::of_kind(Kind::Number), "/a >= 1");
        check(between(Included(1), Unbounded), Interval::of_kind(Kind::String), "nothing");
        check(Interval::of_kind(Kind::Bool), Interval::equal(Value::Bool(true)), "/a = true");
        check(Interval::of_kind(Kind::Null), Interval::of_kind(Kind::Null), "/a = null");
    }

    #[test]
    fn a_prefix_is_an_interval_of_strings() {
        let prefix = |text: &str| Interval::starts_with(text.to_owned());
        check(prefix("ab"), prefix("abc"), r#"/a starts with "abc""#);
        check(prefix("ab"), prefix("ac"), "nothing");
        check(prefix("ab"), Interval::equal("abz".into()), r#"/a = "abz""#);
        check(prefix("ab"), Interval::equal("b".into()), "nothing");
        check(prefix(""), prefix(""), "/a is a string");
        let from = Interval::Between(Bound::Excluded("abm".into()), Bound::Unbounded);
        check(prefix("ab"), from, r#""abm" < /a < "ac""#);
    }

    #[test]
    fn a_value_of_a_type_is_inside_or_outside() {
        use Bound::{Excluded, Included, Unbounded};
        let values: Vec<Value> = (-3i64..4).map(Value::from).collect();
        for interval in [
            between(Excluded(1), Unbounded),
            between(Unbounded, Included(1)),
            between(Included(-1), Excluded(2)),
            Interval::equal(0i64.into()),
            Interval::of_kind(Kind::Number),
        ] {
            for value in &values {
                let is_outside = interval.outside().iter().any(|rest| rest.holds(value));
                assert_eq!(interval.holds(value), !is_outside, "{value:?} of {interval:?}");
            }
            assert!(
                !interval.holds(&"1".into())
                    && !interval.outside().iter().any(|rest| rest.holds(&"1".into()))
            );
        }
        assert!(Interval::All.outside().is_empty() && Interval::All.holds(&Value::Null));
        let prefix = Interval::starts_with("ab".to_owned());
        assert!(prefix.holds(&"abc".into()) && !prefix.holds(&"ac".into()));
        assert_eq!(prefix.outside().len(), 2);
    }

    #[test]
    fn an_interval_without_values_is_known() {
        let above = |value: Value| Interval::Between(Bound::Excluded(value), Bound::Unbounded);
        let below = |value: Value| Interval::Between(Bound::Unbounded, Bound::Excluded(value));
        for empty in [above(Value::Null), below(Value::Null), above(true.into()), below(false.into())] {
            assert!(empty.is_empty(), "{empty:?}");
        }
        assert!(below("".into()).is_empty());
        assert!(between(Bound::Excluded(1), Bound::Excluded(1)).is_empty());
        for some in [above(false.into()), above("".into()), below(0i64.into()), above(1i64.into())] {
            assert!(!some.is_empty(), "{some:?}");
        }
    }

    #[test]
    fn the_end_of_a_prefix_skips_surrogates() {
        assert_eq!(after("ab").as_deref(), Some("ac"));
        assert_eq!(after("a\u{d7ff}").as_deref(), Some("a\u{e000}"));
        assert_eq!(after("a\u{10ffff}\u{10ffff}").as_deref(), Some("b"));
        assert_eq!(after("\u{10ffff}"), None);
    }

    fn text() -> impl Strategy<Value = String> {
        let characters = prop::sample::select(vec!['a', 'b', '\u{d7ff}', '\u{e000}', '\u{10ffff}']);
        prop::collection::vec(characters, 0..4).prop_map(|text| text.into_iter().collect())
    }

    proptest! {
        #[test]
        fn strings_from_a_prefix_to_its_end_start_with_it(prefix in text(), text in text()) {
            let below = after(&prefix).is_none_or(|after| text < after);
            prop_assert_eq!(text >= prefix && below, text.starts_with(&prefix));
        }
    }
}
