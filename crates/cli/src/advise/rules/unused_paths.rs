//! Indexed paths that no query uses: they cost entries with each write.
//!
//! If everything below a path is unused, the path is excluded with it, as far up as possible. A path counts as used if
//! a query uses it, an ancestor or a descendant, whether or not the index served the query.

use super::{Subject, are_related};
use crate::advise::finding::{Finding, UnusedPath, UnusedPaths};
use orrery_documents::definition::IndexPath;
use orrery_documents::index::advice::read_path;
use orrery_query::access::PathDisplay;
use orrery_query::access::{Path, Step};
use std::collections::BTreeMap;

/// With fewer queries nothing can be said about unused paths.
pub const QUERIES_MIN: u64 = 20;

pub fn find(subject: Subject<'_>) -> Vec<Finding> {
    let Subject { statistics, usage, .. } = subject;
    let Some(asked) = subject.asked().filter(|_| usage.queries >= QUERIES_MIN) else { return Vec::new() };
    let kept = [asked, subject.needed()].concat();
    let mut unused: Vec<UnusedPath> = gather(subject, &kept).into_iter().filter_map(Group::shown).collect();
    unused
        .sort_by(|a, b| b.entries.cmp(&a.entries).then_with(|| a.path.to_string().cmp(&b.path.to_string())));
    if unused.is_empty() {
        return Vec::new();
    }
    let (queries, sampled, entries) = (usage.queries, statistics.sampled, statistics.entries);
    vec![Finding::UnusedPaths(UnusedPaths { queries, sampled, entries, paths: unused })]
}

/// Unused paths at and below one.
struct Group {
    top: Path,
    has_more_below: bool,
    items: u64,
    entries: u64,
}

impl Group {
    fn shown(self) -> Option<UnusedPath> {
        let end = if self.has_more_below { "/*" } else { "/?" };
        let path = IndexPath::parse(&(PathDisplay(&self.top).to_string() + end)).ok()?;
        Some(UnusedPath { path, items: self.items, entries: self.entries })
    }
}

fn gather(subject: Subject<'_>, kept: &[Path]) -> Vec<Group> {
    let mut groups: BTreeMap<Path, Group> = BTreeMap::new();
    for indexed in &subject.statistics.paths {
        let Some(path) = read_path(&indexed.path) else { continue };
        let Some(top) = widest(&path, kept) else { continue };
        let top_path = Path::from(top);
        let group = groups.entry(top_path.clone()).or_insert_with(|| Group {
            top: top_path,
            has_more_below: false,
            items: 0,
            entries: 0,
        });
        group.has_more_below |= path.len() > top.len();
        group.items = group.items.max(indexed.items);
        group.entries += indexed.entries;
    }
    groups.into_values().collect()
}

/// The shortest prefix of a path that does not overlap a kept path.
fn widest<'a>(path: &'a [Step], kept: &[Path]) -> Option<&'a [Step]> {
    let beginnings = (1..=path.len()).map(|length| &path[..length]);
    beginnings.into_iter().find(|beginning| !kept.iter().any(|kept| are_related(kept, beginning)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::advise::rules::sample::Sample;
    use serde_json::json;

    /// The paths to leave out, each with its entries.
    fn check(sample: Sample, expected: &[(&str, u64)]) {
        let findings = sample.findings();
        let found = findings.iter().find_map(|finding| match finding {
            Finding::UnusedPaths(found) => Some(&found.paths[..]),
            _ => None,
        });
        let found: Vec<_> =
            found.unwrap_or_default().iter().map(|path| (path.path.to_string(), path.entries)).collect();
        let expected: Vec<_> =
            expected.iter().map(|(path, entries)| ((*path).to_owned(), *entries)).collect();
        assert_eq!(found, expected);
    }

    fn asked_often() -> Sample {
        Sample::new().queries(QUERIES_MIN)
    }

    #[test]
    fn what_nobody_looks_at_is_unused() {
        check(
            asked_often().indexed("/a", 5).indexed("/b", 9).indexed("/d", 7).asked("/a"),
            &[("/b/?", 9), ("/d/?", 7)],
        );
        check(asked_often().indexed("/a", 5).asked("/a"), &[]);
    }

    #[test]
    fn too_few_queries_tell_nothing_and_neither_do_too_many_paths() {
        check(Sample::new().queries(QUERIES_MIN - 1).indexed("/a", 5), &[]);
        check(asked_often().asked_too_much().indexed("/a", 5), &[]);
    }

    #[test]
    fn a_subtree_is_left_out_as_far_up_as_nobody_looks() {
        let deep =
            || asked_often().indexed("/a", 1).indexed("/a/b", 1).indexed("/a/b/d", 1).indexed("/a/e/[]", 4);
        check(deep(), &[("/a/*", 7)]);
        check(deep().asked("/a/b/d"), &[("/a/e/*", 4)]);
        check(deep().asked("/a/b"), &[("/a/e/*", 4)]);
        check(deep().asked("/a"), &[]);
        check(deep().asked("/a/b/x"), &[("/a/e/*", 4), ("/a/b/d/?", 1)]);
        check(
            asked_often().indexed("/t/[]/a", 2).indexed("/t/[]/b", 3).asked("/t/[]/a"),
            &[("/t/[]/b/?", 3)],
        );
    }

    #[test]
    fn keys_and_what_is_always_indexed_stay() {
        let sample = || asked_often().indexed("/id", 9).indexed("/pk", 9).indexed("/email", 9);
        check(sample(), &[("/email/?", 9)]);
        check(sample().defined("uniqueKeyPolicy", json!({"uniqueKeys": [{"paths": ["/email"]}]})), &[]);
    }

    #[test]
    fn odd_names_are_quoted() {
        check(asked_often().indexed("/\"a b\"/\"1.2\"", 3), &[("/\"a b\"/*", 3)]);
    }
}
