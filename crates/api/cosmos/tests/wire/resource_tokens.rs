//! Resource tokens: what a permission's token opens, and everything that it does not.

use crate::call::{Call, READ_ONLY_KEY};
use crate::world::{CONTAINER, ITEMS, World};
use orrery_testing_client::OwnedReply;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};
use std::time::Duration;

const PERMISSIONS: &str = "dbs/d/users/u/permissions";
const NOT_COVERED: &str = "The resource token allows";

/// With the user `u`, a second container `other`, and items `i` of the partitions `p` and `q` in `c`.
async fn with_user() -> World {
    let world = World::new().await;
    world.made(Call::post("dbs/d/users", r#"{"id":"u"}"#)).await;
    world.container("other", &json!({})).await;
    for key in ["p", "q"] {
        let body = json!({"id": "i", "pk": key, "email": key}).to_string();
        world.made(Call::post(ITEMS, body).partition(&format!("[\"{key}\"]"))).await;
    }
    world
}

/// A permission; its token as SDKs send it.
async fn token(world: &World, mode: &str, resource: &str, key: Option<Value>) -> String {
    let mut body = json!({"id": "p", "permissionMode": mode, "resource": resource});
    if let Some(key) = key {
        body["resourcePartitionKey"] = key;
    }
    token_of(&world.call(&Call::post(PERMISSIONS, body.to_string()).upsert()).await)
}

fn token_of(reply: &OwnedReply) -> String {
    let body = reply.json().unwrap();
    let token = body["_token"].as_str().unwrap_or_else(|| panic!("no token in {body}"));
    assert!(token.starts_with("type=resource&ver=1&sig="), "{token}");
    utf8_percent_encode(token, NON_ALPHANUMERIC).to_string()
}

fn item(id: &str) -> String {
    format!("{ITEMS}/{id}")
}

fn body(id: &str, key: &str) -> String {
    json!({"id": id, "pk": key, "email": format!("{id}{key}")}).to_string()
}

fn query() -> Call {
    Call::post(ITEMS, r#"{"query":"SELECT VALUE c.pk FROM c"}"#).query()
}

/// What a client may try, by what it is called.
fn tries() -> Vec<(&'static str, Call)> {
    vec![
        ("read p", Call::get(&item("i")).partition(r#"["p"]"#)),
        ("read q", Call::get(&item("i")).partition(r#"["q"]"#)),
        ("query p", query().partition(r#"["p"]"#)),
        ("query all", query().header("x-ms-documentdb-query-enablecrosspartition", "true")),
        ("query range", query().header("x-ms-documentdb-partitionkeyrangeid", "0")),
        ("list p", Call::get(ITEMS).partition(r#"["p"]"#)),
        ("list all", Call::get(ITEMS)),
        ("container", Call::get(CONTAINER)),
        ("ranges", Call::get("dbs/d/colls/c/pkranges")),
        ("scripts", Call::get("dbs/d/colls/c/sprocs")),
        ("upsert p", Call::post(ITEMS, body("new", "p")).upsert().partition(r#"["p"]"#)),
        ("upsert q", Call::post(ITEMS, body("new", "q")).upsert().partition(r#"["q"]"#)),
        ("upsert without key", Call::post(ITEMS, body("new", "q")).upsert()),
        ("replace p", Call::put(&item("i"), body("i", "p")).partition(r#"["p"]"#)),
        ("replace q", Call::put(&item("i"), body("i", "q")).partition(r#"["q"]"#)),
        ("other container", Call::get("dbs/d/colls/other/docs")),
        ("other container itself", Call::get("dbs/d/colls/other")),
        ("database", Call::get("dbs/d")),
        ("databases", Call::get("dbs")),
        ("containers", Call::get("dbs/d/colls")),
        ("users", Call::get("dbs/d/users")),
        ("permissions", Call::get(PERMISSIONS)),
        ("offers", Call::get("offers")),
        ("drop", Call::delete(CONTAINER)),
        ("alter", Call::put(CONTAINER, r#"{"id":"c","partitionKey":{"paths":["/pk"]}}"#)),
        ("account", Call::get("")),
    ]
}

/// Everything that is tried: what is allowed is answered well, and all else is 403 with the reason.
async fn check(world: &World, token: &str, allowed: &[&str]) {
    for (name, call) in tries() {
        let call = call.authorization(token);
        if allowed.contains(&name) {
            let reply = world.call(&call).await;
            assert!(reply.status < 300, "{name}: {}", String::from_utf8_lossy(&reply.body));
        } else {
            world.refused(call, (403, 0), NOT_COVERED).await;
        }
    }
    for name in allowed {
        assert!(tries().iter().any(|(known, _)| known == name), "{name} is not tried");
    }
}

const READING: [&str; 10] = [
    "read p",
    "read q",
    "query p",
    "query all",
    "query range",
    "list p",
    "list all",
    "container",
    "ranges",
    "scripts",
];

#[tokio::test]
async fn a_token_to_read_a_container_reads_all_of_it_and_nothing_else() {
    let world = with_user().await;
    let mut allowed = READING.to_vec();
    allowed.push("account");
    for (mode, resource) in [("Read", CONTAINER), ("read", "/dbs/d/colls/c/"), ("READ", CONTAINER)] {
        check(&world, &token(&world, mode, resource, None).await, &allowed).await;
    }
    let by_rid = world.answered(200, Call::get(CONTAINER)).await.json().unwrap();
    let by_rid = by_rid["_self"].as_str().unwrap().to_owned();
    check(&world, &token(&world, "Read", &by_rid, None).await, &allowed).await;
}

#[tokio::test]
async fn a_token_for_all_changes_items_and_not_the_container() {
    let world = with_user().await;
    let mut allowed = READING.to_vec();
    allowed.extend(["account", "upsert p", "upsert q", "upsert without key", "replace p", "replace q"]);
    check(&world, &token(&world, "All", CONTAINER, None).await, &allowed).await;
}

#[tokio::test]
async fn a_token_for_one_partition_key_sees_no_other_partition() {
    let world = with_user().await;
    let reading = ["account", "container", "ranges", "read p", "query p", "list p"];
    let read = token(&world, "Read", CONTAINER, Some(json!(["p"]))).await;
    check(&world, &read, &reading).await;
    let rows = world.answered(200, query().partition(r#"["p"]"#).authorization(&read)).await.json().unwrap();
    assert_eq!(rows["Documents"], json!(["p"]));
    let all = token(&world, "All", CONTAINER, Some(json!(["p"]))).await;
    check(&world, &all, &[&reading[..], &["upsert p", "replace p"]].concat()).await;
    let smuggled = Call::post(ITEMS, body("x", "q")).partition(r#"["p"]"#).authorization(&all);
    world.refused(smuggled, (400, 1001), "PartitionKey extracted").await;
    for key in [r#"["P"]"#, "[null]", "[{}]", "[]", r#"["p","p"]"#, "[1]"] {
        let reply = world.call(&Call::get(&item("i")).partition(key).authorization(&all)).await;
        assert!(matches!(reply.status, 400 | 403), "{key}: {}", reply.status);
    }
    let plan = Call::post(ITEMS, r#"{"query":"SELECT * FROM c ORDER BY c.id"}"#)
        .header("x-ms-cosmos-is-query-plan-request", "True")
        .header("x-ms-cosmos-supported-query-features", "OrderBy");
    world.answered(200, plan.authorization(&all)).await;
}

#[tokio::test]
async fn a_prefix_of_a_hierarchical_key_covers_what_begins_with_it() {
    let world = with_user().await;
    let key = json!({"paths": ["/t", "/u"], "kind": "MultiHash", "version": 2});
    world.made(Call::post("dbs/d/colls", json!({"id": "h", "partitionKey": key}).to_string())).await;
    let items = "dbs/d/colls/h/docs";
    for (tenant, user) in [("a", 1), ("a", 2), ("b", 1)] {
        let body = json!({"id": "i", "t": tenant, "u": user}).to_string();
        world.made(Call::post(items, body).partition(&json!([tenant, user]).to_string())).await;
    }
    let tenant = token(&world, "Read", "dbs/d/colls/h", Some(json!(["a"]))).await;
    let one = token(&world, "Read", "dbs/d/colls/h", Some(json!(["a", 2]))).await;
    let status = async |key: &str, token: &str| {
        world.call(&Call::get(items).partition(key).authorization(token)).await.status
    };
    for (key, expected) in [
        (r#"["a"]"#, (200, 403)),
        (r#"["a",1]"#, (200, 403)),
        (r#"["a",2]"#, (200, 200)),
        (r#"["b",1]"#, (403, 403)),
    ] {
        // The second permission replaced the first, which ends the first one's token.
        assert_eq!(status(key, &one).await, expected.1, "{key}");
        assert_eq!(status(key, &tenant).await, 403, "{key}");
    }
    let tenant = token(&world, "Read", "dbs/d/colls/h", Some(json!(["a"]))).await;
    for (key, expected) in [(r#"["a"]"#, 200), (r#"["a",1]"#, 200), (r#"["b"]"#, 403), (r#"["b",1]"#, 403)] {
        assert_eq!(status(key, &tenant).await, expected, "{key}");
    }
}

#[tokio::test]
async fn a_token_for_an_item_opens_that_item() {
    let world = with_user().await;
    let itself = world.answered(200, Call::get(&item("i")).partition(r#"["p"]"#)).await.json().unwrap();
    let by_rid = itself["_self"].as_str().unwrap().to_owned();
    let other = world.made(Call::post(ITEMS, body("k", "p")).partition(r#"["p"]"#)).await;
    assert_eq!(other.status, 201);
    for resource in [item("i"), by_rid] {
        let token = token(&world, "All", &resource, Some(json!(["p"]))).await;
        check(&world, &token, &["account", "container", "ranges", "read p", "replace p"]).await;
        let other = Call::get(&item("k")).partition(r#"["p"]"#).authorization(&token);
        world.refused(other, (403, 0), NOT_COVERED).await;
    }
}

/// The same id may be in every partition, so a name alone does not say which item is meant. A resource id does.
#[tokio::test]
async fn a_token_for_an_item_by_name_opens_it_in_no_partition_that_the_permission_does_not_name() {
    let world = with_user().await;
    let by_name = token(&world, "All", &item("i"), None).await;
    check(&world, &by_name, &["account", "container", "ranges"]).await;
    let read = Call::get(&item("i")).partition(r#"["p"]"#).authorization(&by_name);
    world.refused(read, (403, 0), "give the permission a resourcePartitionKey").await;
    let itself = world.answered(200, Call::get(&item("i")).partition(r#"["p"]"#)).await.json().unwrap();
    let by_rid = token(&world, "All", itself["_self"].as_str().unwrap(), None).await;
    check(&world, &by_rid, &["account", "container", "ranges", "read p", "replace p"]).await;

    let key = json!({"partitionKey": {"paths": ["/id"], "kind": "Hash", "version": 2}});
    world.container("by-id", &key).await;
    world.made(Call::post("dbs/d/colls/by-id/docs", r#"{"id":"i"}"#).partition(r#"["i"]"#)).await;
    let resource = "dbs/d/colls/by-id/docs/i";
    let token = token(&world, "Read", resource, None).await;
    world.answered(200, Call::get(resource).partition(r#"["i"]"#).authorization(&token)).await;
}

#[tokio::test]
async fn a_permission_may_be_on_another_database_if_it_says_so_by_resource_id() {
    let world = with_user().await;
    world.made(Call::post("dbs", r#"{"id":"e"}"#)).await;
    let key = json!({"id": "c", "partitionKey": {"paths": ["/pk"], "kind": "Hash", "version": 2}});
    let made = world.made(Call::post("dbs/e/colls", key.to_string())).await.json().unwrap();
    world.made(Call::post("dbs/e/colls/c/docs", r#"{"id":"x","pk":"p"}"#).partition(r#"["p"]"#)).await;
    let token = token(&world, "Read", made["_self"].as_str().unwrap(), None).await;
    let read = |path: &str| Call::get(path).partition(r#"["p"]"#).authorization(&token);
    world.answered(200, read("dbs/e/colls/c/docs/x")).await;
    world.refused(read(&item("i")), (403, 0), NOT_COVERED).await;
}

#[tokio::test]
async fn a_token_for_a_script_opens_that_script() {
    let world = with_user().await;
    for id in ["s", "t"] {
        world.made(Call::post("dbs/d/colls/c/udfs", json!({"id": id, "body": "x"}).to_string())).await;
    }
    let script = |id: &str| format!("dbs/d/colls/c/udfs/{id}");
    let read = token(&world, "Read", &script("s"), None).await;
    world.answered(200, Call::get(&script("s")).authorization(&read)).await;
    for call in [Call::get(&script("t")), Call::delete(&script("s")), Call::get("dbs/d/colls/c/udfs")] {
        world.refused(call.authorization(&read), (403, 0), NOT_COVERED).await;
    }
    let all = token(&world, "All", &script("s"), None).await;
    world.answered(204, Call::delete(&script("s")).authorization(&all)).await;
}

#[tokio::test]
async fn a_token_ends_with_its_time() {
    let world = with_user().await;
    let ask = |seconds: &str| {
        let body = json!({"id": "p", "permissionMode": "Read", "resource": CONTAINER}).to_string();
        Call::post(PERMISSIONS, body).upsert().header("x-ms-documentdb-expiry-seconds", seconds)
    };
    let get = |token: &str| Call::get(CONTAINER).authorization(token);
    let default = token_of(&world.call(&ask("")).await);
    world.env.advance(Duration::from_secs(3599)).unwrap();
    world.answered(200, get(&default)).await;
    world.env.advance(Duration::from_secs(1)).unwrap();
    world.refused(get(&default), (403, 0), "has expired").await;
    let renewed = token_of(&world.answered(200, Call::get("dbs/d/users/u/permissions/p")).await);
    world.answered(200, get(&renewed)).await;
    for seconds in [10, 18_000] {
        let token = token_of(&world.call(&ask(&seconds.to_string())).await);
        world.env.advance(Duration::from_secs(seconds - 1)).unwrap();
        world.answered(200, get(&token)).await;
        world.env.advance(Duration::from_secs(1)).unwrap();
        world.refused(get(&token), (403, 0), "has expired").await;
    }
    for wrong in ["9", "18001", "-1", "x", "1e3", "99999999999999999999"] {
        world.refused(ask(wrong), (400, 0), "from 10 to 18000 seconds").await;
    }
}

#[tokio::test]
async fn a_token_ends_with_its_permission_its_user_its_container_and_its_database() {
    let world = with_user().await;
    let get = |token: &str| Call::get(CONTAINER).authorization(token);
    let body = json!({"id": "p", "permissionMode": "Read", "resource": CONTAINER}).to_string();
    let first = token(&world, "Read", CONTAINER, None).await;
    world.answered(200, get(&first)).await;
    world.answered(200, Call::put("dbs/d/users/u/permissions/p", body.clone())).await;
    world.refused(get(&first), (403, 0), "was replaced or deleted").await;
    let second = token_of(&world.answered(200, Call::get("dbs/d/users/u/permissions/p")).await);
    world.answered(204, Call::delete("dbs/d/users/u/permissions/p")).await;
    world.refused(get(&second), (403, 0), "was replaced or deleted").await;
    world.made(Call::post(PERMISSIONS, body.clone())).await;
    world.refused(get(&second), (403, 0), "was replaced or deleted").await;
    let third = token(&world, "Read", CONTAINER, None).await;
    world.answered(204, Call::delete("dbs/d/users/u")).await;
    world.refused(get(&third), (403, 0), "was replaced or deleted").await;
    world.made(Call::post("dbs/d/users", r#"{"id":"u"}"#)).await;
    let fourth = token(&world, "Read", CONTAINER, None).await;
    world.answered(204, Call::delete(CONTAINER)).await;
    world.container("c", &json!({})).await;
    world.refused(get(&fourth), (403, 0), "another resource").await;
    let fifth = token_of(&world.answered(200, Call::get("dbs/d/users/u/permissions/p")).await);
    world.answered(200, get(&fifth)).await;
    world.answered(204, Call::delete("dbs/d")).await;
    world.made(Call::post("dbs", r#"{"id":"d"}"#)).await;
    world.container("c", &json!({})).await;
    for call in [get(&fifth), Call::get("").authorization(&fifth)] {
        world.refused(call, (403, 0), "was replaced or deleted").await;
    }
}

#[tokio::test]
async fn tokens_that_were_forged_or_cut_are_refused() {
    let world = with_user().await;
    let read = token(&world, "Read", CONTAINER, None).await;
    let plain = percent_encoding::percent_decode_str(&read).decode_utf8().unwrap().into_owned();
    world.answered(200, Call::get(CONTAINER).authorization(&plain)).await;
    let sig = plain.find("sig=").unwrap() + 4;
    for at in sig..plain.len() {
        let mut forged = plain.clone().into_bytes();
        forged[at] = if forged[at] == b'A' { b'B' } else { b'A' };
        let forged = String::from_utf8(forged).unwrap();
        world
            .refused(Call::get(CONTAINER).authorization(&forged), (401, 0), "not one that this account gave")
            .await;
    }
    for cut in [sig + 1, sig + 20, plain.len() - 1] {
        let call = Call::get(CONTAINER).authorization(&plain[..cut]);
        world.refused(call, (401, 0), "not one that this account gave").await;
    }
    let (mac, payload) = plain[sig..].trim_end_matches(';').split_once(';').unwrap();
    let write = token(&world, "All", CONTAINER, None).await;
    let write = percent_encoding::percent_decode_str(&write).decode_utf8().unwrap().into_owned();
    let (other_mac, other_payload) = write[sig..].trim_end_matches(';').split_once(';').unwrap();
    for (mac, payload) in [(mac, other_payload), (other_mac, payload)] {
        let mixed = format!("type=resource&ver=1&sig={mac};{payload};");
        world
            .refused(Call::get(CONTAINER).authorization(&mixed), (401, 0), "not one that this account gave")
            .await;
    }
}

#[tokio::test]
async fn every_way_to_read_a_permission_gives_a_token_and_a_read_only_key_reads_none() {
    let world = with_user().await;
    token(&world, "Read", CONTAINER, None).await;
    let one = Call::get("dbs/d/users/u/permissions/p");
    let list = Call::get(PERMISSIONS);
    let query = Call::post(PERMISSIONS, r#"{"query":"SELECT * FROM p"}"#).query();
    for call in [&list, &query] {
        let feed = world.answered(200, call.clone()).await.json().unwrap();
        let token = feed["Permissions"][0]["_token"].as_str().unwrap().to_owned();
        world.answered(200, Call::get(CONTAINER).authorization(&token)).await;
    }
    for call in [one, list, query] {
        world.refused(call.signed_with(READ_ONLY_KEY), (403, 0), "is read-only").await;
    }
    let foreign = json!({"id": "x", "permissionMode": "Read", "resource": "dbs/e/colls/c"}).to_string();
    world.refused(Call::post(PERMISSIONS, foreign), (400, 0), "not in the database 'd'").await;
    let dangling = json!({"id": "x", "permissionMode": "All", "resource": "dbs/d/colls/none"}).to_string();
    let dangling = token_of(&world.made(Call::post(PERMISSIONS, dangling)).await);
    world.refused(Call::get("dbs/d/colls/none").authorization(&dangling), (403, 0), "another resource").await;
}
