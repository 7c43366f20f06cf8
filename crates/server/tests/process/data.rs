//! The data verbs against a running server: list, show, write, remove, import, go on with an import, export, and a shell
//! fed by a pipe.

use crate::server::{Server, orrery};
use serde_json::{Value, json};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use tempfile::TempDir;

struct World {
    server: Server,
    here: TempDir,
}

struct Said {
    code: Option<i32>,
    out: String,
    errors: String,
}

impl World {
    fn new() -> Self {
        let here = tempfile::tempdir().unwrap();
        let server = Server::start(&here.path().join("data"), &["--durability", "relaxed"]);
        Self { server, here }
    }

    fn run(&self, arguments: &[&str]) -> Said {
        self.run_with(arguments, "")
    }

    fn run_with(&self, arguments: &[&str], input: &str) -> Said {
        let mut command = orrery(self.here.path());
        command.args(arguments).arg("--url").arg(format!("http://{}", self.server.cosmos));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // A verb that reads nothing may have ended already.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        let Output { status, stdout, stderr } = child.wait_with_output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Said { code: status.code(), out: text(stdout), errors: text(stderr) }
    }

    /// What a verb prints that succeeds.
    fn out(&self, arguments: &[&str]) -> String {
        let said = self.run(arguments);
        assert_eq!(said.code, Some(0), "{arguments:?}: {}", said.errors);
        said.out
    }

    fn json(&self, arguments: &[&str]) -> Value {
        serde_json::from_str(&self.out(arguments)).unwrap()
    }

    fn file(&self, name: &str, text: &str) -> String {
        let path = self.here.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }

    fn count(&self) -> Value {
        self.json(&["ls", "shop", "--json"])[0]["items"].clone()
    }
}

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/process/files").join(name)
}

#[test]
fn items_are_written_listed_shown_and_removed() {
    let world = World::new();
    let empty = world.file("empty.jsonl", "");
    world.out(&["import", &empty, "shop/orders", "--create", "/customer"]);
    world.out(&["put", "shop/orders", "{\"id\": \"1\", \"customer\": \"ann\", \"total\": 1.50}"]);
    let said = world.run_with(
        &["put", "shop/orders", "-"],
        "{\"id\":\"1\",\"customer\":\"ben\"}\n{\"id\":\"2\",\"customer\":\"ben\"}\n",
    );
    assert_eq!(said.code, Some(0), "{}", said.errors);

    assert_eq!(world.json(&["ls", "--json"]), json!([{"database": "shop"}]));
    let containers = world.json(&["ls", "shop", "--json"]);
    assert_eq!(containers, json!([{"container": "orders", "partitionKey": "/customer", "items": 3}]));
    let items = world.json(&["ls", "shop/orders", "--json"]);
    assert_eq!(items.as_array().unwrap().len(), 3);
    assert!(world.out(&["ls", "shop/orders"]).starts_with("id"));

    assert_eq!(world.json(&["get", "shop/orders/2"])["customer"], "ben");
    let several = world.run(&["get", "shop/orders/1"]);
    assert_eq!(several.code, Some(2));
    assert!(several.errors.contains("2 partitions have an item '1'"), "{}", several.errors);
    assert_eq!(world.json(&["get", "shop/orders/1", "--partition-key", "\"ann\""])["total"], 1.5);
    assert_eq!(world.json(&["get", "shop/orders"])["partitionKey"]["paths"], json!(["/customer"]));

    world.out(&["rm", "shop/orders/2"]);
    world.out(&["rm", "shop/orders/1", "--partition-key", "\"ann\""]);
    assert_eq!(world.count(), 1);
    let missing = world.run(&["rm", "shop/orders/2"]);
    assert!(missing.code == Some(2) && missing.errors.contains("no item '2'"), "{}", missing.errors);

    let unsure = world.run(&["rm", "shop"]);
    assert!(unsure.code == Some(2) && unsure.errors.contains("--yes"), "{}", unsure.errors);
    assert_eq!(world.json(&["rm", "shop", "--yes", "--json"]), json!({"removed": "shop"}));
    assert_eq!(world.json(&["ls", "--json"]), json!([]));
}

#[test]
fn what_is_not_there_is_named() {
    let world = World::new();
    for (arguments, fragment) in [
        (vec!["ls", "nowhere"], "no database nowhere"),
        (vec!["get", "nowhere/c/i"], "no container nowhere/c"),
        (vec!["import", "missing.jsonl", "a/b"], "missing.jsonl"),
        (vec!["import", "x.txt", "a/b"], "--format"),
        (vec!["export", "a"], "not a container"),
    ] {
        let said = world.run(&arguments);
        assert!(said.code == Some(2) && said.errors.contains(fragment), "{arguments:?}: {}", said.errors);
    }
}

#[test]
fn every_format_is_imported_and_what_is_exported_can_be_imported_again() {
    let world = World::new();
    let lines: String =
        (0..250).map(|n| format!("{{\"id\":\"{n}\",\"pk\":\"p{}\",\"n\":{n}}}\n", n % 7)).collect();
    let jsonl = world.file("a.jsonl", &lines);
    let done = world.json(&["import", &jsonl, "shop/lines", "--create", "/pk", "--json"]);
    assert_eq!(done, json!({"written": 250, "skipped": 0, "rejected": 0}));
    let again = world.json(&["import", &jsonl, "shop/lines", "--existing", "skip", "--json"]);
    assert_eq!(again, json!({"written": 0, "skipped": 250, "rejected": 0}));

    let names = ["a.json", "b.csv", "c.jsonl"];
    for (at, name) in names.iter().enumerate() {
        let file = world.here.path().join(name);
        let file = file.to_str().unwrap();
        assert_eq!(world.json(&["export", "shop/lines", file, "--json"]), json!({"items": 250}));
        let copy = format!("shop/copy{at}");
        let done = world.json(&["import", file, &copy, "--create", "/pk", "--json"]);
        assert_eq!(done["written"], 250, "{name}");
        assert_eq!(sorted(&world.out(&["export", &copy])), sorted(&lines), "{name}");
    }
}

fn sorted(lines: &str) -> Vec<Value> {
    let mut rows: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    rows.sort_by_key(|row| row["n"].as_u64());
    rows
}

#[test]
fn a_parquet_file_of_another_program_is_imported_with_its_types() {
    let world = World::new();
    let file = fixture("planets.parquet");
    world.out(&["import", file.to_str().unwrap(), "sky/planets", "--create", "/system"]);
    let mut saturn = world.json(&["get", "sky/planets/saturn"]);
    for name in ["_rid", "_self", "_etag", "_attachments", "_ts"] {
        saturn.as_object_mut().unwrap().remove(name);
    }
    let expected = json!({
        "id": "saturn", "system": "sol", "moons": 274, "seen": "2024-01-01T00:00:00Z", "names": ["Titan", "Rhea"],
        "orbit": {"au": 9.58, "ringed": true}, "mass": 5.683, "day": "1610-07-25"
    });
    assert_eq!(saturn, expected);
    let pluto = world.json(&["get", "sky/planets/pluto"]);
    assert!(pluto.get("names").is_none(), "a null is left out: {pluto}");
    let snappy = fixture("planets-snappy.parquet");
    let done = world.json(&["import", snappy.to_str().unwrap(), "sky/two", "--create", "/system", "--json"]);
    assert_eq!(done["written"], 3);
}

#[test]
fn records_that_are_not_taken_are_named_and_the_rest_is_written() {
    let world = World::new();
    let file = world.file(
        "a.jsonl",
        "{\"id\":\"a\",\"pk\":1}\nnonsense\n{\"pk\":1}\n{\"id\":\"b/c\",\"pk\":1}\n{\"id\":\"d\",\"pk\":1}\n",
    );
    let said = world.run(&["import", &file, "shop/c", "--create", "/pk", "--json"]);
    assert_eq!(said.code, Some(1));
    let done: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(done, json!({"written": 2, "skipped": 0, "rejected": 3}));
    for number in [2, 3, 4] {
        assert!(said.errors.contains(&format!("record {number} is not taken: ")), "{}", said.errors);
    }
    let csv = world.file("b.csv", "pk,name\n1,x\n2,y\n");
    world.out(&["import", &csv, "shop/c", "--make-ids"]);
    world.out(&["import", &csv, "shop/c", "--make-ids"]);
    assert_eq!(world.count(), 4, "the same file makes the same ids");
    world.out(&["import", &csv, "shop/c", "--id", "name"]);
    assert_eq!(world.json(&["get", "shop/c/x"])["pk"], 1);
}

#[test]
fn an_import_goes_on_where_an_earlier_one_broke_off() {
    let world = World::new();
    let good: String = (0..300).map(|n| format!("{{\"id\":\"{n}\",\"pk\":{}}}\n", n % 3)).collect();
    // A JSON array that breaks off after 300 elements: those are written, then the run fails.
    let array = format!("[{}", good.trim_end().replace('\n', ",\n"));
    let file = world.file("a.json", &array);
    let failed = world.run(&["import", &file, "shop/c", "--create", "/pk"]);
    assert_eq!(failed.code, Some(2), "{}", failed.errors);
    assert!(failed.errors.contains("the same command goes on"), "{}", failed.errors);
    let checkpoint = PathBuf::from(format!("{file}.orrery-import"));
    let noted: Value = serde_json::from_slice(&std::fs::read(&checkpoint).unwrap()).unwrap();
    let done = noted["records_done"].as_u64().unwrap();
    assert!(done >= 200, "{noted}");
    // What the earlier run has written is not sent again: it stays removed.
    world.out(&["rm", "shop/c/0"]);
    let again = world.run(&["import", &file, "shop/c"]);
    assert_eq!(again.code, Some(2));
    assert!(again.errors.contains(&format!("an earlier run came to record {done}")), "{}", again.errors);
    assert!(world.run(&["get", "shop/c/0"]).errors.contains("no item"));
    // The file is mended, so it is another one: everything is sent.
    std::fs::write(&file, format!("{array}]")).unwrap();
    world.out(&["import", &file, "shop/c"]);
    assert_eq!(world.count(), 300);
    assert!(!checkpoint.exists());
}

#[test]
fn a_shell_that_is_fed_by_a_pipe_runs_statement_after_statement() {
    let world = World::new();
    let empty = world.file("empty.jsonl", "");
    world.out(&["import", &empty, "sky/planets", "--create", "/system"]);
    let script = "use sky/planets\nput {\"id\":\"mars\",\"system\":\"sol\",\"moons\":2}\n\
                  put {\"id\":\"saturn\",\"system\":\"sol\",\"moons\":274}\n\
                  SELECT VALUE c.moons\nFROM c WHERE\nc.moons > 10\nrm mars\nls\n";
    let said = world.run_with(&["shell"], script);
    assert_eq!(said.code, Some(0), "{}", said.errors);
    assert!(said.out.starts_with("274\n"), "{}", said.out);
    assert!(said.out.contains("saturn") && !said.out.contains("mars"), "{}", said.out);
    let failed = world.run_with(&["shell", "sky"], "SELECT 1\nls\n");
    assert_eq!(failed.code, Some(2));
    assert!(failed.errors.contains("choose a container first"), "{}", failed.errors);
}
