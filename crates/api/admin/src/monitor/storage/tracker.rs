//! Which resources are told apart, and what each was asked between two looks.
//!
//! The first [`MONITOR_RESOURCES_MAX`](limits::MONITOR_RESOURCES_MAX) of each service have seats, and keep them until they
//! are deleted. All others of a service are counted together. What they were asked is added up look by look, so that
//! their sum never falls, neither when one of them is deleted nor when it gets a seat.

use super::resource::{AllContents, Operation, Resource, transactions};
use crate::limits;
use orrery_catalog::storage::ServiceKind;
use orrery_catalog::storage::metering::StorageUse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// In the place of the names of resources that have no seat, and of their number.
pub const OTHERS: &str = "(others)";
pub const OTHERS_NUMBER: u32 = 0;

#[derive(Default)]
pub struct Tracker {
    seats: BTreeMap<ServiceKind, BTreeSet<u32>>,
    /// The counts of the last look, in the order of the operations.
    last: HashMap<u32, Vec<u64>>,
    others: BTreeMap<ServiceKind, Vec<Operation>>,
}

/// What a resource was asked since the last look, and what it holds.
pub type StorageDelta = (ServiceKind, u32, StorageUse);

impl Tracker {
    pub fn look(&mut self, resources: &[Resource], contents: &AllContents) -> Vec<StorageDelta> {
        self.give_seats(resources);
        let mut last = HashMap::with_capacity(resources.len());
        let mut deltas: BTreeMap<(ServiceKind, u32), StorageUse> = BTreeMap::new();
        for resource in resources {
            let (service, number) = (resource.service(), resource.number());
            let operations = resource.operations();
            let since = self.since(number, &operations);
            last.insert(number, operations.iter().map(|operation| operation.count).collect());
            let bytes = contents.get(&number).map_or(0, |contents| contents.bytes());
            if self.has_seat(resource) {
                let (id, transactions) = (resource.id(), transactions(&since));
                let used = StorageUse { account: id.account, name: id.name, transactions, bytes };
                deltas.insert((service, number), used);
                continue;
            }
            let others = || StorageUse {
                account: OTHERS.to_owned(),
                name: OTHERS.to_owned(),
                transactions: Default::default(),
                bytes: 0,
            };
            let used = deltas.entry((service, OTHERS_NUMBER)).or_insert_with(others);
            used.transactions.merge(&transactions(&since));
            used.bytes = used.bytes.saturating_add(bytes);
            add(self.others.entry(service).or_default(), &since);
        }
        self.last = last;
        deltas.into_iter().map(|((service, number), used)| (service, number, used)).collect()
    }

    pub fn has_seat(&self, resource: &Resource) -> bool {
        self.seats.get(&resource.service()).is_some_and(|seats| seats.contains(&resource.number()))
    }

    /// What those without a seat were asked, all together.
    pub fn others(&self) -> &BTreeMap<ServiceKind, Vec<Operation>> {
        &self.others
    }

    fn give_seats(&mut self, resources: &[Resource]) {
        let there: BTreeSet<u32> = resources.iter().map(Resource::number).collect();
        self.seats.values_mut().for_each(|seats| seats.retain(|number| there.contains(number)));
        for resource in resources {
            let seats = self.seats.entry(resource.service()).or_default();
            if seats.len() < limits::MONITOR_RESOURCES_MAX {
                seats.insert(resource.number());
            }
        }
    }

    /// What is new since the last look; counters begin at zero with the process and with the resource.
    fn since(&self, number: u32, operations: &[Operation]) -> Vec<Operation> {
        let last = self.last.get(&number);
        let before = |at: usize| last.and_then(|last| last.get(at)).copied().unwrap_or(0);
        let since = operations.iter().enumerate().map(|(at, operation)| Operation {
            count: operation.count.saturating_sub(before(at)),
            ..*operation
        });
        since.collect()
    }
}

fn add(sum: &mut Vec<Operation>, more: &[Operation]) {
    if sum.is_empty() {
        return sum.extend_from_slice(more);
    }
    sum.iter_mut().zip(more).for_each(|(sum, more)| sum.count = sum.count.saturating_add(more.count));
}
