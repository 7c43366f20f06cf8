//! Tables: created, listed, found whatever the case, dropped; their policies and the service's properties.

use crate::harness::{Harness, START, account, name};
use orrery_catalog::storage::{AccessPolicy, AccountName, CorsRule, ServiceProperties};
use orrery_catalog::storage::{SignedIdentifier, SignedIdentifiers};
use orrery_core::Env;
use orrery_kv::{MemoryEngine, Sync};
use orrery_table_store::model::Filter;
use orrery_table_store::model::spaces::SPACES;
use orrery_table_store::{Error, TableListRequest};

fn listed(harness: &Harness, request: &TableListRequest) -> (Vec<String>, Option<String>) {
    let list = harness.store.list_tables(&account(), request);
    (list.tables.iter().map(|table| table.name.as_str().to_owned()).collect(), list.next)
}

#[test]
fn a_table_is_found_whatever_the_case_until_it_is_dropped() {
    let harness = Harness::new();
    let created = harness.create("Runs");
    assert_eq!(created.name.as_str(), "Runs");
    let found = harness.store.table(&account(), &name("rUNS")).unwrap();
    assert_eq!(found.number(), created.number());
    let again = harness.runtime.block_on(harness.store.create_table(&account(), &name("RUNS")));
    assert!(matches!(again, Err(Error::TableExists)));
    let other = AccountName::parse("another").unwrap();
    assert!(matches!(harness.store.table(&other, &name("Runs")), Err(Error::TableNotFound)));
    harness.drop_table("runs").unwrap();
    assert!(matches!(harness.store.table(&account(), &name("Runs")), Err(Error::TableNotFound)));
    assert!(matches!(harness.drop_table("Runs"), Err(Error::TableNotFound)));
    assert_ne!(harness.create("Runs").number(), created.number(), "the new one has none of the old rows");
}

#[test]
fn tables_are_listed_in_the_order_of_their_names() {
    let harness = Harness::new();
    ["Turns", "runs", "Agents", "audit", "Zebra"].into_iter().for_each(|name| drop(harness.create(name)));
    let all = TableListRequest::default();
    assert_eq!(listed(&harness, &all).0, ["Agents", "audit", "runs", "Turns", "Zebra"]);
    let page = TableListRequest { top: Some(2), ..all.clone() };
    let (first, next) = listed(&harness, &page);
    assert_eq!((first, next.as_deref()), (vec!["Agents".to_owned(), "audit".to_owned()], Some("runs")));
    harness.drop_table("Runs").unwrap();
    let (second, next) = listed(&harness, &TableListRequest { from: next, ..page.clone() });
    assert_eq!((second, next), (vec!["Turns".to_owned(), "Zebra".to_owned()], None));
    let filtered = |text: &str| {
        let filter = Some(Filter::parse(text).unwrap());
        listed(&harness, &TableListRequest { filter, ..TableListRequest::default() }).0
    };
    assert_eq!(filtered("TableName eq 'audit'"), ["audit"]);
    assert_eq!(filtered("TableName ge 'T' and TableName lt 'U'"), ["Turns"]);
    assert_eq!(filtered("PartitionKey eq 'audit'"), Vec::<String>::new());
}

fn policies(ids: &[&str]) -> SignedIdentifiers {
    let policy = AccessPolicy { permission: Some("raud".to_owned()), ..AccessPolicy::default() };
    let identifier = |id: &&str| SignedIdentifier { id: (*id).to_owned(), policy: policy.clone() };
    SignedIdentifiers::new(ids.iter().map(identifier).collect()).unwrap()
}

fn cors() -> ServiceProperties {
    let rule = CorsRule {
        allowed_origins: vec!["*".to_owned()],
        allowed_methods: vec!["GET".to_owned()],
        ..CorsRule::default()
    };
    ServiceProperties { cors: vec![rule], ..ServiceProperties::default() }
}

#[test]
fn definitions_and_properties_are_there_after_a_restart() {
    let engine = MemoryEngine::new(&SPACES);
    let harness = Harness::over(engine.clone(), Sync::Data, Env::seeded(START, 1));
    let table = harness.create("Runs");
    harness.create("Gone");
    harness.set_policies("runs", policies(&["a"])).unwrap();
    harness.set_policies("runs", policies(&["b", "c"])).unwrap();
    assert_eq!(
        harness.store.table(&account(), &name("Runs")).unwrap().access_policies,
        policies(&["b", "c"])
    );
    assert!(table.access_policies.is_empty(), "a handle shows what it was made of");
    harness.drop_table("Gone").unwrap();
    assert_eq!(*harness.store.service_properties(&account()).unwrap(), ServiceProperties::default());
    harness.runtime.block_on(harness.store.set_service_properties(&account(), cors())).unwrap();
    assert_eq!(*harness.store.service_properties(&account()).unwrap(), cors());
    harness.store.close();

    let again = Harness::over(engine.crash(0), Sync::Data, Env::seeded(START, 2));
    let found = again.store.table(&account(), &name("Runs")).unwrap();
    assert_eq!((found.number(), &found.access_policies), (table.number(), &policies(&["b", "c"])));
    assert_eq!(listed(&again, &TableListRequest::default()).0, ["Runs"]);
    assert_eq!(*again.store.service_properties(&account()).unwrap(), cors());
    let other = AccountName::parse("another").unwrap();
    assert_eq!(*again.store.service_properties(&other).unwrap(), ServiceProperties::default());
    assert!(matches!(again.set_policies("Gone", policies(&[])), Err(Error::TableNotFound)));
}
