//! A scene: sets that are there together, and what is done with them.

use super::set::Set;
use super::workload::Workload;

#[derive(Clone, Debug)]
pub struct Scene {
    pub name: &'static str,
    pub sets: Vec<Set>,
    pub workloads: Vec<Workload>,
    /// How many workloads, one after the other in the list, take turns with each other: those that are compared.
    pub side_by_side: usize,
}

impl Scene {
    pub fn new(name: &'static str, sets: Vec<Set>, workloads: Vec<Workload>) -> Self {
        Self { name, sets, workloads, side_by_side: 1 }
    }

    pub fn items(&self) -> u64 {
        self.sets.iter().map(|set| set.items).sum()
    }

    pub fn changes_its_sets(&self) -> bool {
        self.workloads.iter().any(Workload::changes_its_set)
    }
}
