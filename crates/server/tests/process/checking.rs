//! `orrery check`: what it says of a folder in order, of one that is not, and of what is none.

use crate::server::{Server, make_container, orrery};
use orrery_core::Env;
use orrery_documents::spaces::{INDEX, LOG, SPACES};
use orrery_kv::{Engine, KeyRange, Order, Put, Sync};
use orrery_kv_fjall::{FjallEngine, Folder, Options};
use orrery_testing_client::{Client, Method, StorageRequest};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::path::Path;
use std::process::Output;

/// Exit code, standard output and standard error.
fn check(data: &Path) -> (Option<i32>, String, String) {
    let here = tempfile::tempdir().unwrap();
    let Output { status, stdout, stderr } = orrery(here.path()).arg("check").arg(data).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (status.code(), text(stdout), text(stderr))
}

/// A folder with three items of two members each.
async fn filled(data: &Path) -> Server {
    let server = Server::start(data, &[]);
    let mut client = server.client();
    let path = make_container(&mut client, &json!({})).await;
    for number in 0..3 {
        let item = json!({"id": format!("i{number}"), "pk": "p"});
        let request = orrery_testing_client::Request::new(Method::Post, path.items())
            .header("x-ms-documentdb-partitionkey", "[\"p\"]")
            .body(item.to_string());
        assert_eq!(client.call(&request).await.unwrap().status, 201);
    }
    server
}

/// Removes an index entry behind the server's back.
fn damage(data: &Path) {
    const ENTRY: u8 = 5;
    let engine = FjallEngine::open(Folder::open(data).unwrap(), &SPACES, &Options::default()).unwrap();
    let view = engine.view();
    let mut rows = view.range(INDEX, &KeyRange::all(), Order::Ascending).map(|row| row.unwrap());
    let (key, _) = rows.find(|(key, _)| key[4] == ENTRY).unwrap();
    engine.write(vec![Put { space: INDEX, key, value: None }], Sync::Data).unwrap();
}

#[tokio::test]
async fn a_folder_in_order_agrees_and_is_left_as_it_was() {
    let here = tempfile::tempdir().unwrap();
    let data = here.path().join("data");
    filled(&data).await.stop();
    // Each item has its id, its partition key and the time of its write.
    let expected = "everything agrees: 1 container, 3 items, 9 index entries\n";
    for _ in 0..2 {
        assert_eq!(check(&data), (Some(0), expected.to_owned(), String::new()));
    }
    Server::start(&data, &[]).stop();
}

#[tokio::test]
async fn tables_have_their_changes_in_the_log_as_containers_do() {
    let here = tempfile::tempdir().unwrap();
    let data = here.path().join("data");
    let server = filled(&data).await;
    let ports: Value = serde_json::from_slice(&std::fs::read(server.ports_file()).unwrap()).unwrap();
    let port = ports["table"].as_u64().unwrap() as u16;
    let mut client = Client::new(SocketAddr::from(([127, 0, 0, 1], port)), Env::system().unwrap());
    let json = |request: StorageRequest, body: Value| request.body("application/json", body.to_string());
    for table in ["kept", "dropped"] {
        let create = json(StorageRequest::table(Method::Post, "Tables"), json!({"TableName": table}));
        assert_eq!(client.call_storage(&create).await.unwrap().status, 201);
        for row in ["a", "b"] {
            let entity = json!({"PartitionKey": "p", "RowKey": row});
            let insert = json(StorageRequest::table(Method::Post, table), entity);
            assert_eq!(client.call_storage(&insert).await.unwrap().status, 201);
        }
    }
    let drop_one = StorageRequest::table(Method::Delete, "Tables('dropped')");
    assert_eq!(client.call_storage(&drop_one).await.unwrap().status, 204);
    drop(client);
    server.stop();
    let (code, said, _) = check(&data);
    assert_eq!(
        (code, said.as_str()),
        (Some(0), "everything agrees: 1 container, 3 items, 9 index entries\n")
    );
}

#[tokio::test]
async fn what_disagrees_is_named_with_an_example() {
    let here = tempfile::tempdir().unwrap();
    let data = here.path().join("data");
    filled(&data).await.stop();
    damage(&data);
    let (code, said, errors) = check(&data);
    assert_eq!((code, errors.as_str()), (Some(1), ""), "{said}");
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines.len(), 2, "{said}");
    assert!(
        lines[0].starts_with("dbs/d/colls/c: index entries that are missing: 1, such as term "),
        "{said}"
    );
    assert!(lines[0].contains("of item \"i"), "{said}");
    assert_eq!(lines[1], "1 kind of fault in 1 container, 3 items, 8 index entries");
}

#[tokio::test]
async fn a_log_entry_that_is_missing_is_found() {
    let here = tempfile::tempdir().unwrap();
    let data = here.path().join("data");
    for (nth, said_of_it) in
        [(1, "the log of stream 1 is broken"), (2, "items whose last change is not in the log: 1")]
    {
        let data = data.join(nth.to_string());
        filled(&data).await.stop();
        let engine = FjallEngine::open(Folder::open(&data).unwrap(), &SPACES, &Options::default()).unwrap();
        let view = engine.view();
        let mut rows = view.range(LOG, &KeyRange::all(), Order::Ascending).map(|row| row.unwrap());
        let (key, _) = rows.nth(nth).unwrap();
        engine.write(vec![Put { space: LOG, key, value: None }], Sync::Data).unwrap();
        drop(rows);
        drop((view, engine));
        let (code, said, errors) = check(&data);
        // Opening follows the newest links itself.
        assert_eq!(code, Some(if nth == 1 { 2 } else { 1 }), "{said}{errors}");
        assert!(said.contains(said_of_it) || errors.contains(said_of_it), "{said}{errors}");
    }
}

#[tokio::test]
async fn a_harmed_note_is_found_and_a_cut_journal_is_noticed_by_the_other() {
    let here = tempfile::tempdir().unwrap();
    for (name, other) in [("promised", "promised-copy"), ("promised-copy", "promised")] {
        let data = here.path().join(name);
        filled(&data).await.stop();
        std::fs::remove_file(data.join(name)).unwrap();
        let (code, said, errors) = check(&data);
        assert_eq!((code, errors.as_str()), (Some(1), ""), "{said}");
        assert!(said.starts_with(&format!("the file {name} is missing\n1 kind of fault in ")), "{said}");
        cut_journal(&data);
        let (code, _, errors) = check(&data);
        assert_eq!(code, Some(2));
        assert!(errors.contains("lost writes that were acknowledged"), "{errors}");
        // Without any note nobody can tell.
        std::fs::write(data.join(other), [7; 24]).unwrap();
        let (code, _, errors) = check(&data);
        assert_eq!(code, Some(2));
        assert!(
            errors.contains(&format!("{other} is damaged")) && errors.contains("--accept-loss"),
            "{errors}"
        );
        let server = Server::start(&data, &["--accept-loss"]);
        assert_eq!(server.client().create_database("e").await.unwrap().status, 201);
        server.stop();
        assert_eq!(check(&data).0, Some(0), "both notes are whole again");
    }
}

/// Takes the last commits from the journal.
fn cut_journal(data: &Path) {
    let journals = std::fs::read_dir(data.join("engine")).unwrap().map(|entry| entry.unwrap().path());
    let journal = journals.filter(|path| path.extension().is_some_and(|end| end == "jnl")).max().unwrap();
    let bytes = std::fs::read(&journal).unwrap();
    let end = bytes.iter().rposition(|byte| *byte != 0).unwrap();
    std::fs::write(&journal, &bytes[..end - 100]).unwrap();
}

#[tokio::test]
async fn a_folder_that_cannot_be_opened_is_refused() {
    let here = tempfile::tempdir().unwrap();
    let refused = |data: &Path, fragment: &str| {
        let (code, said, errors) = check(data);
        assert_eq!((code, said.as_str()), (Some(2), ""), "{errors}");
        assert!(errors.starts_with("orrery: ") && errors.lines().count() == 1, "{errors}");
        assert!(errors.contains(fragment), "{errors}");
    };
    let data = here.path().join("data");
    refused(&data, "is not an orrery data folder");
    assert!(!data.exists(), "none is made");
    refused(here.path(), "is not an orrery data folder");
    assert_eq!(std::fs::read_dir(here.path()).unwrap().count(), 0, "nothing is left in it");
    let server = filled(&data).await;
    refused(&data, "in use by another orrery process");
    server.stop();
    std::fs::write(data.join("FORMAT"), "orrery data folder, format 999\n").unwrap();
    refused(&data, "has format 999");
}
