//! Lifecycle policies: what a dry run shows is what a run does.

use crate::world::{World, account, blob, refused};
use orrery_blob_store::LifecycleCursor;
use orrery_blob_store::model::lifecycle::{Action, LifecyclePolicy};
use orrery_blob_store::model::operations::PutOptions;
use orrery_blob_store::model::tier::Tier;
use orrery_blob_store::model::{Conditions, Refusal, Selector};
use serde_json::json;

const DAY: u64 = 86_400;

fn set(world: &World, rules: serde_json::Value) {
    let policy = LifecyclePolicy::parse(&json!({ "rules": rules })).unwrap();
    world.run(world.store.set_lifecycle_policy(&account(), Some(policy))).unwrap();
}

fn rule(name: &str, filters: serde_json::Value, actions: serde_json::Value) -> serde_json::Value {
    json!({ "name": name, "type": "Lifecycle", "definition": { "filters": filters, "actions": actions } })
}

fn completed() -> serde_json::Value {
    let filters = json!({
        "blobTypes": ["blockBlob"],
        "prefixMatch": ["runs/"],
        "blobIndexMatch": [{ "name": "status", "op": "==", "value": "completed" }],
    });
    let base = json!({
        "tierToCool": { "daysAfterModificationGreaterThan": 7 },
        "tierToArchive": { "daysAfterModificationGreaterThan": 37 },
        "delete": { "daysAfterModificationGreaterThan": 730 },
    });
    rule(
        "completed",
        filters,
        json!({ "baseBlob": base, "snapshot": { "delete": { "daysAfterCreationGreaterThan": 30 } } }),
    )
}

fn planned(world: &World) -> Vec<(String, Action)> {
    let plan = world.store.plan_lifecycle(&account(), &LifecycleCursor::default()).unwrap();
    assert_eq!(plan.next, None);
    plan.actions
        .iter()
        .map(|action| (action.address.name.as_str().to_owned(), action.decision.action))
        .collect()
}

#[test]
fn completed_runs_become_cool_then_archived_then_go() {
    let world = World::new();
    set(&world, json!([completed()]));
    world.put_tagged("done", &[("status", "completed")]);
    world.put_tagged("active", &[("status", "active")]);
    let check = |days: u64, expected: &[(&str, Action)]| {
        world.advance(days * DAY);
        let expected: Vec<(String, Action)> =
            expected.iter().map(|(name, action)| ((*name).to_owned(), *action)).collect();
        assert_eq!(planned(&world), expected);
        let run = world.run(world.store.run_lifecycle(&account())).unwrap();
        let done: u64 = run.actions.values().map(|totals| totals.blobs).sum();
        assert_eq!((done, run.skipped), (expected.len() as u64, 0), "a run does what a dry run shows");
        assert_eq!(planned(&world), [], "and nothing is left to do");
    };
    check(7, &[]);
    check(1, &[("done", Action::Tier(Tier::Cool))]);
    check(29, &[]);
    check(1, &[("done", Action::Tier(Tier::Archive))]);
    check(692, &[]);
    check(1, &[("done", Action::Delete)]);
    assert_eq!(world.states(), ["active"]);
    assert_eq!(world.store.lifecycle_runs(&account()).unwrap().len(), 6);
}

#[test]
fn what_is_held_or_leased_is_left_alone() {
    let world = World::new();
    let all = json!({ "blobTypes": ["blockBlob"] });
    let now = json!({ "baseBlob": { "delete": { "daysAfterCreationGreaterThan": 0 } } });
    set(&world, json!([rule("all", all, now)]));
    for name in ["held", "leased", "free"] {
        world.put(name, b"x");
    }
    world.run(world.store.put_append_blob(&blob("log"), PutOptions::default())).unwrap();
    world.run(world.store.set_legal_hold(&blob("held"), Selector::Current, true)).unwrap();
    let acquire = orrery_blob_store::model::lease::LeaseAction::Acquire {
        duration: orrery_blob_store::model::lease::LeaseDuration::Infinite,
        proposed: None,
    };
    world.run(world.store.lease_blob(&blob("leased"), acquire, Conditions::default())).unwrap();
    world.advance(DAY);
    assert_eq!(planned(&world), [("free".to_owned(), Action::Delete)]);
}

#[test]
fn snapshots_go_before_their_blob() {
    let world = World::new();
    let all = json!({ "blobTypes": ["blockBlob"] });
    let delete = json!({ "delete": { "daysAfterCreationGreaterThan": 1 } });
    set(&world, json!([rule("all", all, json!({ "baseBlob": delete, "snapshot": delete }))]));
    world.put("a", b"x");
    world.run(world.store.snapshot_blob(&blob("a"), None, Conditions::default())).unwrap();
    world.advance(2 * DAY);
    world.settle();
    assert_eq!(world.states(), ["a"], "a job runs the policy");
    world.advance(DAY);
    world.settle();
    assert_eq!(world.states(), [""; 0]);
    assert_eq!(refused(world.delete("a")), Refusal::BlobNotFound);
}

#[test]
fn wrong_policies_say_where_they_are_wrong() {
    let check = |rules: serde_json::Value, path: &str| {
        let error = LifecyclePolicy::parse(&json!({ "rules": rules })).expect_err("it is wrong");
        assert_eq!(error.path, path, "{error}");
    };
    let filters = || json!({ "blobTypes": ["blockBlob"] });
    let delete = || json!({ "baseBlob": { "delete": { "daysAfterModificationGreaterThan": 1 } } });
    check(json!([]), "rules");
    check(json!("x"), "policy");
    check(json!([rule("a b", filters(), delete())]), "rules/a b");
    check(json!([rule("a", filters(), delete()), rule("a", filters(), delete())]), "rules/a");
    check(json!([rule("a", json!({ "blobTypes": [] }), delete())]), "rules/a");
    check(json!([rule("a", json!({ "blobTypes": ["pageBlob"] }), delete())]), "rules/a");
    check(json!([rule("a", filters(), json!({}))]), "rules/a");
    check(json!([rule("a", filters(), json!({ "baseBlob": {} }))]), "rules/a/baseBlob");
    let snapshot = json!({ "snapshot": { "delete": { "daysAfterModificationGreaterThan": 1 } } });
    check(json!([rule("a", filters(), snapshot)]), "rules/a/snapshot");
    let negative = json!({ "baseBlob": { "delete": { "daysAfterModificationGreaterThan": -1 } } });
    check(json!([rule("a", filters(), negative)]), "rules/a/baseBlob");
}

#[test]
fn a_blob_that_was_never_read_counts_from_when_reads_were_recorded() {
    let world = World::new();
    let all = json!({ "blobTypes": ["blockBlob"] });
    let cool = json!({ "baseBlob": { "tierToCool": { "daysAfterLastAccessTimeGreaterThan": 10 } } });
    set(&world, json!([rule("all", all, cool)]));
    world.put("old", b"x");
    world.advance(100 * DAY);
    assert_eq!(planned(&world), [], "nobody knows");
    world.settings(|settings| settings.last_access_tracking = true);
    world.advance(5 * DAY);
    world.put("read", b"x");
    world.settings(|settings| settings.versioning = false);
    world.advance(5 * DAY + 1);
    assert_eq!(planned(&world), [("old".to_owned(), Action::Tier(Tier::Cool))]);
    world.read("old");
    assert_eq!(planned(&world), []);
}
