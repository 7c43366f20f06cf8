//! `orrery migrate`: what it leaves alone, who may go on, what it refuses, and the way back.

use super::{item, make, migrate, migrator, read, refused, upsert, well};
use crate::server::{Server, poll};
use orrery_testing_client::{Client, ContainerPath};
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Command, Stdio};

/// Orders that are no drafts become items of a kind, in a container where others have theirs.
fn plan(here: &Path, name: &str) -> String {
    let file = here.join(format!("{name}.yaml"));
    let plan = format!(
        "name: {name}
source: {{database: shop, containers: {{orders: {{partitionKey: /id}}}}}}
target: {{database: shop, containers: {{{name}: {{partitionKey: /customer}}}}}}
rules:
  - from: orders
    to: {name}
    where: [{{path: /draft, exists: false}}]
    steps: [{{ensure: {{path: /kind, value: order}}}}]
"
    );
    std::fs::write(&file, plan).unwrap();
    file.to_str().unwrap().to_owned()
}

struct Shop {
    server: Server,
    client: Client,
}

impl Shop {
    async fn open(here: &Path) -> Self {
        let server = Server::start(&here.join("data"), &["--durability", "relaxed"]);
        let mut client = server.client();
        make(&mut client, "shop", "orders", "/id").await;
        let mut shop = Self { server, client };
        shop.put("orders", "o1", &json!({"id": "o1", "customer": "ada"})).await;
        shop
    }

    async fn put(&mut self, container: &str, partition: &str, item: &Value) {
        let path = ContainerPath::new("shop", container);
        let status = upsert(&mut self.client, &path, partition, item).await;
        assert!(matches!(status, Some(200 | 201)), "{item}");
    }

    async fn has(&mut self, container: &str, partition: &str, id: &str) -> bool {
        read(&mut self.client, ("shop", container), partition, id).await.is_some()
    }
}

/// With writes on both sides an item that has no counterpart is named, and nothing goes because of it.
#[tokio::test(flavor = "multi_thread")]
async fn an_item_of_the_target_that_no_rule_gives_is_left_alone_and_so_is_its_source() {
    let here = tempfile::tempdir().unwrap();
    let mut shop = Shop::open(here.path()).await;
    let file = plan(here.path(), "things");
    let both = [file.as_str(), "--dual-write", "both"];
    well(shop.server.cosmos, &both);
    assert_eq!(
        read(&mut shop.client, ("shop", "things"), "ada", "o1").await.unwrap()["kind"],
        "order",
        "it has its kind"
    );
    // An order becomes an invoice, a draft is made where no drafts are, and an item of a key that a draft has in the source.
    shop.put("things", "ada", &json!({"id": "o1", "customer": "ada", "kind": "invoice"})).await;
    shop.put("things", "bob", &json!({"id": "n", "customer": "bob", "kind": "order", "draft": true})).await;
    shop.put("orders", "x", &json!({"id": "x", "customer": "cyd", "draft": true})).await;
    shop.put("things", "cyd", &json!({"id": "x", "customer": "cyd", "kind": "order"})).await;
    for _ in 0..2 {
        let (code, out, errors) = migrate(shop.server.cosmos, &both);
        assert!(matches!(code, Some(0 | 1)), "{out}{errors}");
    }
    for (partition, id) in [("ada", "o1"), ("bob", "n"), ("cyd", "x")] {
        assert!(shop.has("things", partition, id).await, "{id} of the target is gone");
    }
    assert!(shop.has("orders", "o1", "o1").await && shop.has("orders", "x", "x").await);
    assert!(!shop.has("orders", "n", "n").await, "no rule would take it there");
    shop.server.stop();
}

#[tokio::test(flavor = "multi_thread")]
async fn why_an_item_is_left_alone_is_said() {
    let here = tempfile::tempdir().unwrap();
    let mut shop = Shop::open(here.path()).await;
    let file = plan(here.path(), "things");
    let both = [file.as_str(), "--dual-write", "both"];
    well(shop.server.cosmos, &both);
    shop.put("things", "ada", &json!({"id": "o1", "customer": "ada", "kind": "invoice"})).await;
    shop.put("things", "bob", &json!({"id": "n", "customer": "bob", "kind": "order", "draft": true})).await;
    let (code, out, _) = migrate(shop.server.cosmos, &both);
    assert_eq!(code, Some(1), "{out}");
    for line in [
        "orders [\"o1\"] o1: no rule gives an item such as things [\"ada\"] o1 of the target",
        "things [\"bob\"] n: it would have the member /draft, with which no rule takes it back",
    ] {
        assert!(out.contains(line), "{line} in {out}");
    }
    shop.server.stop();
}

/// What is pruned is what the source may once have had.
#[tokio::test(flavor = "multi_thread")]
async fn what_no_rule_gives_is_neither_extra_nor_pruned() {
    let here = tempfile::tempdir().unwrap();
    let mut shop = Shop::open(here.path()).await;
    let file = plan(here.path(), "things");
    well(shop.server.cosmos, &[&file]);
    shop.put("things", "eve", &json!({"id": "invoice", "customer": "eve", "kind": "invoice"})).await;
    assert_eq!(well(shop.server.cosmos, &["verify", &file])["verdict"]["same"], true);
    shop.put("things", "bob", &json!({"id": "own", "customer": "bob", "kind": "order"})).await;
    shop.put("things", "bob", &json!({"id": "n", "customer": "bob", "kind": "order", "draft": true})).await;
    let (code, out, _) = migrate(shop.server.cosmos, &[&file, "--finish", "--prune"]);
    assert!(code == Some(1) && out.contains("extra: things [\"bob\"] n"), "{out}");
    assert!(shop.has("things", "bob", "n").await, "it never came of an order");
    assert!(!shop.has("things", "bob", "own").await, "it may have");
    let path = ContainerPath::new("shop", "things");
    assert_eq!(shop.client.delete_item(&path, "bob", "n", None).await.unwrap().status, 204);
    assert_eq!(well(shop.server.cosmos, &[&file, "--finish", "--prune"])["finished"], true);
    assert!(shop.has("things", "eve", "invoice").await);
    shop.server.stop();
}

/// Where the old containers are gone back to: what was written and deleted in the new ones is written and deleted there.
#[tokio::test(flavor = "multi_thread")]
async fn the_way_back_brings_writes_and_with_prune_deletes_too() {
    let here = tempfile::tempdir().unwrap();
    let server = Server::start(&here.path().join("data"), &["--durability", "relaxed"]);
    let mut client = server.client();
    let documents = make(&mut client, "copilot", "documents", "/collection").await;
    for at in [0, 5, 10] {
        assert_eq!(upsert(&mut client, &documents, "archives", &item(at, 1)).await, Some(201));
    }
    let other = json!({"id": "other", "collection": "elsewhere"});
    assert_eq!(upsert(&mut client, &documents, "elsewhere", &other).await, Some(201));
    assert_eq!(well(server.cosmos, &["copilot-split", "--finish"])["finished"], true);
    let archives = ContainerPath::new("copilot", "archives");
    assert_eq!(upsert(&mut client, &archives, "k0", &item(0, 2)).await, Some(200));
    assert_eq!(client.delete_item(&archives, "k5", "i5", None).await.unwrap().status, 204);
    let back = ["copilot-split", "--reverse", "--finish"];
    let (code, out, _) = migrate(server.cosmos, &back);
    assert!(code == Some(1) && out.contains("extra: documents [\"archives\"] i5"), "{out}");
    assert_eq!(well(server.cosmos, &[&back[..], &["--prune"]].concat())["finished"], true);
    let place = ("copilot", "documents");
    assert_eq!(read(&mut client, place, "archives", "i0").await.unwrap()["version"], 2);
    assert_eq!(read(&mut client, place, "archives", "i5").await, None);
    assert!(read(&mut client, place, "archives", "i10").await.is_some());
    assert!(read(&mut client, place, "elsewhere", "other").await.is_some(), "it was never moved");
    server.stop();
}

/// A migrator that slept through another's run may not write what it thinks of the migration over what the other knows.
#[tokio::test(flavor = "multi_thread")]
async fn a_migrator_that_comes_back_finds_that_another_goes_on() {
    let here = tempfile::tempdir().unwrap();
    let flags = ["--durability", "relaxed", "--clock", "manual"];
    let server = Server::start(&here.path().join("data"), &flags);
    let mut client = server.client();
    let documents = make(&mut client, "copilot", "documents", "/collection").await;
    assert_eq!(upsert(&mut client, &documents, "archives", &item(0, 1)).await, Some(201));
    let mut first = migrator(server.cosmos, &["copilot-split", "--follow"], here.path())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let signal = |name: &str, child: u32| {
        assert!(Command::new("kill").args([name, &child.to_string()]).status().unwrap().success());
    };
    let until = std::time::Instant::now() + std::time::Duration::from_secs(60);
    loop {
        let run = read(&mut client, ("copilot", "orrery-migrations"), "copilot-split", "run").await;
        if run.is_some_and(|run| run["phase"] == "following") {
            break;
        }
        assert!(std::time::Instant::now() < until, "it does not follow");
        tokio::task::yield_now().await;
    }
    signal("-STOP", first.id());
    // What changed meanwhile is not kept as long as it sleeps, so it would have to begin anew, and to write that down.
    assert_eq!(upsert(&mut client, &documents, "archives", &item(0, 2)).await, Some(200));
    server.advance(8 * 86_400).await;
    assert_eq!(upsert(&mut client, &documents, "archives", &item(0, 3)).await, Some(200));
    well(server.cosmos, &["copilot-split"]);
    let before = read(&mut client, ("copilot", "orrery-migrations"), "copilot-split", "run").await.unwrap();
    signal("-CONT", first.id());
    let status = poll("the first ends", || first.try_wait().unwrap());
    let errors = std::io::read_to_string(first.stderr.take().unwrap()).unwrap();
    assert_eq!(status.code(), Some(2), "{errors}");
    assert!(
        errors.contains("another orrery migrate goes on with this migration; this one stops"),
        "{errors}"
    );
    let after = read(&mut client, ("copilot", "orrery-migrations"), "copilot-split", "run").await.unwrap();
    assert_eq!(before["_etag"], after["_etag"], "it wrote nothing");
    server.stop();
}

/// Nothing that is said is passed over.
#[tokio::test(flavor = "multi_thread")]
async fn flags_that_mean_nothing_where_they_stand_are_refused() {
    let here = tempfile::tempdir().unwrap();
    let server = Server::start(&here.path().join("data"), &["--durability", "relaxed"]);
    for (arguments, why) in [
        (&["copilot-split", "--prune"][..], "add that, or leave --prune out"),
        (&["copilot-split", "--keep", "1h"], "add that, or leave --keep out"),
        (&["copilot-split", "--finish", "--follow"], "say one of them"),
        (&["copilot-split", "--finish", "--prune", "--dual-write", "both"], "leave --prune out"),
        (&["copilot-split", "--drop-left"], "--drop-left is for orrery migrate cleanup"),
        (&["status", "copilot-split", "--finish"], "--finish is for orrery migrate PLAN"),
        (&["verify", "copilot-split", "--follow"], "--follow is for orrery migrate PLAN"),
        (&["cleanup", "copilot-split", "--reopen"], "--reopen is for orrery migrate PLAN"),
        (&["cleanup", "copilot-split", "--workers", "2"], "--workers is for orrery migrate PLAN"),
        (
            &["cleanup", "copilot-split", "--dual-write", "both"],
            "orrery migrate PLAN and orrery migrate verify",
        ),
        (&["copilot-split", "--workers", "0"], "a number from 1 to"),
    ] {
        refused(&server, arguments, why);
    }
    server.stop();
}
