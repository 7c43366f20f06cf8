//! What verbs print: JSON and nothing else if that is asked for, tables without clutter, completions and manual pages.

use crate::server::{Server, make_container, orrery};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Output;

fn run(here: &Path, url: &str, arguments: &[&str]) -> Output {
    orrery(here).args(arguments).env("ORRERY_URL", url).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// A server with one container and one item.
async fn stocked(here: &Path) -> (Server, String) {
    let server = Server::start(&here.join("data"), &["--durability", "relaxed"]);
    let mut client = server.client();
    let path = make_container(&mut client, &json!({})).await;
    let item = json!({"id": "a", "pk": "p", "name": "x".repeat(300)}).to_string();
    assert_eq!(client.call(&path.upsert("p", item)).await.unwrap().status, 201);
    let url = format!("http://{}", server.cosmos);
    (server, url)
}

#[tokio::test]
async fn with_json_there_is_one_json_value_and_nothing_else() {
    let here = tempfile::tempdir().unwrap();
    let (server, url) = stocked(here.path()).await;
    std::fs::write(here.path().join("s.json"), r#"{"required":["pk"]}"#).unwrap();
    let of = ["--database", "d", "--container", "c"];
    let verbs: Vec<Vec<&str>> = vec![
        vec!["init", "shop"],
        vec!["apply", "shop.yaml", "--fixtures"],
        vec!["apply", "shop.yaml", "--check"],
        [&["query", "SELECT * FROM c"][..], &of].concat(),
        [&["query", "SELECT * FROM c", "--explain"][..], &of].concat(),
        vec!["query", "SELECT 1", "--tokens", "--ast", "--plan", "--distributed"],
        vec!["query", "--functions"],
        [&["schema", "set", "s.json", "--validation", "warn"][..], &of].concat(),
        [&["schema", "show"][..], &of].concat(),
        [&["schema", "rm"][..], &of].concat(),
        vec!["top"],
        vec!["alerts"],
        vec!["cost"],
        vec!["advise"],
        vec!["doctor"],
        vec!["keys", "ls"],
        vec!["keys", "regenerate", "secondary"],
        vec!["role", "ls"],
        vec!["token", "--data", "data"],
        vec!["account", "add", "orders"],
        vec!["account", "ls"],
        vec!["table", "create", "orders"],
        vec!["table", "ls"],
        vec!["table", "query", "orders", "--filter", "n eq 1"],
        vec!["table", "query", "orders", "--filter", "n eq 1", "--explain"],
        vec!["queue", "put", "jobs", "text", "--create"],
        vec!["queue", "peek", "jobs"],
        vec!["queue", "get", "jobs"],
        vec!["queue", "clear", "jobs", "--yes"],
        vec!["queue", "ls"],
        vec![
            "notify",
            "send",
            "--user",
            "ann",
            "--type",
            "POST_LIKE",
            "--target",
            "p",
            "--actor-name",
            "Ben",
        ],
        vec!["notify", "events"],
        vec!["notify", "ls", "--user", "ann"],
        vec!["notify", "stats"],
        vec!["notify", "prefs", "--user", "ann"],
        vec!["notify", "purge"],
        vec!["notify", "erase", "--user", "ann", "--yes"],
    ];
    // The published key does not show the account's own keys.
    let keys: Value =
        serde_json::from_slice(&std::fs::read(here.path().join("data/keys.json")).unwrap()).unwrap();
    let own = keys["primary"].as_str().unwrap();
    for mut verb in verbs {
        if verb[0] == "keys" {
            verb.extend(["--key", own]);
        }
        let output = run(here.path(), &url, &[&verb[..], &["--json"]].concat());
        let (out, errors) = (text(&output.stdout), text(&output.stderr));
        assert_eq!((output.status.code(), errors.as_str()), (Some(0), ""), "{verb:?}: {out}");
        assert!(serde_json::from_str::<Value>(&out).is_ok(), "{verb:?}: {out}");
    }
    server.stop();
    let checked = run(here.path(), &url, &["check", "data", "--schemas", "--json"]);
    let said: Value = serde_json::from_slice(&checked.stdout).unwrap();
    assert_eq!((&said["agrees"], &said["mismatches"]), (&json!(true), &json!([])), "{said}");
}

#[tokio::test]
async fn a_table_of_items_has_no_system_properties_unless_they_are_wanted() {
    let here = tempfile::tempdir().unwrap();
    let (_server, url) = stocked(here.path()).await;
    let of = ["--database", "d", "--container", "c", "--format", "table"];
    let table = |more: &[&str]| {
        let output = run(here.path(), &url, &[&["query", "SELECT * FROM c"][..], &of, more].concat());
        text(&output.stdout)
    };
    let plain = table(&[]);
    assert!(plain.starts_with("id  pk  name") && !plain.contains('_'), "{plain}");
    assert!(!plain.contains('\u{1b}'), "no colour into a pipe");
    assert!(table(&["--system"]).contains("_etag"));
}

#[tokio::test]
async fn top_into_a_pipe_prints_once() {
    let here = tempfile::tempdir().unwrap();
    let (_server, url) = stocked(here.path()).await;
    let output = run(here.path(), &url, &["top"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let out = text(&output.stdout);
    assert!(out.starts_with("orrery top: since the start") && !out.contains('\u{1b}'), "{out}");
    assert_eq!(out.matches("orrery top").count(), 1);
}

#[test]
fn colour_can_be_forced_and_forbidden() {
    let here = tempfile::tempdir().unwrap();
    let said = |name: &str| {
        let mut command = orrery(here.path());
        command.args(["check", "nothing"]).env(name, "1");
        text(&command.output().unwrap().stderr)
    };
    assert_eq!(said("NO_COLOR"), "orrery: nothing is not an orrery data folder\n");
    let forced = said("CLICOLOR_FORCE");
    assert!(forced.contains("\u{1b}[") && forced.contains("orrery:"), "{forced:?}");
}

#[test]
fn completions_and_manual_pages_know_every_verb() {
    let here = tempfile::tempdir().unwrap();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = orrery(here.path()).args(["completions", shell]).output().unwrap();
        let script = text(&output.stdout);
        assert!(output.status.success() && script.contains("fake-push"), "{shell}");
    }
    let page = orrery(here.path()).arg("man").output().unwrap();
    assert!(text(&page.stdout).contains(".TH orrery 1"));
    assert!(orrery(here.path()).args(["man", "--out", "man"]).status().unwrap().success());
    for name in ["orrery.1", "orrery-serve.1", "orrery-notify-devices-add.1"] {
        let page = std::fs::read_to_string(here.path().join("man").join(name)).unwrap();
        assert!(page.contains(".SH SYNOPSIS"), "{name}");
    }
}
