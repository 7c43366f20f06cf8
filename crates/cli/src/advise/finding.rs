//! Findings of the rules: facts with their numbers, and advice.

use orrery_documents::definition::{DefinitionError, IndexPath};
use orrery_documents::index::advice::{PolicyJson, excluding, with_composite};
use orrery_protocol::report::LargeItem;
use orrery_query::access::Path;
use serde_json::Value;

#[derive(Clone, Debug, PartialEq)]
pub enum Finding {
    UnusedPaths(UnusedPaths),
    MissingComposites(Vec<MissingComposite>),
    HotPartition(HotPartition),
    LargeItems(LargeItems),
    CrossPartition(CrossPartition),
}

/// Indexed paths that no query uses.
#[derive(Clone, Debug, PartialEq)]
pub struct UnusedPaths {
    pub queries: u64,
    /// Sampled items, and their index entries.
    pub sampled: u64,
    pub entries: u64,
    /// Those with the most entries first.
    pub paths: Vec<UnusedPath>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct UnusedPath {
    pub path: IndexPath,
    /// Of the sampled items.
    pub items: u64,
    pub entries: u64,
}

/// A composite index that queries would have used.
#[derive(Clone, Debug, PartialEq)]
pub struct MissingComposite {
    /// Its paths, and whether each descends.
    pub parts: Vec<(Path, bool)>,
    pub queries: u64,
    /// Request units, of all of them.
    pub charge: f64,
    /// The most expensive of them.
    pub example: String,
}

/// A logical partition with more than its share.
#[derive(Clone, Debug, PartialEq)]
pub struct HotPartition {
    pub key: Vec<Value>,
    pub partitions: u64,
    pub shares: Vec<Share>,
    /// The size limit of a partition, if this one has reached half of it.
    pub bytes_max: Option<u64>,
    /// A partition key for a new container that divides it.
    pub partition_key: Option<Value>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    pub of: Measure,
    pub part: u64,
    pub whole: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    Items,
    Bytes,
    Requests,
}

#[derive(Clone, Debug, PartialEq)]
pub struct LargeItems {
    /// The largest first.
    pub items: Vec<LargeItem>,
    /// What an item of the container has.
    pub bytes_mean: u64,
    /// The member with most of their bytes.
    pub member: Option<String>,
    /// The same member, if it is indexed and no query uses it.
    pub unused: Option<IndexPath>,
}

/// A cross-partition query.
#[derive(Clone, Debug, PartialEq)]
pub struct CrossPartition {
    pub text: String,
    pub queries: u64,
    pub partitions: u64,
    /// Request units and rows of one.
    pub charge_mean: f64,
    pub rows_mean: f64,
    /// A condition that would restrict it to one partition, and its parameter.
    pub filter: String,
    pub parameters: Vec<(String, Value)>,
}

impl Finding {
    pub fn kind(&self) -> &'static str {
        match self {
            Self::UnusedPaths(_) => "unused-paths",
            Self::MissingComposites(_) => "missing-composites",
            Self::HotPartition(_) => "hot-partition",
            Self::LargeItems(_) => "large-items",
            Self::CrossPartition(_) => "cross-partition-query",
        }
    }

    /// The policy with this finding applied; `None` if it does not concern the policy.
    pub fn change(&self, policy: &PolicyJson) -> Option<Result<PolicyJson, DefinitionError>> {
        match self {
            Self::UnusedPaths(UnusedPaths { paths, .. }) => {
                let paths: Vec<IndexPath> = paths.iter().map(|unused| unused.path.clone()).collect();
                Some(excluding(policy, &paths))
            }
            Self::MissingComposites(missing) => {
                let add = |policy: PolicyJson, one: &MissingComposite| with_composite(&policy, &one.parts);
                Some(missing.iter().try_fold(policy.clone(), add))
            }
            Self::LargeItems(LargeItems { unused, .. }) => {
                unused.as_ref().map(|path| excluding(policy, std::slice::from_ref(path)))
            }
            Self::HotPartition(_) | Self::CrossPartition(_) => None,
        }
    }
}

impl Measure {
    pub fn name(self) -> &'static str {
        match self {
            Self::Items => "items",
            Self::Bytes => "bytes",
            Self::Requests => "requests",
        }
    }
}

impl MissingComposite {
    /// `/a ASC, /b DESC`
    pub fn shown(&self) -> String {
        let part = |(path, descends): &(Path, bool)| {
            let order = if *descends { "DESC" } else { "ASC" };
            format!("{} {order}", orrery_query::access::PathDisplay(path))
        };
        self.parts.iter().map(part).collect::<Vec<_>>().join(", ")
    }
}
