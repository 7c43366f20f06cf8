//! Input that is refused: the service's code, status and sentence, and nothing done.

use crate::call::Call;
use crate::world::World;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

const AT: &str = "/runs(PartitionKey='p',RowKey='r')";

/// An entity with so many properties beside its keys.
fn with_properties(count: usize) -> String {
    let more: String = (0..count).map(|at| format!(r#","p{at}":{at}"#)).collect();
    format!(r#"{{"PartitionKey":"p","RowKey":"r"{more}}}"#)
}

/// Binary properties, whose sizes are counted as they are, until the entity has this many bytes in all: 4 and 2 bytes a
/// character for the keys, 8 and 2 bytes a character of its name and 4 for each property.
fn with_bytes(total: usize) -> String {
    let (mut left, mut more) = (total - 4 - 4, String::new());
    for name in 'a'.. {
        let value = (left - 14).min(64 * 1024);
        let value = if (1..15).contains(&(left - 14 - value)) { value - 20 } else { value };
        left -= value + 14;
        let encoded = STANDARD.encode(vec![7; value]);
        more.push_str(&format!(r#","{name}@odata.type":"Edm.Binary","{name}":"{encoded}""#));
        if left == 0 {
            break;
        }
    }
    format!(r#"{{"PartitionKey":"p","RowKey":"r"{more}}}"#)
}

/// Insert, merge and replace refuse the body, and nothing is there afterwards.
async fn check_body(world: &World, body: &str, status: u16, code: &str) {
    for call in [Call::post("/runs", body), Call::put(AT, body), Call::merge(AT, body)] {
        world.refused(call, status, code, "").await;
    }
    world.refused(Call::get(AT), 404, "ResourceNotFound", "").await;
}

#[tokio::test]
async fn an_entity_has_252_properties_beside_its_own_three() {
    let world = World::new().await;
    for count in [253, 256] {
        check_body(&world, &with_properties(count), 400, "TooManyProperties").await;
    }
    world.answered(201, Call::post("/runs", with_properties(252))).await;
    // What a merge would make has too many.
    world.refused(Call::merge(AT, r#"{"other":1}"#).any(), 400, "TooManyProperties", "").await;
    world.refused(Call::get("/runs?$filter=other%20eq%201&$top=0"), 400, "InvalidInput", "").await;
    assert!(world.rows("/runs?$filter=other%20eq%201").await.is_empty());
}

#[tokio::test]
async fn an_entity_has_a_mebibyte() {
    let world = World::new().await;
    check_body(&world, &with_bytes((1 << 20) + 1), 400, "EntityTooLarge").await;
    world.answered(201, Call::post("/runs", with_bytes(1 << 20))).await;
}

#[tokio::test]
async fn a_value_has_64_kib() {
    let world = World::new().await;
    let text = |units: usize| format!(r#"{{"PartitionKey":"p","RowKey":"r","s":"{}"}}"#, "x".repeat(units));
    check_body(&world, &text(32 * 1024 + 1), 400, "PropertyValueTooLarge").await;
    let binary = STANDARD.encode(vec![0; 64 * 1024 + 1]);
    let binary = format!(r#"{{"PartitionKey":"p","RowKey":"r","b@odata.type":"Edm.Binary","b":"{binary}"}}"#);
    check_body(&world, &binary, 400, "PropertyValueTooLarge").await;
    world.answered(201, Call::post("/runs", text(32 * 1024))).await;
}

#[tokio::test]
async fn a_property_has_the_name_of_an_identifier() {
    let world = World::new().await;
    let named = |name: &str| format!(r#"{{"PartitionKey":"p","RowKey":"r","{name}":1}}"#);
    check_body(&world, &named("a b"), 400, "PropertyNameInvalid").await;
    check_body(&world, &named("1a"), 400, "PropertyNameInvalid").await;
    check_body(&world, &named(""), 400, "PropertyNameInvalid").await;
    check_body(&world, &named(&"x".repeat(256)), 400, "PropertyNameTooLong").await;
    check_body(&world, r#"{"PartitionKey":"p","RowKey":"r","a":1,"a":2}"#, 400, "InvalidInput").await;
}

#[tokio::test]
async fn an_entity_has_both_keys_and_they_have_no_forbidden_characters() {
    let world = World::new().await;
    let insert = |body: &str| Call::post("/runs", body);
    world.refused(insert("{}"), 400, "PropertiesNeedValue", "PartitionKey").await;
    world.refused(insert(r#"{"PartitionKey":"p"}"#), 400, "PropertiesNeedValue", "RowKey").await;
    world.refused(insert(r#"{"PartitionKey":null,"RowKey":"r"}"#), 400, "PropertiesNeedValue", "").await;
    for key in ["a/b", r"a\\b", "a#b", "a?b", r"\u0000", r"\t", r"\u0085"] {
        let body = format!(r#"{{"PartitionKey":"p","RowKey":"{key}"}}"#);
        world.refused(insert(&body), 400, "OutOfRangeInput", "out of range").await;
    }
    let body = format!(r#"{{"PartitionKey":"{}","RowKey":"r"}}"#, "x".repeat(513));
    world.refused(insert(&body), 400, "KeyValueTooLarge", "").await;
    let target = "/runs(PartitionKey='a%2Fb',RowKey='r')";
    world.refused(Call::put(target, "{}"), 400, "OutOfRangeInput", "").await;
    assert!(world.rows("/runs").await.is_empty());
}

#[tokio::test]
async fn a_body_that_is_no_entity_is_refused() {
    let world = World::new().await;
    for body in ["", "[]", "5", "{", r#"{"a":1}x"#, r#"{"a":}"#, "\u{feff}"] {
        check_body(&world, body, 400, "InvalidInput").await;
    }
    for member in [
        r#""a":[1]"#,
        r#""a":{"b":1}"#,
        r#""a":2147483648"#,
        r#""a@odata.type":"Edm.Int64","a":"x""#,
        r#""a@odata.type":"Edm.Point","a":"x""#,
        r#""a@odata.type":"Edm.DateTime","a":"x""#,
    ] {
        let body = format!(r#"{{"PartitionKey":"p","RowKey":"r",{member}}}"#);
        check_body(&world, &body, 400, "InvalidInput").await;
    }
    let early =
        r#"{"PartitionKey":"p","RowKey":"r","a@odata.type":"Edm.DateTime","a":"1600-01-01T00:00:00Z"}"#;
    check_body(&world, early, 400, "OutOfRangeInput").await;
    let atom = Call::post("/runs", "<entry/>").header("Content-Type", "application/atom+xml");
    world.refused(atom, 415, "AtomFormatNotSupported", "").await;
}

#[tokio::test]
async fn a_body_of_more_than_four_mebibytes_is_413() {
    let world = World::new().await;
    let body = "x".repeat((4 << 20) + 1);
    world.refused(Call::post("/runs", body.as_str()), 413, "RequestBodyTooLarge", "too large").await;
    let batch = Call::post("/$batch", body.as_str()).header("Content-Type", "multipart/mixed; boundary=b");
    world.refused(batch, 413, "RequestBodyTooLarge", "too large").await;
}

#[tokio::test]
async fn a_write_to_a_table_that_is_not_there_is_not_found() {
    let world = World::new().await;
    let entity = r#"{"PartitionKey":"p","RowKey":"r"}"#;
    world.refused(Call::post("/none", entity), 404, "TableNotFound", "The table specified").await;
    let at = "/none(PartitionKey='p',RowKey='r')";
    for call in [Call::get(at), Call::put(at, "{}"), Call::merge(at, "{}").any(), Call::delete(at).any()] {
        world.refused(call, 404, "TableNotFound", "").await;
    }
}
