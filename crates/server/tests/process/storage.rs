//! `orrery account`, `orrery table` and `orrery queue` against a running server: for people and for programs, with every
//! way to say which account, and what is said when something is not there.

use crate::server::{Server, orrery};
use orrery_testing_client::EMULATOR_KEY;
use serde_json::{Value, json};
use std::io::Write as _;
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

    fn url(&self) -> String {
        format!("http://{}", self.server.cosmos)
    }

    fn run_with(&self, arguments: &[&str], environment: &[(&str, &str)], input: &str) -> Said {
        let mut command = orrery(self.here.path());
        command.args(arguments).env("ORRERY_URL", self.url()).envs(environment.iter().copied());
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
        self.out_with(arguments, &[])
    }

    fn out_with(&self, arguments: &[&str], environment: &[(&str, &str)]) -> String {
        let said = self.run_with(arguments, environment, "");
        assert_eq!(said.code, Some(0), "{arguments:?}: {}", said.errors);
        said.out
    }

    fn json(&self, arguments: &[&str]) -> Value {
        serde_json::from_str(&self.out(&[arguments, &["--json"]].concat())).unwrap()
    }

    /// The sentence of a verb that fails.
    fn refused(&self, arguments: &[&str], fragment: &str) {
        self.refused_with(arguments, &[], fragment);
    }

    fn refused_with(&self, arguments: &[&str], environment: &[(&str, &str)], fragment: &str) {
        let Said { code, out, errors } = self.run_with(arguments, environment, "");
        assert_eq!((code, out.as_str()), (Some(2), ""), "{arguments:?}: {errors}");
        assert!(errors.contains(fragment), "{arguments:?}: {errors}");
    }

    /// The account's own key, which opens what the published one does not.
    fn own_key(&self) -> String {
        let keys = std::fs::read(self.here.path().join("data/keys.json")).unwrap();
        let keys: Value = serde_json::from_slice(&keys).unwrap();
        keys["primary"].as_str().unwrap().to_owned()
    }
}

const ENTITIES: &str = r#"{"PartitionKey":"ann","RowKey":"1","total":3,"big@odata.type":"Edm.Int64","big":"5"}
{"PartitionKey":"ann","RowKey":"2","total":20}
{"PartitionKey":"ben","RowKey":"1","total":30,"note":"a 'quoted' text"}
"#;

impl World {
    /// With a table of three entities.
    fn stocked() -> Self {
        let world = Self::new();
        let said = world.run_with(&["table", "put", "orders", "--create"], &[], ENTITIES);
        assert_eq!((said.code, said.errors.as_str()), (Some(0), "3 entities written to orders\n"));
        world
    }

    fn keys(&self, arguments: &[&str]) -> Vec<(String, String)> {
        let rows = self.json(&[&["table", "query", "orders"], arguments].concat());
        let text = |row: &Value, name: &str| row[name].as_str().unwrap().to_owned();
        rows.as_array().unwrap().iter().map(|row| (text(row, "PartitionKey"), text(row, "RowKey"))).collect()
    }
}

#[test]
fn entities_are_written_shown_queried_and_removed() {
    let world = World::stocked();
    assert_eq!(world.out(&["table", "ls"]), "table\n------\norders\n");
    assert_eq!(world.json(&["table", "ls"]), json!([{ "table": "orders" }]));
    let shown = world.out(&["table", "get", "orders", "ann", "1"]);
    assert!(shown.contains("big           Edm.Int64     5\n"), "{shown}");
    let mut found = world.json(&["table", "get", "orders", "ann", "1"]);
    let tag = found["odata.etag"].as_str().unwrap().to_owned();
    assert_eq!(
        (&found["big"], &found["big@odata.type"], &found["total"]),
        (&json!("5"), &json!("Edm.Int64"), &json!(3))
    );

    // What was shown can be written again, if nobody else wrote meanwhile.
    found["total"] = json!(4);
    let (text, put) = (found.to_string(), ["table", "put", "orders"]);
    assert_eq!(world.json(&[&put[..], &[&text, "--if-match", &tag]].concat()), json!({ "written": 1 }));
    world.refused(&[&put[..], &[&text, "--if-match", &tag]].concat(), "another version than --if-match says");
    world.out(&[&put[..], &[r#"{"PartitionKey":"ann","RowKey":"1","paid":true}"#, "--merge"]].concat());
    let merged = world.json(&["table", "get", "orders", "ann", "1", "--select", "total,paid,big"]);
    assert_eq!((&merged["total"], &merged["paid"], &merged["big"]), (&json!(4), &json!(true), &json!("5")));
    world.out(&[&put[..], &[r#"{"PartitionKey":"ann","RowKey":"1"}"#]].concat());
    assert_eq!(world.json(&["table", "get", "orders", "ann", "1"]).get("total"), None, "it was replaced");
    world.refused(&[&put[..], &[r#"{"PartitionKey":"ann","RowKey":"1"}"#, "--insert"]].concat(), "already");

    world.out(&["table", "rm", "orders", "ann", "1"]);
    world
        .refused(&["table", "get", "orders", "ann", "1"], "no entity with PartitionKey 'ann' and RowKey '1'");
    world.refused(&["table", "rm", "orders"], "--yes");
    assert_eq!(world.json(&["table", "rm", "orders", "--yes"]), json!({ "removed": "orders" }));
    assert_eq!(world.json(&["table", "ls"]), json!([]));
    assert_eq!(world.json(&["table", "create", "orders"]), json!({ "created": "orders" }));
    world.refused(&["table", "create", "orders"], "there is a table 'orders' already");
}

#[test]
fn a_query_filters_selects_stops_and_goes_over_pages() {
    let world = World::stocked();
    let filter = "PartitionKey eq 'ann' and total gt 10";
    assert_eq!(world.keys(&["--filter", filter]), [("ann".into(), "2".into())]);
    assert_eq!(world.keys(&[]).len(), 3);
    assert_eq!(world.keys(&["--top", "2"]).len(), 2);
    let drawn = world.out(&["table", "query", "orders", "--filter", filter]);
    assert_eq!(drawn, "PartitionKey  RowKey  total\n------------  ------  -----\nann           2       20\n");
    assert!(world.out(&["table", "query", "orders", "--system"]).contains("Timestamp"));
    let selected = world.json(&["table", "query", "orders", "--select", "note", "--filter", "note gt ''"]);
    assert_eq!(selected[0]["note"], "a 'quoted' text");
    assert_eq!(selected[0].get("total"), None);
    let many: String =
        (0..1200).map(|row| format!("{{\"PartitionKey\":\"p\",\"RowKey\":\"{row:05}\"}}\n")).collect();
    let said = world.run_with(&["table", "put", "many", "--create", "-"], &[], &many);
    assert_eq!((said.code, said.errors.as_str()), (Some(0), "1200 entities written to many\n"));
    let rows = |arguments: &[&str]| world.json(&[&["table", "query", "many"], arguments].concat());
    assert_eq!(rows(&[]).as_array().unwrap().len(), 1200);
    assert_eq!(rows(&["--top", "1100"]).as_array().unwrap().len(), 1100);
    assert_eq!(rows(&["--filter", "RowKey lt '0'"]), json!([]));
}

#[test]
fn explain_tells_a_point_from_a_range_from_a_scan() {
    let world = World::new();
    let explain = |filter: &str| world.json(&["table", "query", "orders", "--explain", "--filter", filter]);
    let check = |filter: &str, access: &str, reads: &str, residual: &Value| {
        let plan = explain(filter);
        assert_eq!((plan["access"].as_str(), &plan["filter"]), (Some(access), residual), "{filter}");
        assert_eq!(plan["reads"], json!([reads]), "{filter}");
    };
    check("PartitionKey eq 'ann' and RowKey eq '1'", "point", "point 'ann' '1'", &Value::Null);
    check("PartitionKey eq 'ann' and RowKey ge '2'", "row range", "rows 'ann' ['2', end)", &Value::Null);
    check("PartitionKey eq 'ann' and total gt 10", "partition", "partition 'ann'", &json!("total gt 10"));
    check(
        "PartitionKey ge 'a' and PartitionKey lt 'b'",
        "partition range",
        "partitions ['a', 'b')",
        &Value::Null,
    );
    check("total gt 10", "full scan", "table", &json!("total gt 10"));
    let drawn = world.out(&["table", "query", "orders", "--explain", "--filter", "total gt 10"]);
    assert!(drawn.starts_with("access  full scan") && drawn.contains("advice"), "{drawn}");
    world.refused(&["table", "query", "orders", "--explain", "--filter", "total gt"], "not understood");
}

#[test]
fn messages_are_put_received_and_removed() {
    let world = World::new();
    world.out(&["queue", "put", "jobs", "first <job>", "--create"]);
    let put = world.json(&["queue", "put", "jobs", "second", "--ttl", "-1"]);
    assert_eq!((put["expirationTime"].clone(), put["messageId"].is_string()), (Value::Null, true));
    let later = world.run_with(&["queue", "put", "jobs", "-", "--visibility", "3600"], &[], "from a pipe");
    assert_eq!(later.code, Some(0), "{}", later.errors);
    assert_eq!(world.json(&["queue", "ls"]), json!([{ "queue": "jobs", "messages": 3 }]));
    assert_eq!(world.out(&["queue", "ls"]), "queue  messages\n-----  --------\njobs          3\n");
    assert_eq!(world.json(&["queue", "ls", "--prefix", "x"]), json!([]));

    let peeked = world.json(&["queue", "peek", "jobs", "--count", "32"]);
    let texts: Vec<&str> =
        peeked.as_array().unwrap().iter().map(|one| one["messageText"].as_str().unwrap()).collect();
    assert_eq!(texts, ["first <job>", "second"], "the third is not visible yet");
    assert!(world.out(&["queue", "peek", "jobs"]).contains("first <job>"));

    let got = world.json(&["queue", "get", "jobs", "--visibility", "600"]);
    assert_eq!(
        (got[0]["messageText"].as_str(), got[0]["dequeueCount"].as_u64()),
        (Some("first <job>"), Some(1))
    );
    let (id, receipt) = (got[0]["messageId"].as_str().unwrap(), got[0]["popReceipt"].as_str().unwrap());
    let drawn = world.out(&["queue", "get", "jobs", "--count", "32"]);
    assert!(drawn.contains("second") && !drawn.contains("first"), "{drawn}");
    assert_eq!(world.out(&["queue", "get", "jobs"]), "no message is visible\n");
    let other = put["popReceipt"].as_str().unwrap();
    world.refused(&["queue", "rm", "jobs", put["messageId"].as_str().unwrap(), other], "not the newest one");
    assert_eq!(world.json(&["queue", "rm", "jobs", id, receipt]), json!({ "removed": id }));
    world.refused(&["queue", "rm", "jobs", id, receipt], "jobs has no message");

    world.refused(&["queue", "clear", "jobs"], "--yes");
    assert_eq!(world.json(&["queue", "clear", "jobs", "--yes"]), json!({ "cleared": "jobs" }));
    assert_eq!(world.json(&["queue", "ls"])[0]["messages"], 0);
    assert_eq!(world.json(&["queue", "rm", "jobs", "--yes"]), json!({ "removed": "jobs" }));
    assert_eq!(world.json(&["queue", "create", "jobs"]), json!({ "created": "jobs" }));
    world.out(&["queue", "put", "jobs", "é", "--base64"]);
    assert_eq!(world.json(&["queue", "peek", "jobs"])[0]["messageText"], "w6k=");
    assert_eq!(world.json(&["queue", "get", "jobs", "--base64"])[0]["messageText"], "é");
}

#[test]
fn what_is_not_there_or_not_right_is_a_sentence() {
    let world = World::new();
    for (arguments, fragment) in [
        (&["table", "get", "nowhere", "p", "r"][..], "there is no table 'nowhere'"),
        (&["table", "query", "nowhere"], "there is no table 'nowhere'"),
        (&["table", "rm", "nowhere", "--yes"], "there is no table 'nowhere'"),
        (&["table", "put", "nowhere", r#"{"PartitionKey":"p","RowKey":"r"}"#], "there is no table 'nowhere'"),
        (&["table", "put", "t", r#"{"RowKey":"r"}"#], "entity 1 cannot be written: it has no PartitionKey"),
        (&["table", "put", "t", "missing.json"], "missing.json cannot be read"),
        (&["table", "create", "1table"], "InvalidResourceName"),
        (&["queue", "get", "nowhere"], "there is no queue 'nowhere'"),
        (&["queue", "put", "nowhere", "text"], "there is no queue 'nowhere'"),
        (&["queue", "create", "Upper"], "InvalidResourceName"),
        (&["queue", "rm", "q-1", "id"], "<RECEIPT>"),
        (&["queue", "get", "q-1", "--count", "33"], "1..=32"),
        (&["table", "ls", "--account-key", "no!"], "the key of 'devstoreaccount1' is not one"),
        (&["table", "ls", "--account-key", EMULATOR_KEY], "does not take the key"),
        (&["queue", "ls", "--account-key", EMULATOR_KEY], "does not take the key"),
        (&["table", "ls", "--connection-string", "nonsense"], "a connection string is made of parts"),
        (
            &["table", "ls", "--connection-string", "QueueEndpoint=http://h/a;SharedAccessSignature=sig=x"],
            "does not say where tables are",
        ),
        (
            &["table", "ls", "--connection-string", "UseDevelopmentStorage=true", "--account", "other"],
            "not both",
        ),
        (&["table", "ls", "--account", "other"], "does not open keys"),
        (&["table", "ls", "--account", "other", "--account-key", EMULATOR_KEY], "no storage account 'other'"),
    ] {
        world.refused(arguments, fragment);
    }
}

/// The parts of a connection string that say where tables and queues are.
fn endpoint<'a>(connection: &'a str, name: &str) -> &'a str {
    connection.split(';').find_map(|part| part.strip_prefix(name)).unwrap()
}

#[test]
fn an_account_is_added_used_rotated_and_removed_while_the_server_runs() {
    let world = World::new();
    let connection = world.out(&["account", "add", "orders"]);
    let connection = connection.trim();
    assert!(
        connection.starts_with("DefaultEndpointsProtocol=http;AccountName=orders;AccountKey="),
        "{connection}"
    );
    assert!(endpoint(connection, "TableEndpoint=").ends_with("/orders"));
    let environment = [("ORRERY_STORAGE_CONNECTION", connection)];
    world.out_with(&["table", "create", "mine"], &environment);
    world.out_with(&["queue", "put", "mine", "text", "--create"], &environment);
    assert_eq!(world.json(&["table", "ls"]), json!([]), "the other account has its own tables");

    let names = json!([{ "name": "devstoreaccount1" }, { "name": "orders" }]);
    assert_eq!(world.json(&["account", "ls"]), names);
    assert!(world.out(&["account", "ls"]).ends_with("\ndevstoreaccount1\norders\n"));
    world.refused(&["account", "ls", "--keys"], "the published key does not open keys");
    world.refused(&["account", "rotate", "orders", "key1"], "the published key does not open keys");
    world.refused(&["account", "rm", "orders"], "the published key does not open keys");

    let own_key = world.own_key();
    let own: &[&str] = &["--key", &own_key];
    let listed = world.json(&[&["account", "ls", "--keys"][..], own].concat());
    let key1 = listed[1]["key1"].as_str().unwrap().to_owned();
    assert!(connection.contains(&format!("AccountKey={key1};")));
    // Whoever has the server's own key need not know the account's.
    let tables = world.json(&[&["table", "ls", "--account", "orders"][..], own].concat());
    assert_eq!(tables, json!([{ "table": "mine" }]));

    let rotated = world.json(&[&["account", "rotate", "orders", "key1"][..], own].concat());
    let new = rotated["key1"].as_str().unwrap();
    assert_ne!(new, key1);
    world.refused_with(&["table", "ls"], &environment, "does not take the key");
    let with_new = [("ORRERY_STORAGE_CONNECTION", rotated["connectionString"].as_str().unwrap())];
    assert!(world.out_with(&["table", "ls"], &with_new).contains("mine"));
    let second = ["table", "ls", "--account", "orders", "--account-key", listed[1]["key2"].as_str().unwrap()];
    assert!(world.out(&second).contains("mine"), "the other key stays");

    assert_eq!(world.json(&[&["account", "rm", "orders"][..], own].concat()), json!({ "removed": "orders" }));
    world.refused_with(&["table", "ls"], &with_new, "no storage account 'orders'");
    for (arguments, fragment) in [
        (&["account", "rm", "orders"][..], "no storage account 'orders'"),
        (&["account", "rotate", "orders", "key2"], "no storage account 'orders'"),
        (&["account", "rm", "devstoreaccount1"], "cannot be removed"),
        (&["account", "add", "My-Orders"], "no name of a storage account"),
        (&["account", "add", "devstoreaccount1"], "already"),
        (&["account", "rotate", "orders", "key3"], "key1, key2"),
    ] {
        world.refused(&[arguments, own].concat(), fragment);
    }
    let log = world.server.errors();
    assert!(log.contains("a storage account was added") && log.contains("account=\"orders\""), "{log}");
    for key in [key1.as_str(), new, listed[1]["key2"].as_str().unwrap()] {
        assert!(!log.contains(key), "no key is logged");
    }
}

#[tokio::test]
async fn accounts_and_their_keys_want_a_credential_and_no_reader() {
    let world = World::new();
    let (status, told) = world.server.ask("GET", "/v1/accounts", "").await;
    assert_eq!((status, told.get("accounts")), (401, None), "the operator shows a key, too");
    assert_eq!(world.server.ask("POST", "/v1/accounts", r#"{"name":"orders"}"#).await.0, 401);
    assert_eq!(world.server.ask("GET", "/v1/accounts/devstoreaccount1/keys", "").await.0, 401);
    assert_eq!(world.server.ask("DELETE", "/v1/accounts/devstoreaccount1", "").await.0, 401);
    let keys = std::fs::read(world.here.path().join("data/keys.json")).unwrap();
    let keys: Value = serde_json::from_slice(&keys).unwrap();
    let reader = keys["primary_readonly"].as_str().unwrap();
    world.refused(&["account", "ls", "--key", reader], "the key is read-only");
    world.refused(&["account", "add", "orders", "--key", reader], "the key is read-only");
}

#[test]
fn tables_and_queues_are_reached_over_https_by_one_url() {
    let world = World::stocked();
    let secure = format!("https://localhost:{}", world.server.cosmos.port());
    for ca in [&[][..], &["--ca", "data/cert.pem"]] {
        let tables = world.json(&[&["table", "ls", "--url", &secure], ca].concat());
        assert_eq!(tables, json!([{ "table": "orders" }]));
        world.out(&[&["queue", "ls", "--url", &secure], ca].concat());
    }
    let connection = world.out(&["account", "add", "secure", "--url", &secure]);
    assert!(endpoint(&connection, "QueueEndpoint=").starts_with("https://127.0.0.1:"), "{connection}");
    let environment = [("ORRERY_STORAGE_CONNECTION", connection.trim())];
    world.out_with(&["table", "ls"], &environment);
}

#[test]
fn the_banner_the_doctor_and_the_completions_know_tables_and_queues() {
    let world = World::stocked();
    let printed = world.server.printed();
    for line in ["Queue       http(s)://localhost:", "Table       http(s)://localhost:"] {
        assert!(printed.contains(line), "{printed}");
    }
    let connection = printed
        .lines()
        .find_map(|line| line.trim().starts_with("DefaultEndpointsProtocol=").then_some(line.trim()));
    let environment =
        [("ORRERY_STORAGE_CONNECTION", connection.unwrap()), ("ORRERY_URL", "http://127.0.0.1:1")];
    assert!(
        world.out_with(&["table", "ls"], &environment).contains("orders"),
        "the connection string is enough"
    );
    let doctor = world.out(&["doctor"]);
    for about in ["queues", "tables"] {
        let line = doctor.lines().find(|line| line.contains(about)).unwrap();
        assert!(line.starts_with("ok") && line.contains("they answer at http://127.0.0.1:"), "{line}");
    }
    let completions = world.out(&["completions", "bash"]);
    world.out(&["man", "--out", "man"]);
    for verb in ["account-add", "account-rotate", "table-query", "queue-get", "queue-clear"] {
        assert!(world.here.path().join(format!("man/orrery-{verb}.1")).exists(), "{verb}");
        assert!(completions.contains(verb.split_once('-').unwrap().1), "{verb}");
    }
}

#[test]
fn a_token_with_a_role_is_taken_instead_of_a_key() {
    let world = World::stocked();
    let secure = format!("https://localhost:{}", world.server.cosmos.port());
    let token = |role: &str| world.out(&["token", "--data", "data", "--role", role]).trim().to_owned();
    let reader = token("reader");
    let rows = world.json(&["table", "query", "orders", "--url", &secure, "--token", &reader]);
    assert_eq!(rows.as_array().unwrap().len(), 3);
    world.refused(&["table", "rm", "orders", "--yes", "--url", &secure, "--token", &reader], "Authorization");
}
