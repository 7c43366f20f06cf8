//! The catalog in memory follows the one on the disk.

use crate::gate::Gate;
use crate::shop::{START, open_at};
use orrery_core::{DatabaseName, Env};
use orrery_document_store::WriteError;
use orrery_documents::roles::{Assignment, Scope};
use orrery_documents::spaces::SPACES;
use orrery_documents::{Stamp, catalog};
use orrery_kv::{Error, MemoryEngine, Sync};

/// Begins a change, and stops waiting for it before it is durable.
fn abandon<F>(gate: &Gate, change: F, before: impl FnOnce())
where
    F: Future<Output: Send> + Send + 'static,
{
    gate.shut();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
    let change = runtime.spawn(change);
    gate.wait_for_arrivals(1);
    change.abort();
    before();
    gate.open();
    // Waits for the thread that the change runs on.
    drop(runtime);
}

/// Even if the client went away.
#[test]
fn a_catalog_change_nobody_waits_for_is_still_shown() {
    let gate = Gate::new();
    let store = open_at(gate.clone(), Sync::Data, Env::seeded(START, 1));
    let changing = store.clone();
    let change = async move {
        let name = DatabaseName::parse("db").unwrap();
        let stamp = Stamp {
            now: changing.env().now(),
            etag: orrery_core::ETag::from_u128(1),
            partition_bytes_max: u64::MAX,
        };
        changing.write_catalog(move |txn| catalog::create_database(txn, &name, None, stamp)).await
    };
    abandon(&gate, change, || assert!(store.catalog().database("db").is_none()));
    assert!(store.catalog().database("db").is_some());
    store.close();
}

/// Or a role that was taken from somebody would go on opening data until the next change.
#[test]
fn a_change_of_roles_nobody_waits_for_is_still_shown() {
    let gate = Gate::new();
    let store = open_at(gate.clone(), Sync::Data, Env::seeded(START, 1));
    let given = Assignment::new("a", "worker", "reader", Scope::parse("/").unwrap()).unwrap();
    let assignments = || store.roles().unwrap().assignments().count();
    assert_eq!(assignments(), 0);
    let changing = store.clone();
    let change = async move { changing.assign_role(given).await };
    abandon(&gate, change, || assert_eq!(assignments(), 0));
    assert_eq!(assignments(), 1);
    store.close();
}

#[tokio::test]
async fn a_catalog_change_is_shown_when_it_is_answered() {
    let store = open_at(MemoryEngine::new(&SPACES), Sync::Data, Env::seeded(START, 1));
    let stamp = Stamp {
        now: store.env().now(),
        etag: orrery_core::ETag::from_u128(1),
        partition_bytes_max: u64::MAX,
    };
    for round in 0..20 {
        let name = DatabaseName::parse(&format!("db{round}")).unwrap();
        let wanted = name.clone();
        store.write_catalog(move |txn| catalog::create_database(txn, &wanted, None, stamp)).await.unwrap();
        assert!(store.catalog().database(name.as_str()).is_some());
    }
    let refused = store.write_catalog(|_| Err::<(), Error>(Error::Corrupt("no".into()))).await;
    assert!(matches!(refused, Err(WriteError::Model(_))));
    store.close();
}
