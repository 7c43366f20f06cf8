//! What others read of blobs: events of the change feed, and the rows of an inventory.

use crate::world::{World, account, blob, container, metadata};
use orrery_blob_store::model::events::{BlobEvent, EventKind, events_after};
use orrery_blob_store::model::inventory::{InventoryPolicy, Value};
use orrery_blob_store::model::operations::SetTier;
use orrery_blob_store::model::settings::ChangeFeed;
use orrery_blob_store::model::tier::Tier;
use orrery_blob_store::model::{BlobName, Conditions, Selector};
use orrery_core::Lsn;
use serde_json::json;

fn events(world: &World) -> Vec<BlobEvent> {
    let number = world.store.container(&container("runs")).unwrap().number();
    let snapshot = world.store.snapshot();
    events_after(&*snapshot, number, Lsn(0)).map(|logged| logged.unwrap().event).collect()
}

#[test]
fn the_change_feed_tells_of_every_change_in_order() {
    let world = World::new();
    world.put("a", b"before the feed was on");
    assert_eq!(events(&world), []);
    world.settings(|settings| settings.change_feed = Some(ChangeFeed::default()));
    world.put("a", b"1");
    world.run(world.store.set_metadata(&blob("a"), metadata(&[("k", "v")]), Conditions::default())).unwrap();
    world.run(world.store.snapshot_blob(&blob("a"), None, Conditions::default())).unwrap();
    for tier in [Tier::Archive, Tier::Hot] {
        let set =
            SetTier { selector: Selector::Current, tier, priority: None, conditions: Conditions::default() };
        world.run(world.store.set_tier(&blob("a"), set)).unwrap();
    }
    world.advance(60);
    world.settle();
    world.run(world.store.copy_blob(&blob("a"), Selector::Current, &blob("b"), Default::default())).unwrap();
    world.delete("b").unwrap();
    let told = events(&world);
    let shown: Vec<(EventKind, &str)> = told.iter().map(|event| (event.kind, event.name.as_str())).collect();
    use EventKind::{
        BlobAsyncOperationInitiated, BlobCreated, BlobDeleted, BlobPropertiesUpdated, BlobSnapshotCreated,
        BlobTierChanged,
    };
    let expected = [
        (BlobCreated, "a"),
        (BlobPropertiesUpdated, "a"),
        (BlobSnapshotCreated, "a"),
        (BlobTierChanged, "a"),
        (BlobAsyncOperationInitiated, "a"),
        (BlobTierChanged, "a"),
        (BlobCreated, "b"),
        (BlobDeleted, "b"),
    ];
    assert_eq!(shown, expected);
    let sequencers: Vec<String> = told.iter().map(BlobEvent::sequencer).collect();
    assert!(sequencers[..6].is_sorted() && sequencers[6] < sequencers[7]);
}

fn policy(fields: serde_json::Value, filters: serde_json::Value) -> serde_json::Value {
    json!({ "enabled": true, "type": "Inventory", "rules": [{
        "enabled": true, "name": "all", "destination": "inventory",
        "definition": {
            "format": "Csv", "schedule": "Daily", "objectType": "Blob", "schemaFields": fields, "filters": filters,
        },
    }] })
}

#[test]
fn an_inventory_has_a_row_for_every_state_that_its_rule_wants() {
    let world = World::new();
    world.create("other");
    world.put_tagged("a", &[("status", "done")]);
    world.put("b", b"12345");
    world.run(world.store.snapshot_blob(&blob("b"), None, Conditions::default())).unwrap();
    let rows = |fields: serde_json::Value, filters: serde_json::Value| {
        let policy = InventoryPolicy::parse(&policy(fields, filters)).unwrap();
        world.run(world.store.set_inventory_policy(&account(), Some(policy))).unwrap();
        let policy = world.store.inventory_policy(&account()).unwrap().unwrap();
        world.store.inventory_rows(&account(), &policy.rules[0]).collect::<Result<Vec<_>, _>>().unwrap()
    };
    let text = |text: &str| Some(Value::Text(text.to_owned()));
    let length = |bytes| Some(Value::Integer(bytes));
    let fields = json!(["Name", "Content-Length", "Tags"]);
    let filters = json!({ "blobTypes": ["blockBlob"] });
    let expected = vec![
        vec![text("runs/a"), length(6), text("{\"status\":\"done\"}")],
        vec![text("runs/b"), length(5), None],
    ];
    assert_eq!(rows(fields, filters), expected);
    let filters = json!({ "blobTypes": ["blockBlob"], "includeSnapshots": true, "prefixMatch": ["runs/b"] });
    let found = rows(json!(["Name", "Snapshot"]), filters);
    assert_eq!(found.iter().filter(|row| row[1].is_some()).count(), 1);
    assert_eq!(found.len(), 2);
    let filters = json!({ "blobTypes": ["blockBlob"], "excludePrefix": ["runs/"] });
    assert!(rows(json!(["Name"]), filters).is_empty());
}

#[test]
fn a_wrong_inventory_policy_says_why() {
    let check = |fields: serde_json::Value, filters: serde_json::Value, what: &str| {
        let error = InventoryPolicy::parse(&policy(fields, filters)).expect_err("it is wrong");
        assert!(error.what.contains(what), "{error}");
    };
    let blobs = json!({ "blobTypes": ["blockBlob"] });
    check(json!(["Etag"]), blobs.clone(), "has Name");
    check(json!(["Name", "Colour"]), blobs, "there is no field 'Colour'");
    check(json!(["Name"]), json!({}), "blobTypes");
    check(json!(["Name"]), json!({ "blobTypes": ["blockBlob"], "includeSnapshots": true }), "Snapshot");
    check(json!(["Name"]), json!({ "blobTypes": ["blockBlob"], "includeDeleted": true }), "Deleted");
}

#[test]
fn an_inventory_is_written_daily_with_a_manifest() {
    let world = World::new();
    world.put_tagged("a,b", &[("status", "done")]);
    let fields = json!(["Name", "Content-Length", "Tags"]);
    let policy = InventoryPolicy::parse(&policy(
        fields,
        json!({ "blobTypes": ["blockBlob"], "prefixMatch": ["runs/"] }),
    ));
    world.run(world.store.set_inventory_policy(&account(), Some(policy.unwrap()))).unwrap();
    world.settle();
    let runs = || world.store.inventory_runs(&account()).unwrap();
    assert!(runs()[0].failure.as_ref().unwrap().contains("does not exist"), "there is no destination");
    world.create("inventory");
    world.advance(86_400);
    world.settle();
    assert_eq!((runs().len(), runs()[0].objects, runs()[0].bytes), (2, 1, 6));
    let read = |name: &str| {
        let address = container("inventory").blob(BlobName::parse(name).unwrap());
        let bytes = world.run(async {
            let reader = world
                .store
                .open_blob(&address, Selector::Current, None, &Conditions::default())
                .await
                .unwrap();
            reader.read_all().await.unwrap()
        });
        String::from_utf8(bytes.to_vec()).unwrap()
    };
    let folder = "2027/01/16/08-00-00/all/all";
    assert_eq!(
        read(&format!("{folder}.csv")),
        "Name,Content-Length,Tags\r\n\"runs/a,b\",6,\"{\"\"status\"\":\"\"done\"\"}\"\r\n"
    );
    let manifest: serde_json::Value =
        serde_json::from_str(&read(&format!("{folder}-manifest.json"))).unwrap();
    assert_eq!(manifest["status"], "Succeeded");
    assert_eq!(manifest["files"][0]["blob"], format!("{folder}.csv"));
    assert_eq!(manifest["summary"], json!({ "objectCount": 1, "totalObjectSize": 6 }));
    assert_eq!(manifest["ruleDefinition"]["format"], "Csv");
    assert_eq!(read(&format!("{folder}-manifest.checksum")).len(), 32);
}
