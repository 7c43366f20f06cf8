//! Schemas of containers: set, shown and removed while the server runs, there after a kill, and held against what is stored.

use crate::server::{Server, make_container, message, orrery};
use orrery_testing_client::{Client, ContainerPath, OwnedReply};
use serde_json::{Value, json};
use std::path::Path;

const PATH: &str = "/v1/schemas/d/c";

fn numbered(validation: &str) -> Value {
    json!({"validation": validation, "schema": {"required": ["n"], "properties": {"n": {"type": "integer"}}}})
}

async fn create(client: &mut Client, id: &str, n: &Value) -> OwnedReply {
    let path = ContainerPath::new("d", "c");
    client.create_item(&path, "p", &json!({"id": id, "pk": "p", "n": n})).await.unwrap()
}

/// Exit code, standard output and standard error.
fn run(arguments: &[&str], files: &[(&str, &str)]) -> (Option<i32>, String, String) {
    let here = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::write(here.path().join(name), text).unwrap();
    }
    let output = orrery(here.path()).args(arguments).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

fn check(data: &Path) -> (Option<i32>, String) {
    let (code, said, errors) = run(&["check", "--schemas", data.to_str().unwrap()], &[]);
    assert_eq!(errors, "");
    (code, said)
}

#[tokio::test]
async fn a_schema_is_set_shown_and_removed() {
    let here = tempfile::tempdir().unwrap();
    let server = Server::start(&here.path().join("data"), &["--durability", "relaxed"]);
    let mut client = server.client();
    assert_eq!(server.ask("GET", PATH, "").await.0, 404);
    make_container(&mut client, &json!({})).await;
    let (status, said) = server.ask("GET", PATH, "").await;
    assert!(status == 404 && said["detail"].as_str().unwrap().contains("has no schema"), "{said}");
    let (status, shown) = server.ask("PUT", PATH, &numbered("warn").to_string()).await;
    assert_eq!(
        (status, &shown["validation"], &shown["schema"]),
        (200, &json!("warn"), &numbered("warn")["schema"])
    );
    let reply = create(&mut client, "a", &json!("x")).await;
    assert_eq!((reply.status, reply.header("x-orrery-schema-warnings")), (201, Some("1")));
    assert_eq!(create(&mut client, "b", &json!(1)).await.status, 201);
    let (_, shown) = server.ask("GET", PATH, "").await;
    let items = &shown["items"];
    assert_eq!((&items["checked"], &items["warned"], &items["refused"]), (&json!(2), &json!(1), &json!(0)));
    let recent = &items["recent"][0];
    assert_eq!(
        (&recent["id"], &recent["count"], &recent["refused"]),
        (&json!("a"), &json!(1), &json!(false))
    );
    assert_eq!(
        recent["violations"],
        json!([{"pointer": "/n", "reason": "\"x\" is not of type \"integer\""}])
    );
    let (status, shown) = server.ask("PUT", PATH, &numbered("enforce").to_string()).await;
    assert_eq!((status, &shown["items"]["checked"]), (200, &json!(0)), "another schema counts anew");
    let reply = create(&mut client, "c", &json!("x")).await;
    assert_eq!(reply.status, 400);
    assert!(message(&reply).contains(r#"/n: "x" is not of type "integer""#), "{}", message(&reply));
    assert_eq!(server.ask("DELETE", PATH, "").await.0, 200);
    assert_eq!(create(&mut client, "c", &json!("x")).await.status, 201);
    assert_eq!(server.ask("DELETE", PATH, "").await.0, 404);
}

#[tokio::test]
async fn what_is_wrong_with_a_schema_is_said_and_nothing_changes() {
    let here = tempfile::tempdir().unwrap();
    let server = Server::start(&here.path().join("data"), &["--durability", "relaxed"]);
    make_container(&mut server.client(), &json!({})).await;
    server.ask("PUT", PATH, &numbered("off").to_string()).await;
    let long = json!({"validation": "off", "schema": {"title": "x".repeat(300_000)}});
    for (path, body, status, fragment) in [
        (PATH, "{".to_owned(), 400, "the body is not JSON"),
        (
            PATH,
            json!({"validation": "warn", "schema": {"properties": {"a": {"type": "strin"}}}}).to_string(),
            400,
            "/schema/properties/a/type: ",
        ),
        (
            PATH,
            json!({"validation": "warn", "schema": {"$ref": "http://127.0.0.1:1/x"}}).to_string(),
            400,
            "leads out of the schema",
        ),
        (PATH, json!({"validation": "on", "schema": {}}).to_string(), 400, "/validation: "),
        (PATH, long.to_string(), 413, "bytes"),
        ("/v1/schemas/d/none", numbered("warn").to_string(), 404, "the container does not exist"),
        ("/v1/schemas/none/c", numbered("warn").to_string(), 404, "the database does not exist"),
        ("/v1/schemas/d", numbered("warn").to_string(), 404, "say which container"),
    ] {
        let (found, said) = server.ask("PUT", path, &body).await;
        assert_eq!(found, status, "{said}");
        assert!(said["detail"].as_str().unwrap().contains(fragment), "{said}");
    }
    assert_eq!(server.ask("POST", PATH, "").await.0, 405);
    assert_eq!(server.ask("GET", PATH, "").await.1["validation"], "off");
}

#[tokio::test]
async fn a_schema_outlives_a_kill_and_what_it_does_not_match_is_found() {
    let here = tempfile::tempdir().unwrap();
    let data = here.path().join("data");
    let mut server = Server::start(&data, &[]);
    let mut client = server.client();
    make_container(&mut client, &json!({})).await;
    for (id, n) in [("good", json!(1)), ("bad", json!("x")), ("worse", json!(null))] {
        assert_eq!(create(&mut client, id, &n).await.status, 201);
    }
    assert_eq!(server.ask("PUT", PATH, &numbered("enforce").to_string()).await.0, 200);
    server.signal("-KILL");
    server.wait();
    let (code, said) = check(&data);
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(code, Some(1), "{said}");
    assert!(lines[0].starts_with("everything agrees: 1 container, 3 items"), "{said}");
    assert_eq!(
        lines[1..],
        [
            r#"dbs/d/colls/c: item "bad" of ["p"]: /n: "x" is not of type "integer""#,
            r#"dbs/d/colls/c: item "worse" of ["p"]: /n: null is not of type "integer""#,
            "2 items not matching in 1 container with a schema",
        ],
    );
    let server = Server::start(&data, &[]);
    let mut client = server.client();
    assert_eq!(create(&mut client, "more", &json!("x")).await.status, 400, "it is enforced after the kill");
    for id in ["bad", "worse"] {
        let path = ContainerPath::new("d", "c");
        let fixed = json!({"id": id, "pk": "p", "n": 2}).to_string();
        let request = orrery_testing_client::Request::new(orrery_testing_client::Method::Post, path.items())
            .header("x-ms-documentdb-partitionkey", "[\"p\"]")
            .header("x-ms-documentdb-is-upsert", "True")
            .body(fixed);
        assert_eq!(client.call(&request).await.unwrap().status, 200);
    }
    server.stop();
    let (code, said) = check(&data);
    assert_eq!((code, said.lines().last()), (Some(0), Some("every item matches: 1 container with a schema")));
}

#[tokio::test]
async fn the_command_sets_shows_and_removes() {
    let here = tempfile::tempdir().unwrap();
    let server = Server::start(&here.path().join("data"), &["--durability", "relaxed"]);
    let mut client = server.client();
    make_container(&mut client, &json!({})).await;
    let url = format!("http://{}", server.cosmos);
    let schema = |verb: &str, more: &[&str], files: &[(&str, &str)]| {
        let named = ["schema", verb, "--url", &url, "--database", "d", "--container", "c"];
        run(&[&named[..], more].concat(), files)
    };
    let whole = numbered("enforce").to_string();
    let set = schema("set", &["s.json"], &[("s.json", &whole)]);
    assert_eq!(set, (Some(0), "the schema of dbs/d/colls/c is set: enforce\n".to_owned(), String::new()));
    let (code, shown, _) = schema("show", &[], &[]);
    let shown: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!((code, &shown["schema"]), (Some(0), &numbered("enforce")["schema"]));
    let set = schema("set", &["s.json", "--validation", "warn"], &[("s.json", r#"{"required":["k"]}"#)]);
    assert_eq!((set.0, set.1.as_str()), (Some(0), "the schema of dbs/d/colls/c is set: warn\n"));
    let (code, _, said) =
        schema("set", &["s.json"], &[("s.json", r#"{"validation":"warn","schema":{"type":7}}"#)]);
    assert_eq!(code, Some(2));
    assert!(said.starts_with("orrery: the server answers 400 Bad Request: /schema/type: "), "{said}");
    let (code, _, said) = schema("set", &["none.json"], &[]);
    assert!(code == Some(2) && said.contains("none.json cannot be read"), "{said}");
    assert_eq!(schema("rm", &[], &[]).1, "the schema of dbs/d/colls/c is removed\n");
    assert_eq!(schema("show", &[], &[]).0, Some(2));
}
