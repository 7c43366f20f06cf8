//! What is not there, what cannot be done to it, and paths that lead nowhere.

use crate::call::{Call, READ_WRITE_KEY, signature, token};
use crate::world::{CONTAINER, ITEMS, World};

#[tokio::test]
async fn a_missing_resource_is_not_found_and_a_missing_owner_is_distinct() {
    let world = World::new().await;
    let item = || r#"{"id":"i","pk":"p"}"#;
    let container = || r#"{"id":"x","partitionKey":{"paths":["/pk"]}}"#;
    let missing = [
        (Call::get("dbs/no"), 0, "no database 'no'"),
        (Call::delete("dbs/no"), 0, "no database 'no'"),
        (Call::get("dbs/no/colls"), 1003, "no database 'no'"),
        (Call::post("dbs/no/colls", container()), 1003, "no database 'no'"),
        (Call::get("dbs/no/colls/c"), 1003, "no database 'no'"),
        (Call::get("dbs/d/colls/no"), 0, "no container 'no'"),
        (Call::delete("dbs/d/colls/no"), 0, "no container 'no'"),
        (Call::put("dbs/d/colls/no", container()), 0, "no container 'no'"),
        (Call::get("dbs/d/colls/no/docs"), 1003, "no container 'no'"),
        (Call::get("dbs/no/colls/c/docs"), 1003, "no database 'no'"),
        (Call::post("dbs/d/colls/no/docs", item()), 1003, "no container 'no'"),
        (Call::get("dbs/d/colls/no/docs/i").partition(r#"["p"]"#), 1003, "no container 'no'"),
        (Call::get("dbs/d/colls/no/pkranges"), 1003, "no container 'no'"),
        (Call::get("dbs/d/colls/c/docs/no").partition(r#"["p"]"#), 0, "id does not exist"),
        (Call::delete("dbs/d/colls/c/docs/no").partition(r#"["p"]"#), 0, "id does not exist"),
        (Call::put("dbs/d/colls/c/docs/i", item()).partition(r#"["p"]"#), 0, "id does not exist"),
        (Call::get("offers/no"), 0, "no offer 'no'"),
        (Call::put("offers/no", "{}"), 0, "no offer 'no'"),
    ];
    for (call, substatus, fragment) in missing {
        world.refused(call, (404, substatus), fragment).await;
    }
}

#[tokio::test]
async fn names_are_case_sensitive() {
    let world = World::new().await;
    world.refused(Call::get("dbs/D"), (404, 0), "no database 'D'").await;
    world.refused(Call::get("dbs/d/colls/C"), (404, 0), "no container 'C'").await;
}

#[tokio::test]
async fn an_existing_resource_is_a_conflict() {
    let world = World::new().await;
    world.refused(Call::post("dbs", r#"{"id":"d"}"#), (409, 0), "already exists").await;
    let again = r#"{"id":"c","partitionKey":{"paths":["/pk"]}}"#;
    world.refused(Call::post("dbs/d/colls", again), (409, 0), "already exists").await;
}

#[tokio::test]
async fn a_verb_that_a_resource_does_not_have_is_not_allowed() {
    let world = World::new().await;
    let verbs = [
        ("", "POST PUT DELETE PATCH OPTIONS"),
        ("dbs", "PUT DELETE PATCH OPTIONS"),
        ("dbs/d", "POST PUT PATCH OPTIONS"),
        ("dbs/d/colls", "PUT DELETE PATCH OPTIONS"),
        (CONTAINER, "POST PATCH OPTIONS"),
        (ITEMS, "PUT DELETE PATCH OPTIONS"),
        ("dbs/d/colls/c/docs/i", "POST OPTIONS TRACE"),
        ("dbs/d/colls/c/pkranges", "POST PUT DELETE PATCH OPTIONS"),
        ("offers", "PUT DELETE PATCH OPTIONS"),
        ("offers/x", "POST DELETE PATCH OPTIONS"),
    ];
    for (path, verbs) in verbs {
        for verb in verbs.split(' ') {
            world.refused(Call::new(verb, path).body("{}"), (405, 0), "verb is not allowed").await;
        }
    }
}

#[tokio::test]
async fn an_unsigned_options_request_is_unauthorized() {
    let world = World::new().await;
    world.refused(Call::new("OPTIONS", "").unsigned(), (401, 0), "authorization is missing").await;
}

/// The head of the refusal, and no body after it.
#[tokio::test]
async fn a_head_request_gets_a_head() {
    let world = World::new().await;
    for path in ["", "dbs/d", "dbs/d/colls/c/docs/i"] {
        let call = Call::new("HEAD", path).header("connection", "close");
        let answer = world.raw(&call.encode(&world.env.now().to_http())).await;
        assert!(answer.starts_with("HTTP/1.1 405 "), "{answer}");
        assert!(answer.contains("x-ms-activity-id: ") && answer.ends_with("\r\n\r\n"), "{answer}");
        assert_eq!(answer.matches("\r\n\r\n").count(), 1, "{answer}");
    }
}

#[tokio::test]
async fn a_path_that_leads_nowhere_is_a_bad_request() {
    let world = World::new().await;
    let paths = [
        "/nothing",
        "/dbs/d/nothing",
        "/dbs/d/colls/c/nothing",
        "/dbs/d/colls/c/docs/i/j",
        "/DBS/d",
        "/dbs/d/Colls",
        "/dbs/%FF",
        "/dbs/d/colls/c/docs/%ED%A0%80",
        "/offers/a/b",
        "/../dbs",
    ];
    for path in paths {
        world.refused(Call::get("").target(path), (400, 0), "Request url is invalid").await;
    }
}

#[tokio::test]
async fn a_trailing_slash_changes_nothing() {
    let world = World::new().await;
    world.item("i").await;
    for path in [
        "dbs",
        "dbs/d",
        "dbs/d/colls",
        CONTAINER,
        ITEMS,
        "dbs/d/colls/c/docs/i",
        "dbs/d/colls/c/pkranges",
        "offers",
    ] {
        let call = Call::get(path).target(&format!("/{path}/"));
        let call = if path.ends_with("/i") { call.partition(r#"["p"]"#) } else { call };
        world.answered(200, call).await;
    }
}

#[tokio::test]
async fn the_account_is_where_the_client_reached_it() {
    let world = World::new().await;
    let reply = world.answered(200, Call::get("")).await.json().unwrap();
    assert_eq!(reply["writableLocations"][0]["databaseAccountEndpoint"], "http://127.0.0.1/");
    assert_eq!(reply["userConsistencyPolicy"]["defaultConsistencyLevel"], "Session");
    assert_ne!(reply["id"], "localhost");
}

#[tokio::test]
async fn a_resource_is_found_by_its_ids_and_signed_by_the_last_of_them() {
    let world = World::new().await;
    let container = world.answered(200, Call::get(CONTAINER)).await.json().unwrap();
    let path = container["_self"].as_str().unwrap().trim_end_matches('/');
    let rid = container["_rid"].as_str().unwrap().to_lowercase();
    let date = world.env.now().to_http();
    let text = format!("get\ncolls\n{rid}\n{}\n\n", date.to_lowercase());
    let call = Call::get(path).authorization(&token("master", &signature(READ_WRITE_KEY, &text)));
    world.answered(200, call).await;
}
