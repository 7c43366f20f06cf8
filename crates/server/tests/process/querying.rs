//! `orrery query`: a question over the wire in all its pages, and what it says without a server.

use crate::server::{Server, make_container, orrery};
use serde_json::{Value, json};
use std::net::TcpListener;
use std::process::Output;
use tempfile::TempDir;

struct Said {
    code: Option<i32>,
    out: String,
    errors: String,
}

/// `orrery query` with these arguments, against nobody unless they say so.
fn query(arguments: &[&str]) -> Said {
    let here = tempfile::tempdir().unwrap();
    let Output { status, stdout, stderr } =
        orrery(here.path()).arg("query").args(arguments).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Said { code: status.code(), out: text(stdout), errors: text(stderr) }
}

struct World {
    server: Server,
    _here: TempDir,
}

impl World {
    /// Seven items `i0` to `i6` with `n` from 0 to 6, in the partitions `even` and `ödd`.
    async fn new() -> Self {
        let here = tempfile::tempdir().unwrap();
        let server = Server::start(&here.path().join("data"), &["--durability", "relaxed"]);
        let mut client = server.client();
        let path = make_container(&mut client, &json!({})).await;
        for n in 0..7 {
            let pk = if n % 2 == 0 { "even" } else { "ödd" };
            let item = json!({"id": format!("i{n}"), "pk": pk, "n": n}).to_string().replace(',', ",\n  ");
            let header = if n % 2 == 0 { "[\"even\"]" } else { "[\"\\u00f6dd\"]" };
            let request =
                orrery_testing_client::Request::new(orrery_testing_client::Method::Post, path.items())
                    .header("x-ms-documentdb-partitionkey", header)
                    .body(item);
            assert_eq!(client.call(&request).await.unwrap().status, 201);
        }
        Self { server, _here: here }
    }

    fn query(&self, arguments: &[&str]) -> Said {
        let url = format!("http://{}", self.server.cosmos);
        query(&[&["--url", &url, "--database", "d", "--container", "c"], arguments].concat())
    }

    /// The rows, and what was said about them.
    fn rows(&self, arguments: &[&str]) -> (Value, String) {
        let said = self.query(arguments);
        assert_eq!(said.code, Some(0), "{}", said.errors);
        (serde_json::from_str(&said.out).unwrap(), said.errors)
    }
}

#[tokio::test]
async fn every_page_is_fetched_whatever_their_size() {
    let world = World::new().await;
    for (sql, expected) in [
        ("SELECT VALUE c.n FROM c ORDER BY c.n DESC", json!([6, 5, 4, 3, 2, 1, 0])),
        ("SELECT VALUE {\"odd\": c.n % 2} FROM c GROUP BY c.n % 2", json!([{"odd": 0}, {"odd": 1}])),
        ("SELECT VALUE SUM(c.n) FROM c", json!([21])),
        ("SELECT VALUE c FROM c WHERE false", json!([])),
    ] {
        for size in ["1", "3", "100"] {
            let (rows, _) = world.rows(&["--page-size", size, sql]);
            assert_eq!(rows, expected, "{sql} by {size}");
        }
        assert_eq!(world.rows(&[sql]).0, expected, "{sql}");
        assert_eq!(world.rows(&["--merge", sql]).0, expected, "{sql} merged here, as against Azure");
    }
    let (rows, said) = world.rows(&["--merge", "--max", "2", "SELECT VALUE c.n FROM c ORDER BY c.n"]);
    assert_eq!(rows, json!([0, 1]));
    assert!(said.starts_with("2 rows, 1 page, "), "{said}");
    let (_, said) = world.rows(&["--page-size", "3", "SELECT VALUE c.n FROM c ORDER BY c.n"]);
    assert!(said.starts_with("7 rows, 3 pages, ") && said.ends_with(" RU\n"), "{said}");
    let charge: f64 = said.split(' ').nth(4).unwrap().parse().unwrap();
    assert!(charge > 6.0, "three pages cost more than one: {said}");
    world.server.stop();
}

#[tokio::test]
async fn parameters_partition_and_the_wanted_number_go_with_the_query() {
    let world = World::new().await;
    let sql = "SELECT VALUE c.id FROM c WHERE c.n >= @least AND NOT IS_DEFINED(@none) ORDER BY c.n";
    let given = ["--param", "@least=3", "--param", "@none", sql];
    assert_eq!(world.rows(&given).0, json!(["i3", "i4", "i5", "i6"]));
    assert_eq!(world.rows(&[&["--partition-key", "\"ödd\""], &given[..]].concat()).0, json!(["i3", "i5"]));
    assert_eq!(world.rows(&[&["--partition-key", "[\"even\"]"], &given[..]].concat()).0, json!(["i4", "i6"]));
    let (rows, said) = world.rows(&[&["--max", "3", "--page-size", "2"], &given[..]].concat());
    assert_eq!(rows, json!(["i3", "i4", "i5"]));
    assert!(said.starts_with("3 rows, 2 pages, "), "{said}");
}

#[tokio::test]
async fn rows_are_printed_as_lines_or_a_table_too() {
    let world = World::new().await;
    let lines =
        world.query(&["--format", "lines", "SELECT c.id, c.pk, c.n FROM c WHERE c.n < 2 ORDER BY c.n"]);
    let expected = "{\"id\":\"i0\",\"pk\":\"even\",\"n\":0}\n{\"id\":\"i1\",\"pk\":\"ödd\",\"n\":1}\n";
    assert_eq!(lines.out, expected);
    // Stored over several lines, printed on one.
    let whole = world.query(&["--format", "lines", "SELECT * FROM c WHERE c.n = 5"]);
    assert_eq!(whole.out.lines().count(), 1);
    assert!(whole.out.starts_with("{\"id\":\"i5\","), "{}", whole.out);
    let table = world.query(&["--format", "table", "SELECT c.id, c.n FROM c WHERE c.n < 2 ORDER BY c.n"]);
    assert_eq!(table.out, "id  n\n--  -\ni0  0\ni1  1\n");
}

#[tokio::test]
async fn what_the_server_refuses_is_shown_as_what_is_refused_without_one() {
    let world = World::new().await;
    for sql in ["SELECT d.id FROM c", "SELECT *\nFROM c\nWHERE c.n >", "SELECT VALUE LEFT(c.id) FROM c"] {
        let (asked, explained) = (world.query(&[sql]), query(&["--explain", sql]));
        assert_eq!((asked.code, explained.code), (Some(2), Some(2)), "{}", asked.errors);
        assert_eq!((asked.out.as_str(), explained.out.as_str()), ("", ""));
        assert_eq!(asked.errors, explained.errors);
        assert!(asked.errors.starts_with("orrery: SC") && asked.errors.ends_with("^\n"), "{}", asked.errors);
    }
    let said = world.query(&["SELECT d.id FROM c"]).errors;
    assert!(said.ends_with("\n\n  SELECT d.id FROM c\n         ^\n"), "{said}");
}

#[tokio::test]
async fn a_wrong_key_and_a_wrong_container_are_told_by_the_server() {
    let world = World::new().await;
    let refused = world.query(&["--key", "bm90IGEga2V5", "SELECT 1"]);
    assert!(refused.code == Some(2) && refused.errors.contains("answers 401"), "{}", refused.errors);
    let url = format!("http://{}", world.server.cosmos);
    let refused = query(&["--url", &url, "--database", "d", "--container", "other", "SELECT 1"]);
    assert!(refused.code == Some(2) && refused.errors.contains("answers 404"), "{}", refused.errors);
    assert!(
        !refused.errors.contains("ActivityId") && refused.errors.contains("'other'"),
        "{}",
        refused.errors
    );
}

#[tokio::test]
async fn a_server_tells_how_it_would_come_to_the_documents() {
    let world = World::new().await;
    let said = world.query(&["--explain", "--param", "@n=1", "SELECT VALUE c.id FROM c WHERE c.n > @n + 1"]);
    assert_eq!(said.code, Some(0), "{}", said.errors);
    assert!(
        said.out.starts_with("plan:\nProject c.id ─ Filter c.n > 2 ─ Scan c\n\naccess:\n"),
        "{}",
        said.out
    );
    assert!(said.out.ends_with("; all partitions\n"), "{}", said.out);
    let way = |arguments: &[&str]| world.query(&[&["--access"], arguments].concat()).out;
    assert_eq!(way(&["SELECT * FROM c WHERE c.id = \"i1\" AND c.pk = \"even\""]), "scan; one partition\n");
    assert_eq!(way(&["--partition-key", "\"even\"", "SELECT * FROM c"]), "scan; one partition\n");
    assert_eq!(way(&["SELECT * FROM c WHERE false"]), "nothing; 0 partitions\n");
    let wrong = world.query(&["--explain", "SELECT d.id FROM c"]);
    assert_eq!(wrong.code, Some(2));
    assert!(wrong.errors.ends_with("  SELECT d.id FROM c\n         ^\n"), "{}", wrong.errors);
    let nowhere = query(&["--access", "SELECT 1"]);
    assert!(nowhere.code == Some(2) && nowhere.errors.contains("--container"), "{}", nowhere.errors);
}

#[test]
fn a_plan_needs_no_server() {
    let said = query(&["--explain", "--param", "@n=1", "SELECT VALUE c.id FROM c WHERE c.n > @n + 1"]);
    assert_eq!((said.code, said.out.as_str()), (Some(0), "Project c.id ─ Filter c.n > 2 ─ Scan c\n"));
    let stages =
        query(&["--explain", "--tokens", "--ast", "--plan", "--distributed", "SELECT VALUE MAX(c.n) FROM c"]);
    let heads: Vec<&str> =
        stages.out.lines().filter(|line| !line.contains(' ') && line.ends_with(':')).collect();
    assert_eq!(heads, ["tokens:", "ast:", "plan:", "distributed:"]);
    assert!(stages.out.contains("\"aggregates\": [\n      \"Max\"\n    ]"), "{}", stages.out);
}

#[test]
fn the_functions_are_listed() {
    let said = query(&["--functions"]);
    assert_eq!(said.code, Some(0));
    for line in ["ARRAY_CONTAINS\t2-3\tscalar", "COUNT\t1\taggregate"] {
        assert!(said.out.lines().any(|known| known == line), "{line}");
    }
}

#[test]
fn mistakes_on_the_command_line_are_sentences() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let nobody = format!("http://{free}");
    let there = ["--database", "d", "--container", "c", "SELECT 1"];
    let check = |arguments: &[&str], fragment: &str| {
        let said = query(arguments);
        assert_eq!((said.code, said.out.as_str()), (Some(2), ""), "{}", said.errors);
        assert!(said.errors.starts_with("orrery: ") && said.errors.lines().count() == 1, "{}", said.errors);
        assert!(said.errors.contains(fragment), "no {fragment:?} in {:?}", said.errors);
    };
    check(&["SELECT 1"], "--database D --container C");
    check(&[&["--url", &nobody], &there[..]].concat(), "start one with orrery serve");
    check(&[&["--url", "localhost:8081"], &there[..]].concat(), "not like http");
    check(&[&["--key", "?"], &there[..]].concat(), "--key is not one");
    check(&[&["--partition-key", "sol"], &there[..]].concat(), "quotes of its own");
    check(&["--param", "n=1", "--explain", "SELECT 1"], "not a name with an @");
    check(&["--param", "@n=one", "--explain", "SELECT 1"], "not JSON");
    for (arguments, fragment) in
        [(&["--explain"][..], "<SQL>"), (&["--page-size", "0", "SELECT 1"], "'--page-size <ROWS>'")]
    {
        let said = query(arguments);
        assert_eq!((said.code, said.out.as_str()), (Some(2), ""), "{}", said.errors);
        assert!(said.errors.starts_with("error: ") && said.errors.contains(fragment), "{}", said.errors);
    }
}
