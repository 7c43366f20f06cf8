//! `orrery bench blueprints`: the workloads of the example blueprints on a running server, repeatable by anyone.

use crate::server::{Server, orrery};
use orrery_testing_client::{EMULATOR_KEY, Method, Request};
use serde_json::Value;
use std::path::Path;

fn bench(server: &Server, here: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let url = format!("http://{}", server.cosmos);
    let output = orrery(here).args(["bench", "blueprints", "--url", &url]).args(arguments).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[tokio::test(flavor = "multi_thread")]
async fn every_workload_of_the_designs_is_loaded_and_measured() {
    let here = tempfile::tempdir().unwrap();
    let server = Server::start(&here.path().join("data"), &["--durability", "relaxed"]);
    let run = |arguments: &[&str]| {
        let arguments = [&["--scale", "0.001", "--seconds", "1"], arguments].concat();
        let (code, out, errors) = bench(&server, here.path(), &arguments);
        assert_eq!(code, Some(0), "{out}{errors}");
        out
    };
    let all: Value = serde_json::from_str(&run(&["--json"])).unwrap();
    let ids: Vec<&str> =
        all["workloads"].as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap()).collect();
    assert_eq!(
        ids,
        [
            "read-workflow",
            "replace-workflow",
            "recent-memories",
            "metrics-of-week",
            "tool-invocations",
            "pending-events",
            "unread-count",
            "newest-twenty"
        ]
    );
    for one in all["workloads"].as_array().unwrap() {
        assert!(one["requests"].as_u64().unwrap() > 0, "{one}");
        assert!(one["p95Millis"].as_f64().unwrap() >= one["p50Millis"].as_f64().unwrap(), "{one}");
    }

    // What is loaded is used again, and in a database of its own, until it is dropped.
    let table = run(&["--only", "unread-count"]);
    assert!(
        table.contains("how many notifications are unread") && table.contains("< 5 ms, our own"),
        "{table}"
    );
    let databases = || async {
        let found = server.call(EMULATOR_KEY, &Request::new(Method::Get, "/dbs")).await;
        found.json().unwrap()["Databases"].as_array().unwrap().len()
    };
    assert_eq!(databases().await, 2);
    run(&["--clean"]);
    assert_eq!(databases().await, 0);

    let (code, _, errors) = bench(&server, here.path(), &["--only", "nothing"]);
    assert!(
        code == Some(2) && errors.contains("there is no workload 'nothing'; there are read-workflow"),
        "{errors}"
    );
    let (code, _, errors) = bench(&server, here.path(), &["--scale", "2"]);
    assert!(code == Some(2) && errors.contains("not a number from 0.001 to 1"), "{errors}");
    server.stop();
}
