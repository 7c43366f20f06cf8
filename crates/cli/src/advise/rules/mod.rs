//! The rules, one file each: from a container's definition, content and usage to advice.

mod cross_partition;
mod hot_partitions;
mod large_items;
mod missing_composites;
mod unused_paths;

use super::finding::Finding;
use orrery_documents::definition::ContainerDefinition;
use orrery_documents::index::advice::{PolicyJson, read_path};
use orrery_protocol::report::{Statistics, Usage};
use orrery_query::access::{Path, Step};

/// The advice for one container.
#[derive(Clone, Debug, PartialEq)]
pub struct Advice {
    pub findings: Vec<Finding>,
    /// Its policy, and if several findings change it, the policy with all of them applied.
    pub policy: PolicyJson,
    pub together: Option<PolicyJson>,
}

/// The input of a rule.
#[derive(Clone, Copy)]
struct Subject<'a> {
    definition: &'a ContainerDefinition,
    statistics: &'a Statistics,
    usage: &'a Usage,
}

type Rule = fn(Subject<'_>) -> Vec<Finding>;

const RULES: [Rule; 5] = [
    unused_paths::find,
    missing_composites::find,
    hot_partitions::find,
    large_items::find,
    cross_partition::find,
];

pub fn advise(definition: &ContainerDefinition, statistics: &Statistics, usage: &Usage) -> Advice {
    let subject = Subject { definition, statistics, usage };
    let findings: Vec<Finding> = RULES.iter().flat_map(|rule| rule(subject)).collect();
    let shown = definition.to_json();
    let policy =
        shown.get("indexingPolicy").and_then(|policy| policy.as_object()).cloned().unwrap_or_default();
    let (together, changes) = findings.iter().fold((policy.clone(), 0), |(policy, changes), finding| {
        match finding.change(&policy) {
            Some(Ok(changed)) => (changed, changes + 1),
            _ => (policy, changes),
        }
    });
    Advice { findings, policy, together: (changes > 1).then_some(together) }
}

impl Subject<'_> {
    /// Paths that queries use; `None` if they are not all known.
    fn asked(&self) -> Option<Vec<Path>> {
        self.usage
            .paths
            .as_ref()
            .map(|paths| paths.iter().filter_map(|asked| read_path(&asked.path)).collect())
    }

    /// Paths of a partition key or a unique key, and those that are always indexed.
    fn needed(&self) -> Vec<Path> {
        let keys = self.definition.partition_key().paths().iter();
        let unique = self.definition.unique_keys().iter().flatten();
        let named = keys.chain(unique).map(|path| members(path.segments()));
        named.chain(["id", "_ts"].map(|name| members(&[name.to_owned()]))).collect()
    }
}

fn members(names: &[String]) -> Path {
    names.iter().cloned().map(Step::Member).collect()
}

/// Whether one path is a prefix of the other: an index over one may serve a query for the other.
fn are_related(a: &[Step], b: &[Step]) -> bool {
    a.starts_with(b) || b.starts_with(a)
}

#[cfg(test)]
mod sample;

#[cfg(test)]
mod tests {
    use super::sample::Sample;
    use serde_json::json;

    #[test]
    fn a_container_that_is_well_has_no_findings() {
        let sample = Sample::new().partitions(10, 1000).indexed("/a", 1000).asked("/a").queries(100);
        let advice = sample.advice();
        assert_eq!((advice.findings, advice.together), (Vec::new(), None));
    }

    #[test]
    fn findings_about_the_policy_come_together_in_one() {
        let sample =
            Sample::new().indexed("/a", 10).indexed("/b", 10).indexed("/c", 10).asked("/a").asked("/b");
        let advice = sample.queries(50).missing("/a ASC, /b DESC", 30, 90.0).advice();
        let kinds: Vec<&str> = advice.findings.iter().map(|finding| finding.kind()).collect();
        assert_eq!(kinds, ["unused-paths", "missing-composites"]);
        let together = advice.together.unwrap();
        assert_eq!(together["excludedPaths"], json!([{"path": "/\"_etag\"/?"}, {"path": "/c/?"}]));
        assert_eq!(together["compositeIndexes"][0][1], json!({"path": "/b", "order": "descending"}));
        assert_eq!(together["indexingMode"], "consistent");
    }
}
