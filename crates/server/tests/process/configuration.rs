//! Flags over environment over `orrery.toml` over defaults, seen from outside.

use crate::server::{Server, orrery};
use serde_json::json;
use std::path::Path;
use tempfile::TempDir;

fn with_file(text: &str) -> TempDir {
    let here = tempfile::tempdir().unwrap();
    std::fs::write(here.path().join("orrery.toml"), text).unwrap();
    here
}

/// A server in `here`, by these flags and this environment on top of what its file says.
fn start(here: &Path, flags: &[&str], environment: &[(&str, &str)]) -> Server {
    let mut command = orrery(here);
    command.arg("serve").args(flags).envs(environment.iter().copied());
    Server::run(command, tempfile::tempdir().unwrap())
}

async fn is_manual(server: &Server) -> bool {
    server.ask("GET", "/v1/clock", "").await.1["manual"] == json!(true)
}

const FILE: &str = "data = \"by-file\"\nclock = \"manual\"\nfree_ports = true\ndurability = \"relaxed\"\n";

#[tokio::test]
async fn the_file_is_found_and_heeded() {
    let here = with_file(FILE);
    let server = start(here.path(), &[], &[]);
    assert!(is_manual(&server).await);
    assert!(here.path().join("by-file/FORMAT").exists());
    assert!(server.printed().contains("Durability is relaxed"), "{}", server.printed());
}

#[tokio::test]
async fn the_environment_wins_over_the_file() {
    let here = with_file(FILE);
    let environment =
        [("ORRERY_DATA", "by-environment"), ("ORRERY_CLOCK", "system"), ("ORRERY_DURABILITY", "synced")];
    let server = start(here.path(), &[], &environment);
    assert!(!is_manual(&server).await);
    assert!(here.path().join("by-environment/FORMAT").exists() && !here.path().join("by-file").exists());
    assert!(!server.printed().contains("Durability is relaxed"));
}

#[tokio::test]
async fn a_flag_wins_over_both() {
    let here = with_file(FILE);
    let environment = [("ORRERY_DATA", "by-environment"), ("ORRERY_CLOCK", "system")];
    let server = start(here.path(), &["--data", "by-flag", "--clock", "manual"], &environment);
    assert!(is_manual(&server).await);
    assert!(here.path().join("by-flag/FORMAT").exists() && !here.path().join("by-environment").exists());
}

#[tokio::test]
async fn a_file_that_is_named_stands_in_for_the_one_that_lies_there() {
    let here = with_file("this is = not even toml [");
    std::fs::write(here.path().join("other.toml"), FILE.replace("by-file", "by-other")).unwrap();
    for (flags, environment) in
        [(&["--config", "other.toml"][..], &[][..]), (&[], &[("ORRERY_CONFIG", "other.toml")])]
    {
        let server = start(here.path(), flags, environment);
        assert!(is_manual(&server).await);
        assert!(here.path().join("by-other/FORMAT").exists());
        server.stop();
    }
}
