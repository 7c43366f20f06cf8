//! The newest commit of every partition key range, for session tokens.
//!
//! ```text
//! push (LSN given) ── note ──> cell of the range ──┐
//!                                                  ├── min ──> what a token says
//! snapshot ──────────────────────── its LSN ───────┘
//! ```
//!
//! A cell is raised before the committer can see the batch, so the holder of a snapshot finds in the cell at least the
//! newest commit of that range in the snapshot; pending commits are cut off by the snapshot's own LSN. Cells are in
//! memory only. At startup every range is assumed to be as new as the store, which no token exceeds.
//!
//! A range that came from a split counts its ancestors' cells too: a writer that looked its cell up before the split
//! raises the ancestor's.

use crate::scope::Scope;
use arc_swap::ArcSwap;
use orrery_core::Lsn;
use orrery_documents::catalog::{Catalog, Container};
use orrery_documents::ranges::Range;
use orrery_txn::NewestLsn;
use std::collections::HashMap;
use std::sync::Arc;

pub(crate) struct RangeLsns {
    containers: ArcSwap<HashMap<u32, Arc<Cells>>>,
}

/// The ranges of one container, in key order.
struct Cells {
    version: u32,
    ranges: Vec<RangeCells>,
}

struct RangeCells {
    id: u32,
    min: Vec<u8>,
    own: NewestLsn,
    /// Of the ranges it came from.
    ancestors: Vec<NewestLsn>,
}

impl RangeLsns {
    pub fn new(catalog: &Catalog, durable: Lsn) -> Self {
        let lsns = Self { containers: ArcSwap::from_pointee(HashMap::new()) };
        lsns.follow(catalog, durable);
        lsns
    }

    /// Adopts the containers and ranges of a catalog and drops all others. New ranges are as new as the store. Must be
    /// called before the catalog is published, and not concurrently.
    pub fn follow(&self, catalog: &Catalog, durable: Lsn) {
        let known = self.containers.load();
        let cells = |container: &Arc<Container>| {
            let before = known.get(&container.number());
            let cells = match before.filter(|cells| cells.version == container.ranges().version()) {
                Some(same) => same.clone(),
                None => Arc::new(Cells::of(container, before.map(|cells| &**cells), durable)),
            };
            (container.number(), cells)
        };
        self.containers.store(Arc::new(catalog.all_containers().map(cells).collect()));
    }

    /// The cell to raise when the scope is written; `None` if it is not a partition, or its container is gone.
    pub fn cell_of(&self, scope: Scope<'_>) -> Option<NewestLsn> {
        orrery_core::tour_step!();
        let Scope::Partition { container, epk } = scope else { return None };
        let containers = self.containers.load();
        Some(containers.get(&container)?.holding(epk)?.own.clone())
    }

    /// The LSN of a range in the token of a reader that saw the state as of `seen`: at least the newest commit of the
    /// range in that state, and at most `seen`.
    ///
    /// A range that was split since the reader looked it up has no cell; its reader gets `seen` itself, and the cells
    /// of its descendants are raised to that, so that the token stays valid.
    pub fn as_seen(&self, container: u32, range: u32, seen: Lsn) -> Lsn {
        let containers = self.containers.load();
        let Some(cells) = containers.get(&container) else { return seen };
        match cells.ranges.iter().find(|cells| cells.id == range) {
            Some(cells) => cells.newest().min(seen),
            None => {
                cells.ranges.iter().for_each(|cells| cells.own.raise(seen));
                seen
            }
        }
    }
}

impl Cells {
    fn of(container: &Container, before: Option<&Self>, durable: Lsn) -> Self {
        let leaves = container.ranges().leaves().iter();
        let ranges = leaves.map(|range| RangeCells::of(range, before, durable)).collect();
        Self { version: container.ranges().version(), ranges }
    }

    fn holding(&self, epk: &[u8]) -> Option<&RangeCells> {
        let after = self.ranges.partition_point(|range| range.min.as_slice() <= epk);
        self.ranges.get(after.saturating_sub(1))
    }
}

impl RangeCells {
    fn of(range: &Range, before: Option<&Cells>, durable: Lsn) -> Self {
        let (id, min) = (range.id, range.min.as_bytes().to_vec());
        let known = before.map_or(&[][..], |cells| &cells.ranges);
        if let Some(same) = known.iter().find(|cells| cells.id == range.id) {
            return Self { id, min, own: same.own.clone(), ancestors: same.ancestors.clone() };
        }
        let came_from = known.iter().filter(|cells| range.parents.contains(&cells.id));
        let ancestors = came_from.flat_map(|cells| cells.ancestors.iter().chain([&cells.own]).cloned());
        Self { id, min, own: NewestLsn::new(durable), ancestors: ancestors.collect() }
    }

    fn newest(&self) -> Lsn {
        let cells = self.ancestors.iter().chain([&self.own]);
        cells.map(NewestLsn::get).max().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use orrery_core::{DatabaseName, ETag, Timestamp};
    use orrery_documents::Stamp;
    use orrery_documents::catalog::{create_container, create_database, replace_offer};
    use orrery_documents::definition::{ContainerDefinition, Throughput};
    use orrery_documents::item::Preconditions;
    use orrery_documents::spaces::SPACES;
    use orrery_kv::{Db, MemoryEngine, Overlay, Sync, Txn};
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// A catalog that can split the ranges of its one container.
    struct Ground {
        db: Db,
        lsn: u64,
        container: Option<Arc<Container>>,
    }

    impl Ground {
        fn new() -> Self {
            let db = Db::open(Box::new(MemoryEngine::new(&SPACES)), Sync::Data).expect("a store in memory");
            let mut ground = Self { db, lsn: 0, container: None };
            let definition = serde_json::json!({"id": "c", "partitionKey": {"paths": ["/pk"]}});
            let definition = ContainerDefinition::parse(definition.as_object().expect("an object").clone());
            let definition = definition.expect("a definition");
            let name = DatabaseName::parse("d").expect("a name");
            ground.change(|txn, stamp| {
                create_database(txn, &name, None, stamp).expect("a database");
                create_container(txn, "d", &definition, None, stamp).expect("a container");
            });
            ground
        }

        fn change(&mut self, body: impl Fn(&mut Txn<'_>, Stamp)) {
            let now = Timestamp::from_seconds(1);
            let stamp = Stamp { now, etag: ETag::from_u128(1), partition_bytes_max: u64::MAX };
            let snapshot = self.db.snapshot();
            let nothing = Overlay::default();
            let mut txn = Txn::over(&snapshot, [&nothing, &nothing]);
            body(&mut txn, stamp);
            self.lsn += 1;
            self.db.commit(vec![txn.into_batch().stamp(Lsn(self.lsn))]).expect("a commit");
            self.container = self.catalog().all_containers().next().cloned();
        }

        fn catalog(&self) -> Catalog {
            Catalog::default().refreshed(&*self.db.snapshot()).expect("a catalog")
        }

        fn container(&self) -> &Container {
            self.container.as_deref().expect("a container")
        }

        /// Splits until there are as many ranges as this throughput needs.
        fn split(&mut self, units: u64) {
            let offer = self.container().offer().expect("an offer");
            self.change(|txn, stamp| {
                let always = Preconditions::default();
                replace_offer(txn, offer, &Throughput::Manual(units), always, stamp).expect("an offer");
            });
        }
    }

    fn scope(epk: &[u8]) -> Scope<'_> {
        Scope::Partition { container: 1, epk }
    }

    #[test]
    fn a_commit_moves_its_own_range_and_no_other() {
        let mut ground = Ground::new();
        ground.split(12_000);
        let lsns = RangeLsns::new(&ground.catalog(), Lsn(5));
        let ids: Vec<u32> = ground.container().ranges().leaves().iter().map(|range| range.id).collect();
        lsns.cell_of(scope(&[0x30; 16])).unwrap().raise(Lsn(9));
        assert_eq!(lsns.as_seen(1, ids[0], Lsn(20)), Lsn(5));
        assert_eq!(lsns.as_seen(1, ids[1], Lsn(20)), Lsn(9));
        assert_eq!(lsns.as_seen(1, ids[1], Lsn(7)), Lsn(7), "what is not durable yet is not told");
        assert_eq!(lsns.as_seen(2, 0, Lsn(20)), Lsn(20), "of what is gone nothing is known");
    }

    #[test]
    fn a_writer_that_looked_its_cell_up_before_a_split_still_counts() {
        let mut ground = Ground::new();
        let lsns = RangeLsns::new(&ground.catalog(), Lsn(2));
        let held = lsns.cell_of(scope(&[0x30; 16]));
        ground.split(12_000);
        lsns.follow(&ground.catalog(), Lsn(3));
        held.unwrap().raise(Lsn(8));
        for range in ground.container().ranges().leaves() {
            assert_eq!(lsns.as_seen(1, range.id, Lsn(20)), Lsn(8));
        }
    }

    #[test]
    fn an_lsn_given_late_for_a_split_range_holds_for_its_descendants() {
        let mut ground = Ground::new();
        let lsns = RangeLsns::new(&ground.catalog(), Lsn(2));
        ground.split(12_000);
        lsns.follow(&ground.catalog(), Lsn(3));
        assert_eq!(lsns.as_seen(1, 0, Lsn(11)), Lsn(11));
        for range in ground.container().ranges().leaves() {
            assert_eq!(lsns.as_seen(1, range.id, Lsn(20)), Lsn(11));
        }
    }

    proptest! {
        /// Monotonic reads: whatever is written and split in between, the LSN of a range (or its descendants) never
        /// decreases, and covers every durable write of it (S0-01).
        #[test]
        fn tokens_never_go_back_and_cover_what_was_written(
            steps in proptest::collection::vec((0u8..3, 0u8..0x40), 1..40),
        ) {
            let mut ground = Ground::new();
            let lsns = RangeLsns::new(&ground.catalog(), Lsn(2));
            let (mut lsn, mut units) = (2, 6000);
            // For each first byte of a key: the newest write, and the newest LSN given to its reader.
            let (mut written, mut told) = (BTreeMap::<u8, u64>::new(), BTreeMap::<u8, u64>::new());
            for (kind, byte) in steps {
                lsn += 1;
                match kind {
                    0 => {
                        lsns.cell_of(scope(&[byte; 16])).unwrap().raise(Lsn(lsn));
                        written.insert(byte, lsn);
                    }
                    1 if units < 60_000 => {
                        units += 6000;
                        ground.split(units);
                        lsns.follow(&ground.catalog(), Lsn(lsn));
                    }
                    _ => {}
                }
                for byte in 0..0x40u8 {
                    let key = orrery_keys::Epk::from_bytes(&[byte; 16]).expect("a key");
                    let range = ground.container().ranges().of(&key).id;
                    let now = lsns.as_seen(1, range, Lsn(lsn)).0;
                    prop_assert!(now >= *told.get(&byte).unwrap_or(&0), "{now} after {told:?}");
                    prop_assert!(now >= *written.get(&byte).unwrap_or(&0) && now <= lsn);
                    told.insert(byte, now);
                }
            }
        }
    }
}
