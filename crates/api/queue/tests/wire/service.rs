//! The service as such: its properties, its statistics, CORS, versions and the replica.

use crate::call::Call;
use crate::world::World;

const PROPERTIES: &str = "?restype=service&comp=properties";

fn cors(methods: &str) -> Call {
    let rule = format!(
        "<CorsRule><AllowedOrigins>https://page.example</AllowedOrigins><AllowedMethods>{methods}</AllowedMethods>\
         <AllowedHeaders>x-ms-*</AllowedHeaders><ExposedHeaders>x-ms-request-id</ExposedHeaders>\
         <MaxAgeInSeconds>5</MaxAgeInSeconds></CorsRule>"
    );
    let body = format!("<StorageServiceProperties><Cors>{rule}</Cors></StorageServiceProperties>");
    Call::put(PROPERTIES).body(body)
}

#[tokio::test]
async fn properties_are_changed_where_they_are_named() {
    let world = World::new().await;
    world.answered(202, cors("GET")).await;
    let logging = "<Logging><Version>1.0</Version><Delete>true</Delete><Read>false</Read><Write>false</Write>\
                   <RetentionPolicy><Enabled>false</Enabled></RetentionPolicy></Logging>";
    let body = format!("<StorageServiceProperties>{logging}</StorageServiceProperties>");
    world.answered(202, Call::put(PROPERTIES).body(body)).await;
    let properties = world.document(Call::get(PROPERTIES)).await;
    assert_eq!(properties.child("Cors").unwrap().children.len(), 1, "an element that is left out stays");
    assert_eq!(properties.child("Logging").unwrap().text_of("Delete"), Some("true"));
    world.refused(Call::put(PROPERTIES).body("<Other/>"), 400, "InvalidXmlDocument").await;
}

#[tokio::test]
async fn web_pages_of_allowed_origins_may_ask() {
    let world = World::new().await;
    world.answered(202, cors("GET,PUT")).await;
    let preflight = |origin: &str, method: &str| {
        let call = Call::new("OPTIONS", "/turns/messages").unsigned();
        call.header("Origin", origin).header("Access-Control-Request-Method", method)
    };
    let allowed = world.answered(200, preflight("https://page.example", "GET")).await;
    assert_eq!(allowed.header("access-control-allow-origin"), Some("https://page.example"));
    world.refused(preflight("https://page.example", "DELETE"), 403, "CorsPreflightFailure").await;
    world.refused(preflight("https://other.example", "GET"), 403, "CorsPreflightFailure").await;
    let asked = world.answered(200, Call::get("?comp=list").header("Origin", "https://page.example")).await;
    assert_eq!(asked.header("access-control-allow-origin"), Some("https://page.example"));
    assert_eq!(asked.header("vary"), Some("Origin"));
}

#[tokio::test]
async fn statistics_are_those_of_the_replica() {
    let world = World::new().await;
    let stats = || Call::get("?restype=service&comp=stats");
    let document = world.document(stats().secondary()).await;
    assert_eq!(document.child("GeoReplication").unwrap().text_of("Status"), Some("live"));
    world.refused(stats(), 400, "InvalidQueryParameterValue").await;
}

#[tokio::test]
async fn the_replica_may_be_read_and_not_written() {
    let world = World::new().await;
    world.answered(201, Call::send("/turns/messages", "a")).await;
    world.answered(200, Call::get("/turns/messages?peekonly=true").secondary()).await;
    for call in [Call::get("/turns/messages"), Call::send("/turns/messages", "b"), Call::put("/orders")] {
        let reply = world.answered(403, call.secondary()).await;
        assert!(reply.header("x-ms-error-code").is_some());
    }
}

#[tokio::test]
async fn any_date_is_a_version_and_anything_else_is_refused() {
    let world = World::new().await;
    for version in ["2011-08-18", "2026-10-06", "2099-01-01"] {
        let reply = world.answered(200, Call::get("?comp=list").version(version)).await;
        assert_eq!(reply.header("x-ms-version"), Some(version));
    }
    let error = world.refused(Call::get("?comp=list").version("latest"), 400, "InvalidHeaderValue").await;
    assert_eq!(error.text_of("HeaderName"), Some("x-ms-version"));
}

#[tokio::test]
async fn a_key_for_user_delegation_is_for_users_and_not_for_the_account() {
    let world = World::new().await;
    let key = Call::new("POST", "?restype=service&comp=userdelegationkey");
    world.refused(key, 403, "AuthenticationFailed").await;
}

#[tokio::test]
async fn a_request_of_an_account_that_is_not_there_is_refused() {
    let world = World::new().await;
    let reply = world.call(&Call::get("?comp=list").account("nobody")).await;
    assert!((400..500).contains(&reply.status));
}
