//! What is counted of each table.

use crate::harness::{Harness, account, entity, key, name};
use orrery_catalog::storage::SignedIdentifiers;
use orrery_table_store::model::EntityOperation;
use orrery_table_store::usage::{OperationKind, TableTotals};

fn totals(harness: &Harness) -> TableTotals {
    harness.store.usage().into_iter().find(|totals| totals.table == name("Runs")).unwrap()
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

    let totals = totals(&harness);
    let count = |kind: OperationKind| totals.operations[kind as usize];
    assert_eq!(totals.account, account());
    assert_eq!([OperationKind::Insert, OperationKind::GroupTransaction].map(count), [10, 1]);
    assert_eq!([OperationKind::Get, OperationKind::Query, OperationKind::Delete].map(count), [1, 4, 0]);
    assert_eq!((totals.rows_scanned, totals.rows_returned), (8 + 11 + 11 + 11, 2 + 5 + 11 + 11));
    assert_eq!(totals.scans_without_partition_key, 2);
    assert_eq!(totals.hot_partitions, [("hot".to_owned(), 10), ("cold".to_owned(), 3)]);
    assert_eq!(totals.partition_requests, 13);
}

#[test]
fn counts_stay_when_policies_change_and_go_with_the_table() {
    let harness = Harness::new();
    let table = harness.create("Runs");
    harness.insert(&table, entity("p", "r", 1));
    harness.set_policies("Runs", SignedIdentifiers::default()).unwrap();
    assert_eq!(totals(&harness).operations.iter().sum::<u64>(), 1);
    harness.drop_table("Runs").unwrap();
    harness.create("Runs");
    assert_eq!(totals(&harness).operations.iter().sum::<u64>(), 0);
}
