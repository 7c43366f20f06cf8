//! Items that are much larger than a page of text: each read, write and scan is charged for all of their
//! bytes.

use super::{Subject, are_related, members};
use crate::advise::finding::{Finding, LargeItems};
use orrery_documents::definition::IndexPath;
use orrery_documents::index::advice::read_path;
use orrery_protocol::report::LargeItem;
use orrery_query::access::PathDisplay;
use std::collections::BTreeMap;

const SHOWN_MAX: usize = 5;

pub fn find(subject: Subject<'_>) -> Vec<Finding> {
    let large = &subject.usage.large;
    if large.is_empty() {
        return Vec::new();
    }
    let member = heaviest_member(large);
    vec![Finding::LargeItems(LargeItems {
        items: large.iter().take(SHOWN_MAX).cloned().collect(),
        bytes_mean: subject.statistics.bytes / subject.statistics.items.max(1),
        unused: member.as_deref().and_then(|member| unused(subject, member)),
        member,
    })]
}

/// The member that holds more than half of the items' bytes.
fn heaviest_member(large: &[LargeItem]) -> Option<String> {
    let mut bytes: BTreeMap<&str, u64> = BTreeMap::new();
    for item in large {
        if let Some(member) = &item.member {
            *bytes.entry(member).or_default() += item.member_bytes;
        }
    }
    let total: u64 = large.iter().map(|item| item.bytes).sum();
    let (member, bytes) = bytes.into_iter().max_by_key(|(_, bytes)| *bytes)?;
    (bytes * 2 > total).then(|| member.to_owned())
}

/// The member as a path to exclude from the index, if it is indexed and unused.
fn unused(subject: Subject<'_>, member: &str) -> Option<IndexPath> {
    let path = members(&[member.to_owned()]);
    let indexed = subject.statistics.paths.iter().filter_map(|indexed| read_path(&indexed.path));
    let longest = indexed.filter(|indexed| indexed.starts_with(&path)).map(|indexed| indexed.len()).max()?;
    let kept = [subject.asked()?, subject.needed()].concat();
    if kept.iter().any(|kept| are_related(kept, &path)) {
        return None;
    }
    let end = if longest > path.len() { "/*" } else { "/?" };
    IndexPath::parse(&(PathDisplay(&path).to_string() + end)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::advise::rules::sample::Sample;

    fn found(sample: &Sample) -> Option<LargeItems> {
        sample.findings().into_iter().find_map(|finding| match finding {
            Finding::LargeItems(found) => Some(found),
            _ => None,
        })
    }

    #[test]
    fn the_member_that_most_of_it_is_in_is_named() {
        let sample = || Sample::new().partitions(4, 1_000).large("a", 90_000, "body", 80_000);
        assert_eq!(found(&Sample::new()), None);
        let of = |sample: Sample| found(&sample).unwrap();
        assert_eq!((of(sample()).member, of(sample()).bytes_mean), (Some("body".into()), 100));
        assert_eq!(of(sample().large("b", 200_000, "x", 90_000)).member, None);
    }

    #[test]
    fn it_is_left_out_of_the_index_if_nobody_looks_at_it() {
        let sample = || Sample::new().large("a", 90_000, "body", 80_000);
        let unused = |sample: Sample| found(&sample).unwrap().unused.map(|path| path.to_string());
        assert_eq!(unused(sample()), None, "it is not indexed");
        assert_eq!(unused(sample().indexed("/body/x", 9)), Some("/body/*".to_owned()));
        assert_eq!(unused(sample().indexed("/body", 9)), Some("/body/?".to_owned()));
        assert_eq!(unused(sample().indexed("/body/x", 9).asked("/body/x")), None);
        assert_eq!(unused(sample().indexed("/body/x", 9).asked_too_much()), None);
        assert_eq!(unused(sample().indexed("/bodyguard", 9)), None);
    }
}
