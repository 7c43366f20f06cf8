//! Service properties, statistics, CORS.

use crate::call::Call;
use crate::world::{World, text};

const PROPERTIES: &str = "/?restype=service&comp=properties";
const STATISTICS: &str = "/?restype=service&comp=stats";

const CORS: &str = "<StorageServiceProperties><Cors><CorsRule><AllowedOrigins>https://shop.example</AllowedOrigins>\
    <AllowedMethods>GET,PUT</AllowedMethods><AllowedHeaders>x-ms-*</AllowedHeaders><ExposedHeaders>x-ms-*</ExposedHeaders>\
    <MaxAgeInSeconds>60</MaxAgeInSeconds></CorsRule></Cors></StorageServiceProperties>";

#[tokio::test]
async fn properties_that_are_left_out_stay_as_they_are() {
    let world = World::empty().await;
    let before = text(&world.answered(200, Call::get(PROPERTIES)).await);
    assert!(before.contains("<Cors />") && before.contains("<HourMetrics>"), "{before}");
    world.answered(202, Call::put(PROPERTIES, CORS)).await;
    let logging = "<StorageServiceProperties><Logging><Version>1.0</Version><Delete>true</Delete><Read>false</Read>\
        <Write>false</Write><RetentionPolicy><Enabled>false</Enabled></RetentionPolicy></Logging></StorageServiceProperties>";
    world.answered(202, Call::put(PROPERTIES, logging)).await;
    let reply = world.answered(200, Call::get(PROPERTIES)).await;
    let after = text(&reply);
    assert!(after.contains("https://shop.example") && after.contains("<Delete>true</Delete>"), "{after}");
    assert_eq!(reply.header("content-type"), Some("application/xml"));
    world.refused(Call::put(PROPERTIES, "<A/>"), 400, "InvalidXmlDocument", "").await;
}

#[tokio::test]
async fn statistics_are_at_the_secondary_alone_which_takes_no_writes() {
    let world = World::new().await;
    let secondary = |call: Call| call.account("devstoreaccount1-secondary");
    let stats = text(&world.answered(200, secondary(Call::get(STATISTICS))).await);
    assert!(stats.contains("<Status>live</Status>"), "{stats}");
    // As Python's client asks.
    let python =
        Call::get("/devstoreaccount1/?restype=service&comp=stats").signed_at("/devstoreaccount1/?comp=stats");
    world.answered(200, secondary(python)).await;
    let properties = "/devstoreaccount1/?restype=service&comp=properties";
    let write = Call::put(properties, CORS).signed_at("/devstoreaccount1/?comp=properties");
    world.refused(secondary(write), 403, "InsufficientAccountPermissions", "").await;
    world.refused(Call::get(STATISTICS), 400, "InvalidQueryParameterValue", "").await;
    let write = Call::post("/runs", r#"{"PartitionKey":"p","RowKey":"r"}"#);
    world.refused(secondary(write), 403, "InsufficientAccountPermissions", "").await;
    let read = world.json(secondary(Call::get("/runs"))).await;
    assert_eq!(read["odata.metadata"], "http://127.0.0.1/devstoreaccount1-secondary/$metadata#runs");
    let part = "--b\nContent-Type: application/http\n\nPOST /runs HTTP/1.1\n\n{\"PartitionKey\":\"p\",\"RowKey\":\"r\"}\n--b--";
    let batch = Call::post("/$batch", part).header("Content-Type", "multipart/mixed; boundary=b");
    world.batch_refused(secondary(batch), 403, "InsufficientAccountPermissions", "").await;
}

#[tokio::test]
async fn a_browser_is_told_what_the_rules_allow() {
    let world = World::new().await;
    world.answered(202, Call::put(PROPERTIES, CORS)).await;
    let ask = |origin: &str, method: &str| {
        let call = Call::new("OPTIONS", "/runs").unsigned();
        call.header("Origin", origin).header("Access-Control-Request-Method", method)
    };
    let reply = world.answered(200, ask("https://shop.example", "GET")).await;
    assert_eq!(reply.header("access-control-allow-origin"), Some("https://shop.example"));
    assert_eq!(reply.header("access-control-max-age"), Some("60"));
    world.refused(ask("https://shop.example", "DELETE"), 403, "CorsPreflightFailure", "").await;
    let read = Call::get("/runs").header("Origin", "https://shop.example");
    let reply = world.answered(200, read).await;
    assert_eq!(reply.header("access-control-allow-origin"), Some("https://shop.example"));
    assert!(reply.header("access-control-expose-headers").unwrap().contains("x-ms-request-id"));
    assert_eq!(reply.header("vary"), Some("Origin"));
}

#[tokio::test]
async fn a_page_that_no_rule_allows_is_refused_on_loopback() {
    let world = World::new().await;
    let foreign = Call::get("/runs").header("Origin", "https://shop.example");
    assert_eq!(world.call(&foreign).await.status, 403);
    let ask = Call::new("OPTIONS", "/runs").unsigned().header("Origin", "https://shop.example");
    world.refused(ask.clone(), 400, "MissingRequiredHeader", "").await;
    let ask = ask.header("Access-Control-Request-Method", "GET");
    world.refused(ask, 403, "CorsPreflightFailure", "").await;
}
