//! Missing composite indexes that queries would have used.

use super::Subject;
use crate::advise::finding::{Finding, MissingComposite};
use orrery_documents::definition::{CompositeIndex, SortOrder};
use orrery_documents::index::advice::read_path;
use orrery_protocol::report::{CompositePart, Shape};
use orrery_query::access::{Path, Step};
use std::collections::BTreeMap;

/// A rarer query does not justify an entry per write.
pub const QUERIES_MIN: u64 = 10;
/// Each costs an entry per write, so only those that save most.
const SHOWN_MAX: usize = 5;

type Parts = Vec<(Path, bool)>;

pub fn find(subject: Subject<'_>) -> Vec<Finding> {
    let mut missing: Vec<MissingComposite> = gather(subject).into_values().collect();
    missing.retain(|one| one.queries >= QUERIES_MIN);
    missing.sort_by(|a, b| b.charge.total_cmp(&a.charge));
    missing.truncate(SHOWN_MAX);
    if missing.is_empty() { Vec::new() } else { vec![Finding::MissingComposites(missing)] }
}

fn gather(subject: Subject<'_>) -> BTreeMap<Parts, MissingComposite> {
    let there: Vec<Parts> = subject.definition.indexing().composites.iter().map(parts_of).collect();
    let mut found: BTreeMap<Parts, MissingComposite> = BTreeMap::new();
    // The most expensive shape comes first, so it is the example.
    for shape in &subject.usage.shapes {
        for parts in
            shape.missing.iter().filter_map(|parts| read(parts)).filter(|parts| !there.contains(parts))
        {
            let one = found.entry(parts.clone()).or_insert_with(|| first(parts, shape));
            one.queries += shape.queries;
            one.charge += shape.charge;
        }
    }
    found
}

fn first(parts: Parts, shape: &Shape) -> MissingComposite {
    MissingComposite { parts, queries: 0, charge: 0.0, example: shape.text.clone() }
}

fn read(parts: &[CompositePart]) -> Option<Parts> {
    parts.iter().map(|part| Some((read_path(&part.path)?, part.descending))).collect()
}

fn parts_of(index: &CompositeIndex) -> Parts {
    let part = |part: &orrery_documents::definition::CompositePath| {
        let path = part.path.segments().iter().cloned().map(Step::Member).collect();
        (path, part.order == SortOrder::Descending)
    };
    index.paths().iter().map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::advise::rules::sample::Sample;
    use serde_json::json;

    /// The indexes, each with how many queries would have used it.
    fn check(sample: Sample, expected: &[(&str, u64)]) {
        let findings = sample.findings();
        let found: Vec<(String, u64)> = match &findings[..] {
            [Finding::MissingComposites(found)] => {
                found.iter().map(|one| (one.shown(), one.queries)).collect()
            }
            _ => Vec::new(),
        };
        let expected: Vec<_> =
            expected.iter().map(|(index, queries)| ((*index).to_owned(), *queries)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn shapes_that_miss_the_same_index_add_up_and_the_dearest_is_first() {
        let sample = Sample::new().missing("/a ASC, /b DESC", 6, 5.0).missing("/d ASC, /e ASC", 20, 4.0);
        check(sample.missing("/a ASC, /b DESC", 4, 1.0), &[("/a ASC, /b DESC", 10), ("/d ASC, /e ASC", 20)]);
    }

    #[test]
    fn one_that_is_asked_for_rarely_or_is_there_is_not_missed() {
        check(Sample::new().missing("/a ASC, /b DESC", QUERIES_MIN - 1, 5.0), &[]);
        let there = json!({"compositeIndexes": [[{"path": "/a"}, {"path": "/b", "order": "descending"}]]});
        check(Sample::new().defined("indexingPolicy", there).missing("/a ASC, /b DESC", 50, 5.0), &[]);
    }

    #[test]
    fn only_the_dearest_few_are_shown() {
        let indexes: Vec<String> = (0..9).map(|at| format!("/a ASC, /b{at} ASC")).collect();
        let missed = indexes.iter().enumerate();
        let many = missed.fold(Sample::new(), |sample, (at, index)| sample.missing(index, 50, at as f64));
        let dearest: Vec<(&str, u64)> =
            indexes.iter().rev().take(5).map(|index| (index.as_str(), 50)).collect();
        check(many, &dearest);
    }
}
