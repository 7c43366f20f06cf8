//! Index predicates: conditions that every document passing the filter satisfies.
//!
//! An index predicate is necessary, not sufficient: every match satisfies it, but a document that
//! satisfies it need not match. So an expression that cannot be translated is left out, and a
//! predicate that grows too long is cut.
//!
//! Predicates have a normal form. No `And` directly contains an `And`, no `Or` an `Or`; both have at least
//! two parts, and neither contains `True` or `False`. An `And` has one term per path, unless the path passes
//! an array: there, different elements may satisfy the terms.

use super::document_path::SlotPaths;
use super::indexes::{Interval, Path, PathDisplay, Rectangle, Step};
use super::interval::Within;
use super::predicate_rules;
use crate::bind::bound::{Block, SourceOf};
use crate::datum::Kind;
use crate::limits;
use std::collections::HashMap;
use std::fmt;

/// A condition that every document passing the filter satisfies, in terms that indexes can answer.
#[derive(Clone, Debug, PartialEq)]
pub enum IndexPredicate {
    /// No restriction.
    True,
    /// No document passes.
    False,
    /// A value at the path lies in the interval; if the path passes arrays, one such value suffices.
    ///
    /// An interval may begin or end at an array or object. An index that stores only a marker for these
    /// seeks to the marker instead.
    Term {
        path: Path,
        interval: Interval,
    },
    /// A valid shape at the path that intersects the rectangle.
    Shape {
        path: Path,
        rectangle: Rectangle,
    },
    And(Vec<IndexPredicate>),
    Or(Vec<IndexPredicate>),
}

/// The condition that every document satisfies that gives a row of the block which passes its filter; `True`
/// if the block's first source is not the collection.
pub fn index_predicate(block: &Block) -> IndexPredicate {
    match block.from.first().map(|source| &source.of) {
        Some(SourceOf::Collection) => predicate_rules::passing(block, &SlotPaths::of(block)),
        _ => IndexPredicate::True,
    }
}

impl IndexPredicate {
    /// A value in the interval, at the path if the expression has one.
    pub(super) fn at(path: Option<Path>, interval: Interval) -> Self {
        match path {
            _ if interval.is_empty() => Self::False,
            Some(path) => Self::Term { path, interval },
            None => Self::True,
        }
    }

    /// Conjunction. If it grows too large, some terms are dropped.
    pub(super) fn and(needs: impl IntoIterator<Item = Self>) -> Self {
        let mut terms = Terms::default();
        for need in needs {
            let parts = if let Self::And(parts) = need { parts } else { vec![need] };
            for part in parts {
                if part == Self::False || terms.add(part).is_none() {
                    return Self::False;
                }
            }
        }
        let mut parts = without_implied(terms.parts);
        match parts.len() {
            0 => Self::True,
            1 => parts.remove(0),
            _ => Self::And(parts),
        }
    }

    /// Disjunction. If it has too many terms, it becomes `True`.
    pub(super) fn or(needs: impl IntoIterator<Item = Self>) -> Self {
        let (mut parts, mut count) = (Vec::new(), 0);
        for need in needs {
            count += need.terms();
            match need {
                Self::True => return Self::True,
                _ if count > limits::PREDICATE_TERMS_MAX => return Self::True,
                Self::False => {}
                Self::Or(inner) => parts.extend(inner),
                other => parts.push(other),
            }
        }
        match parts.len() {
            0 => Self::False,
            1 => parts.remove(0),
            _ => Self::Or(parts),
        }
    }

    /// This predicate, or the other if this is `True`.
    pub(super) fn or_else(self, otherwise: impl FnOnce() -> Self) -> Self {
        if self == Self::True { otherwise() } else { self }
    }

    fn terms(&self) -> usize {
        match self {
            Self::True | Self::False => 0,
            Self::Term { .. } | Self::Shape { .. } => 1,
            Self::And(parts) | Self::Or(parts) => parts.iter().map(Self::terms).sum(),
        }
    }

    /// The path of a single term.
    fn path(&self) -> Option<&Path> {
        match self {
            Self::Term { path, .. } | Self::Shape { path, .. } => Some(path),
            _ => None,
        }
    }

    /// The strength of a term: the path is defined, has a type that includes others, or is restricted
    /// further.
    fn strength(&self) -> u8 {
        match self {
            Self::Term { interval: Interval::All, .. } => 0,
            Self::Term { interval, .. } if is_whole(interval, Kind::Object) => 1,
            Self::Term { interval, .. } if is_whole(interval, Kind::Array) => 1,
            _ => 2,
        }
    }

    /// A value implies the values that enclose it: if `/a/b` is defined, `/a` is an object.
    fn is_implied_by(&self, other: &Self) -> bool {
        let (Self::Term { path, interval }, Some(longer)) = (self, other.path()) else { return false };
        let inside = match longer.get(path.len()) {
            _ if !longer.starts_with(path) => return false,
            Some(Step::Member(_)) => Kind::Object,
            Some(Step::Each) => Kind::Array,
            None if matches!(other, Self::Shape { .. }) => Kind::Object,
            None => Kind::Undefined,
        };
        *interval == Interval::All || is_whole(interval, inside)
    }
}

fn is_whole(interval: &Interval, kind: Kind) -> bool {
    *interval == Interval::of_kind(kind)
}

/// Collects the parts of an `And`.
#[derive(Default)]
struct Terms {
    parts: Vec<IndexPredicate>,
    count: usize,
    /// The index of the single term about a path without arrays.
    places: HashMap<Path, usize>,
}

impl Terms {
    /// `None` if no document can satisfy both this and the parts before.
    fn add(&mut self, part: IndexPredicate) -> Option<()> {
        let (path, interval) = match part {
            IndexPredicate::Term { path, interval } if !path.contains(&Step::Each) => (path, interval),
            other => {
                self.push(other);
                return Some(());
            }
        };
        let Some(known) = self.places.get(&path).and_then(|place| self.parts.get_mut(*place)) else {
            if self.push(IndexPredicate::Term { path: path.clone(), interval }) {
                self.places.insert(path, self.parts.len() - 1);
            }
            return Some(());
        };
        if let IndexPredicate::Term { interval: known, .. } = known {
            *known = std::mem::replace(known, Interval::All).and(interval)?;
        }
        Some(())
    }

    /// Whether the term was kept: it adds something and there is room.
    fn push(&mut self, part: IndexPredicate) -> bool {
        let count = part.terms();
        let is_kept = count > 0 && self.count + count <= limits::PREDICATE_TERMS_MAX;
        if is_kept {
            self.count += count;
            self.parts.push(part);
        }
        is_kept
    }
}

fn without_implied(parts: Vec<IndexPredicate>) -> Vec<IndexPredicate> {
    // Sorted, a path stands right before those that extend it.
    let mut sorted: Vec<usize> = (0..parts.len()).collect();
    sorted.sort_by_key(|&place| (parts[place].path(), parts[place].strength()));
    let mut is_implied = vec![false; parts.len()];
    for pair in sorted.windows(2) {
        is_implied[pair[0]] = parts[pair[0]].is_implied_by(&parts[pair[1]]);
    }
    parts.into_iter().zip(is_implied).filter(|(_, is_implied)| !is_implied).map(|(part, _)| part).collect()
}

/// `/status = "PENDING" or (/status = "FAILED" and /retryCount < 5)`
impl fmt::Display for IndexPredicate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::True => f.write_str("anything"),
            Self::False => f.write_str("nothing"),
            Self::Term { path, interval } => Within(path, interval).fmt(f),
            Self::Shape { path, rectangle: Rectangle { west, south, east, north } } => {
                // A tenth of a metre is precise enough for display.
                let [west, south, east, north] =
                    [west, south, east, north].map(|degrees| (degrees * 1e6).round() / 1e6 + 0.0);
                write!(f, "{} touches {west}..{east}, {south}..{north}", PathDisplay(path))
            }
            Self::And(parts) => write_joined(f, parts, " and "),
            Self::Or(parts) => write_joined(f, parts, " or "),
        }
    }
}

fn write_joined(f: &mut fmt::Formatter<'_>, parts: &[IndexPredicate], word: &str) -> fmt::Result {
    for (number, part) in parts.iter().enumerate() {
        if number > 0 {
            f.write_str(word)?;
        }
        match part {
            IndexPredicate::And(_) | IndexPredicate::Or(_) => write!(f, "({part})")?,
            term => write!(f, "{term}")?,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use orrery_value::Value;

    fn term(path: &str, value: i64) -> IndexPredicate {
        let path = path.split('/').map(|name| match name {
            "[]" => Step::Each,
            name => Step::Member(name.to_owned()),
        });
        IndexPredicate::at(Some(path.collect()), Interval::equal(Value::from(value)))
    }

    fn defined(path: &str) -> IndexPredicate {
        of_kind(path, Kind::Undefined)
    }

    fn of_kind(path: &str, kind: Kind) -> IndexPredicate {
        match term(path, 0) {
            IndexPredicate::Term { path, .. } => IndexPredicate::at(Some(path), Interval::of_kind(kind)),
            other => other,
        }
    }

    fn check(need: &IndexPredicate, expected: &str) {
        assert_eq!(need.to_string(), expected);
    }

    #[test]
    fn nested_conjunctions_and_disjunctions_are_flattened() {
        let all = IndexPredicate::and([term("a", 1), IndexPredicate::and([term("b", 2), term("c", 3)])]);
        check(&all, "/a = 1 and /b = 2 and /c = 3");
        let any = IndexPredicate::or([IndexPredicate::or([term("a", 1), term("b", 2)]), all]);
        check(&any, "/a = 1 or /b = 2 or (/a = 1 and /b = 2 and /c = 3)");
    }

    #[test]
    fn true_is_neutral_in_and_and_absorbs_or() {
        check(&IndexPredicate::and([IndexPredicate::True, term("a", 1)]), "/a = 1");
        check(&IndexPredicate::or([IndexPredicate::True, term("a", 1)]), "anything");
        check(&IndexPredicate::and([]), "anything");
    }

    #[test]
    fn false_is_neutral_in_or_and_absorbs_and() {
        check(&IndexPredicate::or([IndexPredicate::False, term("a", 1)]), "/a = 1");
        check(&IndexPredicate::and([term("a", 1), IndexPredicate::False]), "nothing");
        check(&IndexPredicate::or([]), "nothing");
        check(
            &IndexPredicate::at(None, Interval::Between(std::ops::Bound::Unbounded, no_values())),
            "nothing",
        );
    }

    fn no_values() -> std::ops::Bound<Value> {
        std::ops::Bound::Excluded(Value::Null)
    }

    #[test]
    fn terms_on_a_path_merge_unless_it_passes_an_array() {
        check(&IndexPredicate::and([term("a", 1), term("b", 1), term("a", 1)]), "/a = 1 and /b = 1");
        check(&IndexPredicate::and([term("a", 1), term("a", 2)]), "nothing");
        check(&IndexPredicate::and([term("t/[]", 1), term("t/[]", 2)]), "/t/[] = 1 and /t/[] = 2");
    }

    #[test]
    fn implied_terms_are_removed() {
        check(&IndexPredicate::and([defined("a"), term("a/b", 1)]), "/a/b = 1");
        check(&IndexPredicate::and([term("t/[]/x", 1), defined("t/[]"), defined("t/[]")]), "/t/[]/x = 1");
        check(&IndexPredicate::and([defined("t/[]"), defined("t/[]")]), "/t/[] is defined");
        check(&IndexPredicate::and([defined("a"), term("ab", 1)]), "/a is defined and /ab = 1");
        check(&IndexPredicate::or([defined("a"), term("a/b", 1)]), "/a is defined or /a/b = 1");
        check(&IndexPredicate::and([defined("t/[]"), of_kind("t/[]", Kind::Object)]), "/t/[] is an object");
        check(&IndexPredicate::and([of_kind("a", Kind::Object), term("a/b", 1)]), "/a/b = 1");
        check(&IndexPredicate::and([of_kind("a", Kind::Array), term("a/[]", 1)]), "/a/[] = 1");
        check(
            &IndexPredicate::and([of_kind("a", Kind::String), term("a/b", 1)]),
            "/a is a string and /a/b = 1",
        );
    }

    #[test]
    fn a_predicate_has_a_bounded_number_of_terms() {
        let many = |count: usize| IndexPredicate::or((0..count as i64).map(|value| term("a", value)));
        let max = limits::PREDICATE_TERMS_MAX;
        assert_eq!(many(max).terms(), max);
        assert_eq!(many(max + 1), IndexPredicate::True);
        assert_eq!(IndexPredicate::or([many(max), term("b", 1)]), IndexPredicate::True);
        // A term that does not fit is dropped; later ones may fit.
        let all = IndexPredicate::and([many(max - 1), many(2), term("b", 1)]);
        assert_eq!(all, IndexPredicate::And(vec![many(max - 1), term("b", 1)]));
    }
}
