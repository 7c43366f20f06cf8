//! Shared access signatures: what each permission opens, and how much of a table.

use crate::call::{Call, account_sas, table_sas};
use crate::world::{World, row_keys};

const AT: &str = "/runs(PartitionKey='b',RowKey='2')";
const NEW: &str = r#"{"PartitionKey":"b","RowKey":"new"}"#;
const MISMATCH: &str = "AuthorizationPermissionMismatch";

/// Rows 1 to 3 in the partitions a, b and c.
async fn filled() -> World {
    let world = World::new().await;
    for partition in ["a", "b", "c"] {
        for row in ["1", "2", "3"] {
            world.insert(partition, row, "").await;
        }
    }
    world
}

/// What each letter is needed for.
async fn check_letters(world: &World, sas: impl Fn(&str) -> String) {
    let cases = [
        ("r", Call::get("/runs"), 200),
        ("r", Call::get(AT), 200),
        ("a", Call::post("/runs", NEW), 201),
        ("u", Call::put(AT, "{}").any(), 204),
        ("u", Call::merge(AT, "{}").any(), 204),
        ("au", Call::put(AT, "{}"), 204),
        ("au", Call::merge(AT, "{}"), 204),
        ("d", Call::delete(AT).any(), 204),
    ];
    for (letters, call, status) in cases {
        let others: String = "raud".chars().filter(|letter| !letters.contains(*letter)).collect();
        world.refused(call.clone().sas(&sas(&others)), 403, MISMATCH, "using this permission").await;
        if letters == "au" {
            world.refused(call.clone().sas(&sas("u")), 403, MISMATCH, "").await;
        }
        world.answered(status, call.sas(&sas(letters))).await;
    }
}

#[tokio::test]
async fn a_signature_for_a_table_opens_what_its_letters_say() {
    let world = filled().await;
    check_letters(&world, |letters| table_sas("runs", letters, &[])).await;
}

#[tokio::test]
async fn a_signature_for_the_account_opens_what_its_letters_say() {
    let world = filled().await;
    check_letters(&world, |letters| account_sas(letters, "o", "t")).await;
    let create = || Call::post("/Tables", r#"{"TableName":"made"}"#);
    world
        .refused(create().sas(&account_sas("c", "o", "t")), 403, "AuthorizationResourceTypeMismatch", "")
        .await;
    world.refused(create().sas(&account_sas("c", "c", "q")), 403, "AuthorizationServiceMismatch", "").await;
    world.answered(201, create().sas(&account_sas("c", "c", "t"))).await;
    world.answered(204, Call::delete("/Tables('made')").sas(&account_sas("d", "c", "t"))).await;
    world.answered(200, Call::get("/Tables").sas(&account_sas("l", "c", "t"))).await;
    let properties = Call::get("/?restype=service&comp=properties");
    world.answered(200, properties.sas(&account_sas("r", "s", "t"))).await;
}

#[tokio::test]
async fn a_signature_for_a_table_opens_no_other_and_not_its_list() {
    let world = filled().await;
    let sas = table_sas("Runs", "raud", &[]);
    world.answered(200, Call::get("/runs").sas(&sas)).await;
    for call in [
        Call::get("/Other"),
        Call::get("/Tables"),
        Call::post("/Tables", r#"{"TableName":"made"}"#),
        Call::delete("/Tables('runs')"),
        Call::get("/runs?comp=acl"),
        Call::get("/?restype=service&comp=properties"),
    ] {
        let reply = world.call(&call.sas(&sas)).await;
        assert_eq!(reply.status, 403);
    }
}

#[tokio::test]
async fn a_forged_changed_or_expired_signature_is_refused() {
    let world = filled().await;
    let sas = table_sas("runs", "r", &[]);
    let refused = async |sas: &str| {
        world.refused(Call::get("/runs").sas(sas), 403, "AuthenticationFailed", "Server failed to").await;
    };
    refused(&sas.replace("sp=r", "sp=raud")).await;
    refused(&sas.replace("tn=runs", "tn=Other")).await;
    refused(&sas.replace("2030", "2031")).await;
    refused(&format!("{sas}&spk=a")).await;
    refused(&table_sas("runs", "r", &[("se", "2020-01-01T00:00:00Z")])).await;
    refused(&table_sas("runs", "r", &[("st", "2029-01-01T00:00:00Z")])).await;
    let https = table_sas("runs", "r", &[("spr", "https")]);
    world.refused(Call::get("/runs").sas(&https), 403, "AuthorizationProtocolMismatch", "").await;
    let elsewhere = table_sas("runs", "r", &[("sip", "10.0.0.1")]);
    world.refused(Call::get("/runs").sas(&elsewhere), 403, "AuthorizationSourceIPMismatch", "").await;
}

#[tokio::test]
async fn a_policy_that_the_table_keeps_says_what_a_signature_leaves_open() {
    let world = filled().await;
    let policy =
        "<AccessPolicy><Expiry>2030-01-01T00:00:00Z</Expiry><Permission>r</Permission></AccessPolicy>";
    let policies = format!(
        "<SignedIdentifiers><SignedIdentifier><Id>reader</Id>{policy}</SignedIdentifier></SignedIdentifiers>"
    );
    world.answered(204, Call::put("/runs?comp=acl", policies)).await;
    let sas = table_sas("runs", "", &[("si", "reader")]);
    world.answered(200, Call::get("/runs").sas(&sas)).await;
    world.refused(Call::delete(AT).any().sas(&sas), 403, MISMATCH, "").await;
    world.answered(204, Call::put("/runs?comp=acl", "")).await;
    world.refused(Call::get("/runs").sas(&sas), 403, "AuthenticationFailed", "").await;
}

#[tokio::test]
async fn a_signature_for_a_part_of_a_table_shows_and_changes_no_more() {
    let world = filled().await;
    let part = [("spk", "a"), ("srk", "2"), ("epk", "b"), ("erk", "2")];
    let sas = |letters: &str| table_sas("runs", letters, &part);
    let found = async |target: &str| row_keys(&world.json(Call::get(target).sas(&sas("r"))).await);
    assert_eq!(found("/runs").await, ["2", "3", "1", "2"]);
    assert_eq!(found("/runs?$filter=RowKey%20eq%20'3'").await, ["3"]);
    assert!(found("/runs?$filter=PartitionKey%20eq%20'c'").await.is_empty());
    world.answered(200, Call::get(AT).sas(&sas("r"))).await;
    for (partition, row) in [("a", "1"), ("b", "3"), ("c", "1")] {
        let at = format!("/runs(PartitionKey='{partition}',RowKey='{row}')");
        for call in
            [Call::get(&at), Call::put(&at, "{}"), Call::merge(&at, "{}").any(), Call::delete(&at).any()]
        {
            world.refused(call.sas(&sas("raud")), 403, "AuthorizationFailure", "").await;
        }
    }
    let outside = Call::post("/runs", r#"{"PartitionKey":"b","RowKey":"20"}"#);
    world.refused(outside.sas(&sas("a")), 403, "AuthorizationFailure", "").await;
    let inside = Call::post("/runs", r#"{"PartitionKey":"b","RowKey":"10"}"#);
    world.answered(201, inside.sas(&sas("a"))).await;
}
