//! The queries of a table that read whole partitions, by their filters without constants.

use crate::limits;
use orrery_tables::plan::Access;
use orrery_tables::{Query, QueryPage};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Queries of one shape, and what their pages came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScanTotals {
    /// With `?` for each constant; nothing if all entities were asked for. A long one is cut.
    pub filter: Option<String>,
    /// The most that one of them read.
    pub access: Access,
    pub queries: u64,
    pub rows_scanned: u64,
    pub rows_returned: u64,
}

/// The most recent ones, by the hash of their filter's whole shape.
#[derive(Clone, Debug, Default)]
pub(super) struct Scans {
    known: HashMap<u64, Known>,
    now: u64,
}

/// A page of such a query, with the hash of its filter's whole shape; the shape of a long filter is made without a lock.
pub(super) struct Scan {
    hash: u64,
    page: ScanTotals,
}

#[derive(Clone, Debug)]
struct Known {
    totals: ScanTotals,
    last: u64,
}

impl Scans {
    pub fn add(&mut self, scan: Scan) {
        let Scan { hash, page } = scan;
        if self.known.len() >= limits::USAGE_SCANS_MAX && !self.known.contains_key(&hash) {
            self.forget_least_recent();
        }
        self.now += 1;
        let known = self.known.entry(hash).or_insert_with(|| {
            let empty = ScanTotals { queries: 0, rows_scanned: 0, rows_returned: 0, ..page.clone() };
            Known { totals: empty, last: 0 }
        });
        known.last = self.now;
        known.totals.merge(&page);
    }

    /// Those that read the most first.
    pub fn all(&self) -> Vec<ScanTotals> {
        let mut all: Vec<ScanTotals> = self.known.values().map(|known| known.totals.clone()).collect();
        all.sort_by(|a, b| b.rows_scanned.cmp(&a.rows_scanned).then_with(|| a.filter.cmp(&b.filter)));
        all
    }

    fn forget_least_recent(&mut self) {
        let least = self.known.iter().min_by_key(|(_, known)| known.last).map(|(hash, _)| *hash);
        least.and_then(|hash| self.known.remove(&hash));
    }
}

impl ScanTotals {
    fn merge(&mut self, page: &Self) {
        self.access = self.access.max(page.access);
        self.queries += page.queries;
        self.rows_scanned += page.rows_scanned;
        self.rows_returned += page.rows_returned;
    }
}

impl Scan {
    pub fn of(query: &Query, access: Access, page: &QueryPage) -> Self {
        let filter = query.filter.as_ref().map(|filter| filter.shape().to_string());
        Self {
            hash: hash_of(&filter),
            page: ScanTotals {
                filter: filter.map(cut),
                access,
                queries: u64::from(query.from.is_none()),
                rows_scanned: page.scanned.rows as u64,
                rows_returned: page.entities.len() as u64,
            },
        }
    }
}

fn hash_of(filter: &Option<String>) -> u64 {
    let mut hasher = DefaultHasher::new();
    filter.hash(&mut hasher);
    hasher.finish()
}

fn cut(whole: String) -> String {
    match whole.char_indices().nth(limits::USAGE_FILTER_CHARS_MAX) {
        None => whole,
        Some((end, _)) => format!("{}…", &whole[..end]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use orrery_tables::{Filter, Position, Scanned};

    fn add(scans: &mut Scans, filter: &str, is_first: bool, rows: usize) {
        let from = (!is_first).then(|| Position { partition_key: "p".to_owned(), row_key: None });
        let filter = (!filter.is_empty()).then(|| Filter::parse(filter).expect(filter));
        let query = Query { filter, from, ..Query::default() };
        let scanned = Scanned { rows, ..Scanned::default() };
        let page = QueryPage { entities: Vec::new(), next: None, scanned };
        scans.add(Scan::of(&query, query.plan().access(), &page));
    }

    #[test]
    fn queries_with_other_constants_are_of_one_shape() {
        let mut scans = Scans::default();
        add(&mut scans, "Status eq 'a'", true, 10);
        add(&mut scans, "Status eq 'b'", true, 10);
        add(&mut scans, "Status eq 'b'", false, 5);
        add(&mut scans, "", true, 1);
        let all = scans.all();
        let filters: Vec<Option<&str>> = all.iter().map(|scan| scan.filter.as_deref()).collect();
        assert_eq!(filters, [Some("Status eq ?"), None]);
        assert_eq!((all[0].queries, all[0].rows_scanned, all[0].access), (2, 25, Access::FullScan));
    }

    #[test]
    fn the_worst_that_a_shape_came_to_is_told() {
        let mut scans = Scans::default();
        add(&mut scans, "PartitionKey eq 'a' and n eq 1", true, 1);
        assert_eq!(scans.all()[0].access, Access::Partition);
        add(&mut scans, "PartitionKey ge 'a' and n eq 1", true, 1);
        add(&mut scans, "PartitionKey ge 'a' and n eq 2", true, 1);
        let access: Vec<Access> = scans.all().iter().map(|scan| scan.access).collect();
        assert_eq!(access, [Access::PartitionRange, Access::Partition]);
    }

    #[test]
    fn of_too_many_shapes_the_least_recent_is_forgotten_and_a_long_one_is_cut() {
        let mut scans = Scans::default();
        let filter = |at: usize| format!("p{at} eq 1");
        (0..limits::USAGE_SCANS_MAX).for_each(|at| add(&mut scans, &filter(at), true, 1));
        add(&mut scans, &filter(0), true, 1);
        let long: String = vec!["name_of_a_property eq 1"; 100].join(" and ");
        add(&mut scans, &long, true, 1_000);
        let all = scans.all();
        let has = |at: usize| all.iter().any(|scan| scan.filter == Some(format!("p{at} eq ?")));
        assert_eq!((all.len(), has(0), has(1)), (limits::USAGE_SCANS_MAX, true, false));
        let kept = all[0].filter.as_ref().map(|filter| filter.chars().count());
        assert_eq!(kept, Some(limits::USAGE_FILTER_CHARS_MAX + 1));
    }
}
