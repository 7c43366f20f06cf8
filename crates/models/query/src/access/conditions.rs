//! Conditions on single paths that every match satisfies, taken from an index predicate.

use super::access_path::passes_array;
use super::indexes::{Interval, Path, Span};
use super::predicate::IndexPredicate;
use crate::limits;
use orrery_value::Value;

/// The conjuncts of an index predicate.
pub(crate) struct Conditions<'n> {
    pub all: Vec<&'n IndexPredicate>,
}

/// The constraint on one path.
pub(crate) enum Constraint<'n> {
    Equal(&'n Value),
    OneOf(Vec<&'n Value>),
    Within(&'n Interval),
}

/// Spans of an index that contain every match, and the conditions that guarantee it.
pub(crate) struct IndexSpans {
    pub spans: Vec<Span>,
    pub conditions: Vec<usize>,
}

impl<'n> Conditions<'n> {
    pub fn of(need: &'n IndexPredicate) -> Self {
        match need {
            IndexPredicate::True => Self { all: Vec::new() },
            IndexPredicate::And(all) => Self { all: all.iter().collect() },
            one => Self { all: vec![one] },
        }
    }

    /// The tightest constraint on a path that passes no array, and the index of its condition.
    pub fn about(&self, path: &Path) -> Option<(usize, Constraint<'n>)> {
        let constraint = self.all.iter().enumerate().filter_map(|(at, need)| Some((at, about(need, path)?)));
        constraint.min_by_key(|(_, constraint)| match constraint {
            Constraint::Equal(_) => 0,
            Constraint::OneOf(_) => 1,
            Constraint::Within(_) => 2,
        })
    }

    pub fn constant(&self, path: &Path) -> Option<&'n Value> {
        match self.about(path) {
            Some((_, Constraint::Equal(value))) => Some(value),
            _ => None,
        }
    }

    /// Whether every match has one of a known set of values at the path.
    pub fn is_one_of_some(&self, path: &Path) -> bool {
        matches!(self.about(path), Some((_, Constraint::Equal(_) | Constraint::OneOf(_))))
    }

    /// Whether every match has a value at the path.
    pub fn define(&self, path: &Path) -> bool {
        self.all.iter().any(|need| defines(need, path))
    }

    /// The narrowest spans of an index that contain every match: values for its first parts and an
    /// interval for the next.
    pub fn spans(&self, parts: &[(Path, bool)]) -> IndexSpans {
        self.spans_with(parts, None)
    }

    /// Variant for a part with known values: those that the index has in an interval.
    pub fn spans_with(&self, parts: &[(Path, bool)], known: Option<(usize, &[Value])>) -> IndexSpans {
        let (mut prefixes, mut next, mut conditions) = (vec![Vec::new()], Interval::All, Vec::new());
        for (part, (path, _)) in parts.iter().enumerate() {
            let Some((at, constraint)) = self.about(path) else { break };
            let known = known.filter(|(known, _)| *known == part).map(|(_, values)| values);
            match known.map_or(constraint, |values| Constraint::OneOf(values.iter().collect())) {
                Constraint::Equal(value) => prefixes.iter_mut().for_each(|prefix| prefix.push(value.clone())),
                Constraint::OneOf(values) => match with_each(&prefixes, &values) {
                    Some(more) => prefixes = more,
                    None => break,
                },
                Constraint::Within(interval) => {
                    next = interval.clone();
                    conditions.push(at);
                    break;
                }
            }
            conditions.push(at);
        }
        let spans = prefixes.into_iter().map(|prefix| Span { prefix, next: next.clone() }).collect();
        IndexSpans { spans, conditions }
    }
}

/// The cross product of prefixes and values; `None` if it is too large.
fn with_each(prefixes: &[Vec<Value>], values: &[&Value]) -> Option<Vec<Vec<Value>>> {
    if prefixes.len() * values.len() > limits::INDEX_SPANS_MAX {
        return None;
    }
    let longer = |prefix: &Vec<Value>, value: &Value| {
        let mut prefix = prefix.clone();
        prefix.push(value.clone());
        prefix
    };
    Some(prefixes.iter().flat_map(|prefix| values.iter().map(|value| longer(prefix, value))).collect())
}

fn about<'n>(need: &'n IndexPredicate, path: &Path) -> Option<Constraint<'n>> {
    match need {
        IndexPredicate::Term { path: of, interval } if of == path && !passes_array(path) => {
            Some(interval.only().map_or(Constraint::Within(interval), Constraint::Equal))
        }
        IndexPredicate::Or(parts) => {
            let values = parts.iter().map(|part| match about(part, path) {
                Some(Constraint::Equal(value)) if matches!(part, IndexPredicate::Term { .. }) => Some(value),
                _ => None,
            });
            let mut values = values.collect::<Option<Vec<_>>>()?;
            values.sort();
            values.dedup();
            Some(Constraint::OneOf(values))
        }
        _ => None,
    }
}

fn defines(need: &IndexPredicate, path: &Path) -> bool {
    match need {
        // The value of a nested path implies that the enclosing path exists.
        IndexPredicate::Term { path: of, .. } | IndexPredicate::Shape { path: of, .. } => {
            of.starts_with(path) && !passes_array(path)
        }
        IndexPredicate::And(parts) => parts.iter().any(|part| defines(part, path)),
        IndexPredicate::Or(parts) => !parts.is_empty() && parts.iter().all(|part| defines(part, path)),
        IndexPredicate::True | IndexPredicate::False => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::access_path::CompositeDisplay;
    use crate::access::indexes::Step;
    use crate::access::predicate::index_predicate;
    use crate::plan::Rules;
    use crate::prepare;

    fn path(name: &str) -> Path {
        name.split('.').map(|name| Step::Member(name.to_owned())).collect()
    }

    fn need_of(filter: &str) -> IndexPredicate {
        let text = format!("SELECT * FROM c WHERE {filter}");
        index_predicate(&prepare(&text, &[], Rules::On).unwrap().plan.query.block)
    }

    fn narrowed(filter: &str, parts: &[&str]) -> (Vec<String>, usize) {
        let parts: Vec<(Path, bool)> = parts.iter().map(|name| (path(name), false)).collect();
        let need = need_of(filter);
        let IndexSpans { spans, conditions } = Conditions::of(&need).spans(&parts);
        let show = |span: &Span| {
            let prefix: Vec<String> = span.prefix.iter().map(Value::to_json).collect();
            let next = if span.next == Interval::All { "" } else { " .." };
            format!("{}{next}", prefix.join(" "))
        };
        assert!(spans.len() <= limits::INDEX_SPANS_MAX, "{}", CompositeDisplay(&parts));
        (spans.iter().map(show).collect(), conditions.len())
    }

    #[test]
    fn spans_fix_the_first_parts_and_bound_the_next() {
        let check = |filter: &str, parts: &[&str], spans: &[&str], conditions: usize| {
            let expected = (spans.iter().map(|span| (*span).to_owned()).collect(), conditions);
            assert_eq!(narrowed(filter, parts), expected, "{filter}");
        };
        check("c.b = 2 AND c.a = 1", &["a", "b"], &["1 2"], 2);
        check("c.b > 2 AND c.a = 1", &["a", "b", "d"], &["1 .."], 2);
        check("c.b > 2 AND c.a = 1", &["b", "a"], &[" .."], 1);
        check("c.b = 2", &["a", "b"], &[""], 0);
        check("c.a IN (2, 1, 2) AND c.b > 2", &["a", "b"], &["1 ..", "2 .."], 2);
        check("c.a IN (1, 2) AND c.b IN (3, 4)", &["a", "b"], &["1 3", "1 4", "2 3", "2 4"], 2);
        check("c.a = 1 OR c.b = 2", &["a", "b"], &[""], 0);
        check("c.a.x = 1 AND c.b = 2", &["a.x", "b"], &["1 2"], 2);
    }

    #[test]
    fn spans_have_a_limit() {
        let list = |from: usize| {
            let values: Vec<String> = (from..from + 40).map(|it| it.to_string()).collect();
            values.join(", ")
        };
        let filter = format!("c.a IN ({}) AND c.b IN ({})", list(0), list(100));
        let (spans, conditions) = narrowed(&filter, &["a", "b"]);
        assert_eq!((spans.len(), conditions), (40, 1));
    }

    #[test]
    fn paths_that_every_match_has_are_defined() {
        let check = |filter: &str, name: &str, expected: bool| {
            let need = need_of(filter);
            assert_eq!(Conditions::of(&need).define(&path(name)), expected, "{filter}");
        };
        check("c.a > 1", "a", true);
        check("c.a.b > 1", "a", true);
        check("c.a > 1", "a.b", false);
        check("c.a = 1 OR c.a > 5", "a", true);
        check("c.a = 1 OR c.b = 5", "a", false);
        check("(c.a = 1 AND c.b = 2) OR c.a = 3", "a", true);
        check("ARRAY_CONTAINS(c.a, 1)", "a", true);
        check("NOT IS_DEFINED(c.a)", "a", false);
    }
}
