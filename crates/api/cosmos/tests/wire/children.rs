//! Users, permissions, scripts, client encryption keys and conflicts: one mechanism, so one set of facts for all.

use crate::call::{Call, READ_WRITE_KEY, signature, token};
use crate::world::World;
use serde_json::{Value, json};

/// A kind of resource: where it is listed, under which name, and a body.
pub struct Sort {
    pub list: &'static str,
    pub feed: &'static str,
    pub body: fn(&str) -> Value,
    /// Whether it can be renamed, upserted and deleted.
    pub is_free: bool,
}

fn script(id: &str) -> Value {
    json!({"id": id, "body": "function () { return 1; }"})
}

fn trigger(id: &str) -> Value {
    json!({"id": id, "body": "function () {}", "triggerType": "Pre", "triggerOperation": "create"})
}

fn permission(id: &str) -> Value {
    json!({"id": id, "permissionMode": "read", "resource": "dbs/d/colls/c", "resourcePartitionKey": ["p"]})
}

fn client_key(id: &str) -> Value {
    json!({"id": id, "encryptionAlgorithm": "AEAD_AES_256_CBC_HMAC_SHA256", "wrappedDataEncryptionKey": "AAECAw==",
        "keyWrapMetadata": {"type": "t", "name": "n", "value": "v", "algorithm": "RSA-OAEP"}})
}

pub const SORTS: [Sort; 6] = [
    Sort { list: "dbs/d/users", feed: "Users", body: |id| json!({"id": id}), is_free: true },
    Sort { list: "dbs/d/users/owner/permissions", feed: "Permissions", body: permission, is_free: true },
    Sort { list: "dbs/d/colls/c/sprocs", feed: "StoredProcedures", body: script, is_free: true },
    Sort { list: "dbs/d/colls/c/triggers", feed: "Triggers", body: trigger, is_free: true },
    Sort { list: "dbs/d/colls/c/udfs", feed: "UserDefinedFunctions", body: script, is_free: true },
    Sort {
        list: "dbs/d/clientencryptionkeys",
        feed: "ClientEncryptionKeys",
        body: client_key,
        is_free: false,
    },
];

/// With the user `owner`, whose permissions are looked at.
pub async fn with_owner() -> World {
    let world = World::new().await;
    world.made(Call::post("dbs/d/users", r#"{"id":"owner"}"#)).await;
    world
}

impl Sort {
    pub fn text(&self, id: &str) -> String {
        (self.body)(id).to_string()
    }

    pub fn path(&self, id: &str) -> String {
        format!("{}/{id}", self.list)
    }
}

#[tokio::test]
async fn each_is_created_read_replaced_and_deleted() {
    let world = with_owner().await;
    for sort in &SORTS {
        let reply = world.made(Call::post(sort.list, sort.text("one"))).await;
        let made = reply.json().unwrap();
        for (name, value) in (sort.body)("one").as_object().unwrap() {
            assert_eq!(made[name], *value, "{} {name}", sort.list);
        }
        assert_eq!(reply.header("etag"), made["_etag"].as_str());
        assert_eq!(made["_ts"], 1_800_000_000);
        world.refused(Call::post(sort.list, sort.text("one")), (409, 0), "already exists").await;
        let read = world.answered(200, Call::get(&sort.path("one"))).await;
        assert_eq!(without_token(read.json().unwrap()), without_token(made.clone()));
        let etag = made["_etag"].as_str().unwrap();
        let unchanged = Call::get(&sort.path("one")).header("if-none-match", etag);
        world.answered(304, unchanged).await;
        let wrong = Call::put(&sort.path("one"), sort.text("one"))
            .header("if-match", "\"00000000-0000-0000-0000-000000000001\"");
        world.refused(wrong, (412, 0), "pre-condition").await;
        let right = Call::put(&sort.path("one"), sort.text("one")).header("if-match", etag);
        let replaced = world.answered(200, right).await.json().unwrap();
        assert_eq!(replaced["_rid"], made["_rid"]);
        assert_ne!(replaced["_etag"], made["_etag"]);
        world.refused(Call::put(&sort.path("none"), sort.text("none")), (404, 0), "Not Found").await;
        if !sort.is_free {
            world.refused(Call::delete(&sort.path("one")), (405, 0), "verb").await;
            continue;
        }
        world.answered(204, Call::delete(&sort.path("one"))).await;
        world.refused(Call::get(&sort.path("one")), (404, 0), "Not Found").await;
        world.refused(Call::delete(&sort.path("one")), (404, 0), "Not Found").await;
    }
}

/// Each answer has a token of its own.
pub fn without_token(mut permission: Value) -> Value {
    permission.as_object_mut().unwrap().remove("_token");
    permission
}

#[tokio::test]
async fn an_upsert_creates_and_then_replaces() {
    let world = with_owner().await;
    for sort in &SORTS {
        let call = || Call::post(sort.list, sort.text("one")).upsert();
        if !sort.is_free {
            world.refused(call(), (405, 0), "verb").await;
            continue;
        }
        let first = world.answered(201, call()).await.json().unwrap();
        let second = world.answered(200, call()).await.json().unwrap();
        assert_eq!(first["_rid"], second["_rid"], "{}", sort.list);
        assert_ne!(first["_etag"], second["_etag"]);
    }
}

#[tokio::test]
async fn a_replace_renames_unless_the_name_is_taken() {
    let world = with_owner().await;
    for sort in &SORTS {
        let made = world.made(Call::post(sort.list, sort.text("one"))).await.json().unwrap();
        world.made(Call::post(sort.list, sort.text("two"))).await;
        let to = |name: &str| Call::put(&sort.path("one"), sort.text(name));
        if !sort.is_free {
            world.refused(to("three"), (400, 0), "cannot be changed").await;
            continue;
        }
        world.refused(to("two"), (409, 0), "already exists").await;
        let renamed = world.answered(200, to("three")).await.json().unwrap();
        assert_eq!((&renamed["id"], &renamed["_rid"]), (&json!("three"), &made["_rid"]));
        world.refused(Call::get(&sort.path("one")), (404, 0), "Not Found").await;
        world.answered(200, Call::get(&sort.path("three"))).await;
    }
}

#[tokio::test]
async fn each_is_found_by_its_resource_ids_as_sdks_send_them() {
    let world = with_owner().await;
    for sort in &SORTS {
        let made = world.made(Call::post(sort.list, sort.text("one"))).await.json().unwrap();
        let path = made["_self"].as_str().unwrap().trim_end_matches('/').to_owned();
        let rid = made["_rid"].as_str().unwrap().to_lowercase();
        let kind = sort.list.rsplit('/').next().unwrap();
        let date = world.env.now().to_http();
        let call = |verb: &'static str| {
            let text = format!("{}\n{kind}\n{rid}\n{}\n\n", verb.to_lowercase(), date.to_lowercase());
            Call::new(verb, &path).authorization(&token("master", &signature(READ_WRITE_KEY, &text)))
        };
        let read = world.answered(200, call("GET")).await.json().unwrap();
        assert_eq!(read["id"], "one", "{path}");
        if sort.is_free {
            world.answered(204, call("DELETE")).await;
        }
    }
}

#[tokio::test]
async fn resource_ids_have_the_lengths_and_marks_that_sdks_look_for() {
    use base64::Engine as _;
    let world = with_owner().await;
    let marks = [None, None, Some(0x8), Some(0x7), Some(0x6), None];
    for (sort, mark) in SORTS.iter().zip(marks) {
        let made = world.made(Call::post(sort.list, sort.text("one"))).await.json().unwrap();
        let rid = made["_rid"].as_str().unwrap().replace('-', "/");
        let bytes = base64::engine::general_purpose::STANDARD.decode(rid).unwrap();
        assert_eq!(bytes.len(), if sort.feed == "Users" { 8 } else { 16 }, "{}", sort.list);
        if let Some(mark) = mark {
            assert_eq!(bytes[15] >> 4, mark, "{}", sort.list);
        }
        assert!(made["_self"].as_str().unwrap().ends_with(&format!("{}/", made["_rid"].as_str().unwrap())));
    }
    let user = world.answered(200, Call::get("dbs/d/users/one")).await.json().unwrap();
    assert_eq!(user["_permissions"], "permissions/");
}

#[tokio::test]
async fn lists_are_paged_in_the_feeds_own_words() {
    let world = with_owner().await;
    for sort in &SORTS {
        for id in ["c", "a", "b"] {
            world.made(Call::post(sort.list, sort.text(id))).await;
        }
        let page = |token: Option<String>| {
            let call = Call::get(sort.list).header("x-ms-max-item-count", "2");
            token.map_or(call.clone(), |token| call.header("x-ms-continuation", token))
        };
        let (mut ids, mut token) = (Vec::new(), None);
        loop {
            let reply = world.answered(200, page(token)).await;
            let body = reply.json().unwrap();
            let found = body[sort.feed].as_array().unwrap().clone();
            assert_eq!((body["_count"].as_u64(), found.len() <= 2), (Some(found.len() as u64), true));
            assert!(reply.header("etag").is_none(), "it would be taken for a page token");
            ids.extend(found.iter().map(|child| child["id"].as_str().unwrap().to_owned()));
            match reply.header("x-ms-continuation") {
                None => break,
                Some(more) => token = Some(more.to_owned()),
            }
        }
        ids.retain(|id| id != "owner");
        assert_eq!(ids, ["a", "b", "c"], "{}", sort.list);
    }
    let foreign =
        world.answered(200, Call::get("dbs/d/colls/c/udfs").header("x-ms-max-item-count", "1")).await;
    let foreign = foreign.header("x-ms-continuation").unwrap().to_owned();
    for other in ["dbs/d/colls/c/triggers", "dbs/d/users", "dbs/d/colls/c/docs"] {
        let call = Call::get(other).header("x-ms-continuation", foreign.clone());
        world.refused(call, (400, 0), "Invalid Continuation Token").await;
    }
}

#[tokio::test]
async fn bodies_that_make_no_sense_are_bad_requests() {
    let world = with_owner().await;
    let permission = "dbs/d/users/owner/permissions";
    let cases = [
        ("dbs/d/users", "{}", "'id; '"),
        ("dbs/d/users", r#"{"id":7}"#, "'id; '"),
        ("dbs/d/users", r#"{"id":"a/b"}"#, "may not contain"),
        ("dbs/d/users", r#"{"id":"a "}"#, "ends with a space"),
        ("dbs/d/users", "[]", "not a JSON object"),
        ("dbs/d/colls/c/sprocs", r#"{"id":"s"}"#, "'body; '"),
        ("dbs/d/colls/c/sprocs", r#"{"id":"s","body":7}"#, "must be a string"),
        ("dbs/d/colls/c/udfs", r#"{"id":"s","body":""}"#, "'body; '"),
        ("dbs/d/colls/c/triggers", r#"{"id":"t","body":"x"}"#, "'triggerType; '"),
        (
            "dbs/d/colls/c/triggers",
            r#"{"id":"t","body":"x","triggerType":"During","triggerOperation":"All"}"#,
            "one of Pre, Post",
        ),
        (
            "dbs/d/colls/c/triggers",
            r#"{"id":"t","body":"x","triggerType":"pre","triggerOperation":"Read"}"#,
            "one of All, Create, Update, Delete, Replace",
        ),
        (permission, r#"{"id":"p","resource":"dbs/d/colls/c"}"#, "'permissionMode; '"),
        (permission, r#"{"id":"p","permissionMode":"Write","resource":"dbs/d/colls/c"}"#, "one of Read, All"),
        (permission, r#"{"id":"p","permissionMode":"All","resource":"dbs/d"}"#, "not a container"),
        (
            permission,
            r#"{"id":"p","permissionMode":"All","resource":"dbs/d/colls/c/pkranges/0"}"#,
            "not a container",
        ),
        (
            permission,
            r#"{"id":"p","permissionMode":"All","resource":"dbs/d/colls/c","resourcePartitionKey":"x"}"#,
            "must be an array",
        ),
        (
            permission,
            r#"{"id":"p","permissionMode":"All","resource":"dbs/d/colls/c","resourcePartitionKey":[[1]]}"#,
            "must be an array",
        ),
        ("dbs/d/clientencryptionkeys", r#"{"id":"k"}"#, "'encryptionAlgorithm; '"),
        (
            "dbs/d/clientencryptionkeys",
            r#"{"id":"k","encryptionAlgorithm":"a","wrappedDataEncryptionKey":"b"}"#,
            "'keyWrapMetadata; '",
        ),
    ];
    for (list, body, fragment) in cases {
        world.refused(Call::post(list, body), (400, 0), fragment).await;
    }
    let long = |bytes: usize| json!({"id": "s", "body": "x".repeat(bytes)}).to_string();
    world.made(Call::post("dbs/d/colls/c/sprocs", long(256 * 1024))).await;
    world.refused(Call::post("dbs/d/colls/c/udfs", long(256 * 1024 + 1)), (400, 0), "the longest is").await;
}

#[tokio::test]
async fn nothing_is_found_where_the_owner_is_not() {
    let world = with_owner().await;
    for (list, body) in [
        ("dbs/none/users", r#"{"id":"u"}"#),
        ("dbs/d/users/none/permissions", r#"{"id":"p","permissionMode":"All","resource":"dbs/d/colls/c"}"#),
        ("dbs/d/colls/none/sprocs", r#"{"id":"s","body":"x"}"#),
        ("dbs/none/clientencryptionkeys", "{}"),
    ] {
        world.refused(Call::get(list), (404, 1003), "Not Found").await;
        world.refused(Call::post(list, body), (404, 1003), "Not Found").await;
        world.refused(Call::get(&format!("{list}/x")), (404, 1003), "Not Found").await;
    }
    world.made(Call::post("dbs/d/users", r#"{"id":"gone"}"#)).await;
    let body = r#"{"id":"p","permissionMode":"All","resource":"dbs/d/colls/c"}"#;
    world.made(Call::post("dbs/d/users/gone/permissions", body)).await;
    world.answered(204, Call::delete("dbs/d/users/gone")).await;
    world.refused(Call::get("dbs/d/users/gone/permissions/p"), (404, 1003), "no user 'gone'").await;
    world.made(Call::post("dbs/d/users", r#"{"id":"gone"}"#)).await;
    world.refused(Call::get("dbs/d/users/gone/permissions/p"), (404, 0), "Not Found").await;
}

#[tokio::test]
async fn an_account_with_one_region_has_no_conflicts() {
    let world = World::new().await;
    let list = "dbs/d/colls/c/conflicts";
    let feed = world.answered(200, Call::get(list)).await.json().unwrap();
    assert_eq!((&feed["Conflicts"], &feed["_count"]), (&json!([]), &json!(0)));
    let query = Call::post(list, r#"{"query":"SELECT * FROM c"}"#).query();
    assert_eq!(world.answered(200, query).await.json().unwrap()["Conflicts"], json!([]));
    world.refused(Call::get("dbs/d/colls/c/conflicts/x"), (404, 0), "no conflict 'x'").await;
    world.refused(Call::delete("dbs/d/colls/c/conflicts/x"), (404, 0), "no conflict 'x'").await;
    world.refused(Call::put("dbs/d/colls/c/conflicts/x", "{}"), (405, 0), "verb").await;
    world.refused(Call::get("dbs/d/colls/none/conflicts"), (404, 1003), "Not Found").await;
}
