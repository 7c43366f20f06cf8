//! What is counted of each table.

use crate::harness::{Harness, account, entity, key, name};
use orrery_catalog::storage::SignedIdentifiers;
use orrery_table_store::TableHandle;
use orrery_table_store::model::{EntityOperation, IfMatch};
use orrery_table_store::usage::{OperationKind, TableCounts};

fn runs(harness: &Harness) -> TableHandle {
    harness.store.table(&account(), &name("Runs")).unwrap()
}

fn counts(harness: &Harness) -> TableCounts {
    runs(harness).usage().counts()
}

#[test]
fn operations_rows_and_hot_partitions_are_counted() {
    let harness = Harness::new();
    let table = harness.create("Runs");
    harness.create("Other");
    for n in 0..10 {
        harness.insert(&table, entity(if n < 7 { "hot" } else { "cold" }, &n.to_string(), n));
    }
    harness.transact(&table, vec![EntityOperation::Insert(entity("hot", "x", 1))]).unwrap();
    harness.store.get(&table, &key("hot", "x")).unwrap();
    harness.query(&table, "PartitionKey eq 'hot' and n ge 5");
    harness.query(&table, "n ge 5");
    harness.query(&table, "");
    harness.query(&table, "PartitionKey eq 'hot' or PartitionKey eq 'cold'");

    let (totals, patterns) = (counts(&harness), runs(&harness).usage().patterns());
    let count = |kind: OperationKind| totals.operations[kind as usize];
    assert_eq!([OperationKind::Insert, OperationKind::GroupTransaction].map(count), [10, 1]);
    assert_eq!([OperationKind::Get, OperationKind::Query, OperationKind::Delete].map(count), [1, 4, 0]);
    assert_eq!((totals.rows_scanned, totals.rows_returned), (8 + 11 + 11 + 11, 2 + 5 + 11 + 11));
    assert_eq!(totals.scans_without_partition_key, 2);
    assert_eq!(patterns.hot_partitions, [("hot".to_owned(), 10), ("cold".to_owned(), 3)]);
    assert_eq!(patterns.partition_requests, 13);
    let scans: Vec<_> =
        patterns.scans.iter().map(|scan| (scan.filter.as_deref(), scan.rows_scanned)).collect();
    let of_two = "PartitionKey eq ? or PartitionKey eq ?";
    assert_eq!(
        scans,
        [(None, 11), (Some(of_two), 11), (Some("n ge ?"), 11), (Some("PartitionKey eq ? and n ge ?"), 8)]
    );
    assert_eq!((patterns.scans[2].queries, patterns.scans[2].rows_returned), (1, 5));
    assert_eq!(totals.refused, 0);
}

#[test]
fn counts_stay_when_policies_change_and_go_with_the_table() {
    let harness = Harness::new();
    let table = harness.create("Runs");
    harness.insert(&table, entity("p", "r", 1));
    harness.set_policies("Runs", SignedIdentifiers::default()).unwrap();
    assert_eq!(counts(&harness).operations.iter().sum::<u64>(), 1);
    harness.drop_table("Runs").unwrap();
    harness.create("Runs");
    assert_eq!(counts(&harness).operations.iter().sum::<u64>(), 0);
}

#[test]
fn the_size_of_a_table_is_told_by_its_number_and_goes_with_it() {
    let harness = Harness::new();
    let (runs, other) = (harness.create("Runs"), harness.create("Other"));
    harness.insert(&runs, entity("p", "r", 1));
    harness.insert(&runs, entity("p", "s", 1));
    let bytes = 4 + 2 * 2 + 8 + 2 + 8;
    let sizes = || {
        let mut sizes = harness.store.sizes().unwrap();
        sizes.sort_by_key(|(number, _)| *number);
        sizes.into_iter().map(|(number, size)| (number, size.entities, size.bytes)).collect::<Vec<_>>()
    };
    assert_eq!(sizes(), [(runs.number(), 2, 2 * bytes), (other.number(), 0, 0)]);
    harness.write(&runs, &EntityOperation::Delete(key("p", "r"), IfMatch::Any)).unwrap();
    assert_eq!(sizes()[0], (runs.number(), 1, bytes));
    harness.drop_table("Runs").unwrap();
    assert_eq!(sizes(), [(other.number(), 0, 0)]);
}
