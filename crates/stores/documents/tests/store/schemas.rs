//! Schemas and power cuts: a schema is there or it is not, and every item that came in under it matches it.

use crate::audit::audit;
use crate::shop::{Shop, prepared};
use orrery_document_store::WriteError;
use orrery_documents::catalog::{Catalog, Container};
use orrery_documents::item::ItemError;
use orrery_documents::schema::{self, Definition, SchemaError};
use orrery_documents::spaces::SPACES;
use orrery_kv::{Db, MemoryEngine, Sync, Txn};
use serde_json::{Value, json};
use std::collections::BTreeMap;

fn definition(member: &str) -> Value {
    json!({"validation": "enforce", "schema": {"required": [member]}})
}

fn set(shop: &Shop, body: &Value) {
    let definition = Definition::parse(body.to_string().as_bytes()).unwrap();
    shop.change(move |txn: &mut Txn<'_>| schema::set(txn, "shop", "c", &definition));
}

fn remove(shop: &Shop) {
    shop.change(|txn: &mut Txn<'_>| schema::remove(txn, "shop", "c"));
}

fn shown(container: &Container) -> Option<Value> {
    container.schemas().map(|schemas| Value::Object(schemas.definition().to_json()))
}

/// One item a step; whether it came in.
fn write(shop: &Shop, id: usize, member: &str) -> bool {
    let container = shop.container("c");
    match shop.create(
        &container,
        &prepared(&container, &format!(r#"{{"id":"{id}","pk":1,"email":"{id}","{member}":1}}"#)),
    ) {
        Ok(_) => true,
        Err(WriteError::Model(ItemError::Schema(_))) => false,
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn after_a_power_cut_the_schema_is_the_last_that_was_kept() {
    let engine = MemoryEngine::new(&SPACES);
    let shop = Shop::new(engine.clone(), Sync::None, 1);
    shop.create_container("c", None);
    // What the container has after so many engine writes.
    let mut expected = BTreeMap::from([(0, None), (engine.unsynced(), None)]);
    let steps = [Some("a"), Some("b"), None, Some("a"), Some("a"), Some("b")];
    for (at, member) in steps.into_iter().enumerate() {
        match member {
            Some(member) => set(&shop, &definition(member)),
            None => remove(&shop),
        }
        expected.insert(engine.unsynced(), member.map(definition));
        assert_eq!(shown(&shop.container("c")), member.map(definition));
        assert_eq!(write(&shop, 2 * at, "a"), member != Some("b"));
        assert_eq!(write(&shop, 2 * at + 1, "b"), member != Some("a"));
    }
    shop.store.close();
    for kept in 0..=engine.unsynced() {
        let db = Db::open(Box::new(engine.crash(kept)), Sync::Data).unwrap();
        let snapshot = db.snapshot();
        // The auditor also finds a container whose row `Alive` does not go with its schema.
        audit(&*snapshot, db.tip().lsn);
        let catalog = Catalog::default().refreshed(&*snapshot).unwrap();
        let found = catalog.all_containers().next().and_then(|container| shown(container));
        assert_eq!(Some(&found), expected.range(..=kept).next_back().map(|(_, last)| last), "{kept} kept");
    }
}

#[test]
fn a_store_that_was_found_again_enforces() {
    let engine = MemoryEngine::new(&SPACES);
    let shop = Shop::new(engine.clone(), Sync::Data, 1);
    shop.create_container("c", None);
    set(&shop, &definition("a"));
    shop.store.close();
    let again = Shop::over(engine.crash(0), Sync::Data, shop.store.env().clone());
    assert!(write(&again, 1, "a") && !write(&again, 2, "b"));
    again.store.close();
}

/// Prepared by an old picture of the container, as a write is that was under way when the schema was set.
#[test]
fn an_item_that_was_prepared_before_is_not_taken_after() {
    let shop = Shop::new(MemoryEngine::new(&SPACES), Sync::Data, 1);
    let before = shop.create_container("c", None);
    let item = prepared(&before, r#"{"id":"x","pk":1}"#);
    set(&shop, &definition("a"));
    assert!(
        matches!(shop.create(&before, &item), Err(WriteError::PreconditionFailed)),
        "its container is another"
    );
    // A bulk request takes the new picture for what it prepared by the old one.
    let refused = shop.create(&shop.container("c"), &item);
    assert!(matches!(refused, Err(WriteError::Model(ItemError::Schema(_)))), "it is looked at again");
    let report = shop.container("c").schemas().unwrap().report();
    assert_eq!((report.checked, report.refused), (1, 1));
    // The same schema again is the same schema.
    let item = prepared(&shop.container("c"), r#"{"id":"x","pk":1,"a":1}"#);
    let with = shop.container("c");
    set(&shop, &definition("b"));
    set(&shop, &definition("a"));
    shop.create(&with, &item).unwrap();
    remove(&shop);
    shop.create(&before, &prepared(&before, r#"{"id":"y","pk":1,"email":"y"}"#)).unwrap();
    shop.audit();
    shop.store.close();
}

#[test]
fn a_schema_goes_with_its_container_and_database() {
    let shop = Shop::new(MemoryEngine::new(&SPACES), Sync::Data, 1);
    shop.create_container("c", None);
    set(&shop, &definition("a"));
    shop.drop_container("c");
    shop.settle();
    shop.create_container("c", None);
    assert_eq!(shown(&shop.container("c")), None);
    assert!(write(&shop, 1, "b"));
    shop.audit();
    shop.store.close();
}

#[test]
fn what_is_not_there_is_told_apart() {
    let shop = Shop::new(MemoryEngine::new(&SPACES), Sync::Data, 1);
    shop.create_container("c", None);
    let given = Definition::parse(definition("a").to_string().as_bytes()).unwrap();
    let said = move |txn: &mut Txn<'_>| {
        let errors = [
            schema::set(txn, "none", "c", &given).unwrap_err(),
            schema::set(txn, "shop", "none", &given).unwrap_err(),
            schema::remove(txn, "shop", "c").unwrap_err(),
        ];
        Ok::<_, SchemaError>(errors.map(|error| error.to_string()))
    };
    let said = shop.change(said);
    for (said, expected) in
        said.iter().zip(["the database does not", "the container does not", "has no schema"])
    {
        assert!(said.contains(expected), "{said}");
    }
    shop.store.close();
}
