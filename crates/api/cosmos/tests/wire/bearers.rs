//! Bearer tokens and roles: who is believed, and what they may do.

use crate::call::{Call, READ_ONLY_KEY, READ_WRITE_KEY, signature, token};
use crate::world::{CONTAINER, ITEMS, World};
use orrery_api_common::Access;
use orrery_api_common::bearer::{Bearers, DEVELOPMENT_ISSUER, DevelopmentKey, Grant, Issuer, KeySet, Mint};
use orrery_api_cosmos::{Failure, signed_access};
use orrery_documents::roles::{Assignment, Definition, Scope};
use serde_json::{Value, json};
use std::time::Duration;

const AUDIENCE: &str = "https://cosmos.azure.com";
const ISSUER: &str = "https://login.example/tenant";

/// A world that believes its own development issuer, and one of a company.
struct Realm {
    world: World,
    development: DevelopmentKey,
    company: DevelopmentKey,
}

impl Realm {
    async fn new() -> Self {
        let world = World::new().await;
        let key = || DevelopmentKey::read(&DevelopmentKey::make().unwrap()).unwrap();
        let (development, company) = (key(), key());
        let keys = KeySet::parse(company.to_jwks().to_string().as_bytes()).unwrap();
        let issuers = vec![Issuer::development(&development), Issuer::fixed(ISSUER, keys)];
        world.cosmos.access().take_bearers(Bearers::new(issuers, vec![AUDIENCE.to_owned()]));
        world.item("i").await;
        Self { world, development, company }
    }

    /// A development token with one role.
    fn with(&self, role: &str, scope: &str) -> String {
        let grants = vec![Grant { role: role.to_owned(), scope: scope.to_owned() }];
        let mint = Mint {
            principal: "dev".into(),
            audience: AUDIENCE.into(),
            grants,
            lifetime: Duration::from_secs(3600),
        };
        header(&self.development.mint(&mint, self.world.env.now()).unwrap())
    }

    /// A token of the company's, with members of its own.
    fn company(&self, more: &Value) -> String {
        header(
            &self
                .company
                .sign(&json!({"alg": "ES256", "kid": self.company.kid()}), &self.claims(more))
                .unwrap(),
        )
    }

    fn claims(&self, more: &Value) -> Value {
        let now = self.world.env.now().seconds();
        let mut claims = json!({"iss": ISSUER, "aud": AUDIENCE, "oid": "worker", "exp": now + 600});
        for (name, value) in more.as_object().unwrap() {
            claims[name] = value.clone();
        }
        claims
    }

    async fn assign(&self, id: &str, principal: &str, role: &str, scope: &str) {
        let given = Assignment::new(id, principal, role, Scope::parse(scope).unwrap()).unwrap();
        self.world.cosmos.store().assign_role(given).await.unwrap();
    }
}

/// As Python and JavaScript send it.
fn header(jwt: &str) -> String {
    format!("type=aad&ver=1.0&sig={jwt}")
}

fn read() -> Call {
    Call::get("dbs/d/colls/c/docs/i").partition(r#"["p"]"#)
}

#[tokio::test]
async fn a_token_that_is_not_believed_is_401_with_the_services_number() {
    let realm = Realm::new().await;
    let now = realm.world.env.now().seconds();
    let bad = |more: Value| realm.company(&more);
    let cases = [
        (bad(json!({"iss": "https://evil"})), 5007, "https://evil"),
        (bad(json!({"aud": "https://graph.microsoft.com"})), 5008, "not for this account"),
        (bad(json!({"exp": now - 301})), 5006, "has expired"),
        (bad(json!({"exp": "never"})), 5003, "not a signed"),
        (bad(json!({"nbf": now + 301})), 5005, "not valid yet"),
        (bad(json!({"oid": ""})), 5011, "nobody is asking"),
        (header("x.y"), 5003, "not a signed"),
        (header("e30.e30.e30"), 5003, "algorithm"),
    ];
    for (token, substatus, fragment) in cases {
        realm.world.refused(read().authorization(&token), (401, substatus), fragment).await;
    }
    let sign = |header: Value, key: &DevelopmentKey| key.sign(&header, &realm.claims(&json!({}))).unwrap();
    let company = &realm.company;
    let none = sign(json!({"alg": "none", "kid": company.kid()}), company);
    let none = format!("{}.", none.rsplit_once('.').unwrap().0);
    let unknown = sign(json!({"alg": "ES256", "kid": "unknown"}), company);
    let stolen = sign(json!({"alg": "ES256", "kid": company.kid()}), &realm.development);
    let good = sign(json!({"alg": "ES256", "kid": company.kid()}), company);
    for (jwt, substatus, fragment) in [
        (none.as_str(), 5003, "algorithm is not"),
        (&unknown, 5004, "does not have"),
        (&stolen, 5004, "signature is wrong"),
        (&good[..good.len() - 2], 5004, "signature is wrong"),
        (&good[..good.rfind('.').unwrap()], 5003, "not a signed"),
    ] {
        realm.world.refused(read().authorization(&header(jwt)), (401, substatus), fragment).await;
    }
    realm.world.refused(read().authorization(&header(&good)), (403, 5302), "principal [worker]").await;
}

/// What a caller may try, with the sub-status of a refusal: 0 where no role can help.
fn tries() -> Vec<(&'static str, Call, u32)> {
    let item = |id: &str| json!({"id": id, "pk": "p", "email": id}).to_string();
    let query = || Call::post(ITEMS, r#"{"query":"SELECT * FROM c"}"#).query();
    let one = "dbs/d/colls/c/docs/i";
    vec![
        ("account", Call::get(""), 5301),
        ("databases", Call::get("dbs"), 5301),
        ("database", Call::get("dbs/d"), 5301),
        ("containers", Call::get("dbs/d/colls"), 5301),
        ("container", Call::get(CONTAINER), 5301),
        ("ranges", Call::get("dbs/d/colls/c/pkranges"), 5301),
        ("read", read(), 5302),
        ("query", query(), 5302),
        ("list", Call::get(ITEMS), 5302),
        ("conflicts", Call::get("dbs/d/colls/c/conflicts"), 5302),
        ("upsert", Call::post(ITEMS, item("new")).upsert().partition(r#"["p"]"#), 5302),
        ("replace", Call::put(one, item("i")).partition(r#"["p"]"#), 5302),
        ("other container", Call::get("dbs/d/colls/other"), 5301),
        ("other database", Call::get("dbs/other"), 5301),
        ("create database", Call::post("dbs", r#"{"id":"x"}"#), 5300),
        (
            "create container",
            Call::post("dbs/d/colls", r#"{"id":"x","partitionKey":{"paths":["/a"]}}"#),
            5300,
        ),
        ("drop", Call::delete(CONTAINER), 5300),
        ("offers", Call::get("offers"), 5300),
        ("users", Call::get("dbs/d/users"), 5300),
        ("scripts", Call::get("dbs/d/colls/c/sprocs"), 5300),
        ("add script", Call::post("dbs/d/colls/c/udfs", r#"{"id":"u","body":"x"}"#), 5300),
    ]
}

async fn check(world: &World, token: &str, allowed: &[&str]) {
    for (name, call, substatus) in tries() {
        let call = call.authorization(token);
        if allowed.contains(&name) {
            let reply = world.call(&call).await;
            assert!(
                reply.status < 300 || reply.status == 404,
                "{name}: {}",
                String::from_utf8_lossy(&reply.body)
            );
        } else {
            world.refused(call, (403, substatus), "Request blocked by Auth orrery").await;
        }
    }
}

const METADATA: [&str; 6] = ["account", "databases", "database", "containers", "container", "ranges"];
const READING: [&str; 3] = ["read", "query", "list"];
const OTHERS: [&str; 2] = ["other container", "other database"];

#[tokio::test]
async fn the_built_in_roles_allow_what_the_service_says() {
    let realm = Realm::new().await;
    let reader = [&METADATA[..], &READING, &OTHERS].concat();
    check(&realm.world, &realm.with("reader", "/"), &reader).await;
    check(&realm.world, &realm.with("00000000-0000-0000-0000-000000000001", "/"), &reader).await;
    let contributor = [&reader[..], &["conflicts", "upsert", "replace"]].concat();
    check(&realm.world, &realm.with("Contributor", "/"), &contributor).await;
    check(&realm.world, &realm.with("nothing", "/"), &[]).await;
    check(&realm.world, &realm.with("reader", "nowhere"), &["account"]).await;
}

#[tokio::test]
async fn a_scope_is_a_database_or_a_container_and_what_is_in_it() {
    let realm = Realm::new().await;
    let database = [
        "account",
        "database",
        "containers",
        "container",
        "ranges",
        "read",
        "query",
        "list",
        "other container",
    ];
    check(&realm.world, &realm.with("reader", "/dbs/d"), &database).await;
    let container = ["account", "container", "ranges", "read", "query", "list"];
    check(&realm.world, &realm.with("reader", "/dbs/d/colls/c"), &container).await;
    check(&realm.world, &realm.with("reader", "/dbs/d/colls/elsewhere"), &["account"]).await;
}

#[tokio::test]
async fn roles_are_given_changed_and_taken_away_while_the_server_runs() {
    let realm = Realm::new().await;
    let (world, token) = (&realm.world, realm.company(&json!({})));
    check(world, &token, &[]).await;
    realm.assign("a", "worker", "reader", "/dbs/d/colls/c").await;
    realm.assign("b", "somebody else", "contributor", "/").await;
    check(world, &token, &["account", "container", "ranges", "read", "query", "list"]).await;
    let actions = ["items/upsert", "items/read"]
        .map(|name| format!("Microsoft.DocumentDB/databaseAccounts/sqlDatabases/containers/{name}"));
    let role = Definition::new("w", "Writer", actions.to_vec()).unwrap();
    world.cosmos.store().define_role(role).await.unwrap();
    realm.assign("a", "worker", "writer", "/dbs/d/colls/c").await;
    check(world, &token, &["read", "upsert"]).await;
    let refused = world.refused(Call::get(ITEMS).authorization(&token), (403, 5302), "executeQuery").await;
    let message = refused.json().unwrap()["message"].as_str().unwrap().to_owned();
    assert!(message.contains("on resource [/dbs/d/colls/c]"), "{message}");
    let role_in_use = world.cosmos.store().remove_role("w").await;
    assert!(role_in_use.is_err_and(|error| Failure::from(error).status == 409));
    world.cosmos.store().remove_role("a").await.unwrap();
    check(world, &token, &[]).await;
    world.cosmos.store().remove_role("w").await.unwrap();
}

#[tokio::test]
async fn only_the_development_issuer_gives_roles_by_its_tokens() {
    let realm = Realm::new().await;
    let grants = json!({"orrery_grants": [{"role": "contributor", "scope": "/"}]});
    check(&realm.world, &realm.company(&grants), &[]).await;
    let posing = realm.company(&json!({"iss": DEVELOPMENT_ISSUER}));
    realm.world.refused(read().authorization(&posing), (401, 5004), "does not have").await;
}

#[tokio::test]
async fn a_path_of_resource_ids_is_judged_by_the_names_behind_them() {
    let realm = Realm::new().await;
    let container = realm.world.answered(200, Call::get(CONTAINER)).await.json().unwrap();
    let items = format!("{}docs", container["_self"].as_str().unwrap());
    let right = realm.with("reader", "/dbs/d/colls/c");
    realm.world.answered(200, Call::get(&items).authorization(&right)).await;
    let wrong = realm.with("reader", "/dbs/d/colls/other");
    let by_rid = Call::get(&items).authorization(&wrong);
    realm.world.refused(by_rid, (403, 5303), "on resource [/dbs/d/colls/c]").await;
}

#[tokio::test]
async fn a_request_of_the_services_port_is_signed_for_its_kind_and_path() {
    let world = World::new().await;
    let date = world.env.now().to_http();
    let head = |key: &str, kind: &str, path: &str| {
        let text = format!("post\n{kind}\n{}\n{}\n\n", path.trim_matches('/'), date.to_lowercase());
        let request = http::Request::post(path)
            .header("authorization", token("master", &signature(key, &text)))
            .header("x-ms-date", &date);
        request.body(()).unwrap().into_parts().0
    };
    let said = |head| signed_access(&world.cosmos, &head, "keys").map_err(|failure| failure.status.as_u16());
    let path = "/v1/keys/primary/regenerate";
    assert_eq!(said(head(READ_WRITE_KEY, "keys", path)), Ok(Access::ReadWrite));
    assert_eq!(said(head(READ_ONLY_KEY, "keys", path)), Ok(Access::ReadOnly));
    assert_eq!(said(head(READ_WRITE_KEY, "roles", path)), Err(401));
    assert_eq!(said(head("bm90IGEga2V5", "keys", path)), Err(401));
    let mut moved = head(READ_WRITE_KEY, "keys", path);
    moved.uri = "/v1/keys/secondary/regenerate".parse().unwrap();
    assert_eq!(said(moved), Err(401));
    let mut bare = head(READ_WRITE_KEY, "keys", path);
    bare.headers.remove("authorization");
    assert_eq!(said(bare), Err(401));
}
