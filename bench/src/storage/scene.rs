//! What is done, over how many connections, and what it is to reach.

use super::payload::PAGE_ENTITIES;
use crate::report::{Row, Target, part_of};
use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// A new entity, in one of many partitions.
    Insert,
    /// One that is there, by its keys.
    Get,
    /// The first hundred of a partition.
    Page,
    /// A hundred new ones of one partition, all or none.
    Batch,
    Put,
    /// A message that waits is got and then deleted: two requests, and two commits.
    GetAndDelete,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scene {
    pub act: Act,
    pub connections: usize,
}

const OF_AZURITE: f64 = 20.0;
const OF_POSTGRES: f64 = 1.5;

impl Act {
    pub const ALL: [Self; 6] =
        [Self::Insert, Self::Get, Self::Page, Self::Batch, Self::Put, Self::GetAndDelete];

    const fn name(self) -> &'static str {
        match self {
            Self::Insert => "tables-insert",
            Self::Get => "tables-get",
            Self::Page => "tables-page",
            Self::Batch => "tables-batch",
            Self::Put => "queues-put",
            Self::GetAndDelete => "queues-get-delete",
        }
    }

    const fn about(self) -> &'static str {
        match self {
            Self::Insert => "an entity inserted",
            Self::Get => "an entity read by its keys",
            Self::Page => "the 100 entities of a partition",
            Self::Batch => "100 entities of one partition inserted together",
            Self::Put => "a message put",
            Self::GetAndDelete => "a message got, then deleted",
        }
    }
}

impl Scene {
    pub fn all() -> Vec<Self> {
        let of = |act| [64, 1].map(|connections| Self { act, connections });
        Act::ALL.into_iter().flat_map(of).collect()
    }

    pub fn about(self) -> String {
        let connections = if self.connections == 1 { "connection" } else { "connections" };
        format!("{}, {} {connections}", self.act.about(), self.connections)
    }

    /// What one operation counts as.
    pub const fn items(self) -> u64 {
        match self.act {
            Act::Batch => PAGE_ENTITIES,
            _ => 1,
        }
    }

    pub fn targets(self, rows: &[Row]) -> Vec<Target> {
        let of = |subject: &str, bound: f64| {
            Target::at_least(&format!("{self}, of {subject}"), bound, "x").measured(part_of(rows, subject))
        };
        vec![of("Azurite", OF_AZURITE), of("PostgreSQL", OF_POSTGRES)]
    }
}

/// `queues-put-c64`.
impl fmt::Display for Scene {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-c{}", self.act.name(), self.connections)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_scene_has_a_name_of_its_own_that_says_its_service() {
        let names: HashSet<String> = Scene::all().iter().map(Scene::to_string).collect();
        assert_eq!(names.len(), 12);
        assert!(names.iter().all(|name| name.starts_with("tables-") || name.starts_with("queues-")));
        assert!(names.contains("queues-get-delete-c64"));
    }
}
