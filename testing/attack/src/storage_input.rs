//! Bad input to the storage ports of a real process: refused with the service's status and code, nothing half done, and the
//! server goes on. What a protocol's own tests show (`crates/api/{table,queue}/tests/wire`) is not repeated here.

use orrery_attack::{Arena, QUEUE, TABLE};
use orrery_testing_client::{Method, ServerProcess, StorageRequest, message_body};
use orrery_testing_golden::Noise;
use std::net::SocketAddr;

const XML: &str = "application/xml";
const BATCH: &str = "multipart/mixed; boundary=b";

/// Ten entities of ten each, nine times: a billion.
fn entity_bomb(inside: &str) -> String {
    let levels = (1..10).map(|level| {
        let inner = format!("&e{};", level - 1).repeat(10);
        format!("<!ENTITY e{level} \"{inner}\">")
    });
    let levels: String = levels.collect();
    format!("<?xml version=\"1.0\"?><!DOCTYPE x [<!ENTITY e0 \"ha\">{levels}]>{inside}")
}

fn put_message(body: impl Into<Vec<u8>>) -> StorageRequest {
    StorageRequest::queue(Method::Post, format!("{QUEUE}/messages")).body(XML, body)
}

fn insert(row: &str) -> StorageRequest {
    let entity =
        format!("{{\"PartitionKey\":\"p\",\"RowKey\":\"{row}\",\"Text\":\"{}\"}}", "x".repeat(20_000));
    StorageRequest::table(Method::Post, TABLE).body("application/json", entity)
}

/// A transaction of so many inserts of this text, which is written as it is.
pub fn batch(inserts: usize, text: &str) -> StorageRequest {
    let operation = |row: usize| {
        format!(
            "--c\r\nContent-Type: application/http\r\n\r\nPOST /devstoreaccount1/{TABLE} HTTP/1.1\r\nPrefer: return-no-content\r\n\r\n\
             {{\"PartitionKey\":\"p\",\"RowKey\":\"{row}\",\"Text\":\"{text}\"}}\r\n"
        )
    };
    let operations: String = (0..inserts).map(operation).collect();
    let body =
        format!("--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n{operations}--c--\r\n--b--\r\n");
    StorageRequest::table(Method::Post, "$batch").body(BATCH, body)
}

fn service(request: StorageRequest) -> StorageRequest {
    request.parameter("restype", "service").parameter("comp", "properties")
}

pub fn refused(arena: &Arena) -> Result<(), String> {
    let mut server = arena.start(&[])?;
    arena.make_queue_and_table(&server)?;
    let (queue, table) = (server.queue(), server.table());
    let message = "<QueueMessage><MessageText>&e9;</MessageText></QueueMessage>";
    let deep = format!("{}{}", "<a>".repeat(100_000), "</a>".repeat(100_000));
    let bombs =
        [entity_bomb(message), deep[..400_000].to_owned(), format!("<a {}/>", "b=\"c\" ".repeat(50_000))];
    for bomb in &bombs {
        arena.expect_storage(400, "InvalidXmlDocument", queue, &put_message(bomb.as_str()))?;
    }
    let properties = entity_bomb("<StorageServiceProperties><Cors>&e9;</Cors></StorageServiceProperties>");
    let policies = entity_bomb(
        "<SignedIdentifiers><SignedIdentifier><Id>&e9;</Id></SignedIdentifier></SignedIdentifiers>",
    );
    for (port, request) in [
        (queue, service(StorageRequest::queue(Method::Put, "")).body(XML, properties.as_str())),
        (table, service(StorageRequest::table(Method::Put, "")).body(XML, properties.as_str())),
        (
            queue,
            StorageRequest::queue(Method::Put, QUEUE).parameter("comp", "acl").body(XML, policies.as_str()),
        ),
        (
            table,
            StorageRequest::table(Method::Put, TABLE).parameter("comp", "acl").body(XML, policies.as_str()),
        ),
    ] {
        arena.expect_storage(400, "InvalidXmlDocument", port, &request)?;
    }
    let nested = format!("{{\"PartitionKey\":\"p\",\"RowKey\":\"r\",\"a\":{}", "[".repeat(1_000_000));
    let nested = StorageRequest::table(Method::Post, TABLE).body("application/json", nested);
    arena.expect_storage(400, "InvalidInput", table, &nested)?;
    let filter =
        |text: &str| StorageRequest::table(Method::Get, format!("{TABLE}()")).parameter("$filter", text);
    for text in ["(".repeat(15_000), format!("{}a eq 1", "not (".repeat(3_000)), "a eq 'x".to_owned()] {
        arena.expect_storage(400, "InvalidInput", table, &filter(&text))?;
    }
    arena.expect_storage(413, "RequestBodyTooLarge", table, &batch(100, &"x".repeat(43_000)))?;
    arena.expect_storage(
        413,
        "RequestBodyTooLarge",
        queue,
        &put_message(message_body(&"x".repeat(65_537))),
    )?;
    huge_heads(arena, [queue, table])?;
    arena.check_nothing_is_stored(&server)?;
    arena.check_well(&mut server)
}

/// More and longer headers than a head has room for, and a target that is too long.
fn huge_heads(arena: &Arena, ports: [SocketAddr; 2]) -> Result<(), String> {
    let start = "GET /devstoreaccount1 HTTP/1.1\r\nHost: 127.0.0.1\r\n";
    let many: String = (0..5_000).map(|at| format!("x-ms-meta-a{at}: b\r\n")).collect();
    let heads = [
        format!("{start}{many}\r\n"),
        format!("{start}x-ms-meta-a: {}\r\n\r\n", "b".repeat(2 << 20)),
        format!("GET /devstoreaccount1/{} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", "a".repeat(2 << 20)),
        format!("{start}x-ms-meta-a: {}", "b".repeat(2 << 20)),
    ];
    for head in &heads {
        for port in ports {
            let answer = arena.raw(port, head.as_bytes())?;
            if answer.starts_with(b"HTTP/1.1 2") || answer.starts_with(b"HTTP/1.1 5") {
                let said = String::from_utf8_lossy(&answer).chars().take(200).collect::<String>();
                return Err(format!("a head of {} bytes was answered: {said}", head.len()));
            }
        }
    }
    Ok(())
}

/// Bodies that end before they should, signed as a whole: the connection goes, or the answer is a refusal, and nothing is there.
pub fn truncated(arena: &Arena) -> Result<(), String> {
    let mut server = arena.start(&[])?;
    arena.make_queue_and_table(&server)?;
    let sent = |port: SocketAddr, request: &StorageRequest| (port, request.encode(arena.now()));
    let requests = [
        sent(server.queue(), &put_message(message_body(&"x".repeat(20_000)))),
        sent(server.table(), &insert("r")),
        sent(server.table(), &batch(100, &"x".repeat(1_000))),
    ];
    let mut noise = Noise::new(24);
    for _ in 0..arena.rounds(20, 500) {
        for (port, whole) in &requests {
            let head = whole.windows(4).position(|four| four == b"\r\n\r\n").map_or(0, |at| at + 4);
            let cut = head + noise.below(whole.len() - head - 1);
            check_answer(arena, *port, &whole[..cut])?;
        }
    }
    arena.check_nothing_is_stored(&server)?;
    arena.check_well(&mut server)
}

fn check_answer(arena: &Arena, port: SocketAddr, bytes: &[u8]) -> Result<(), String> {
    let answer = arena.raw(port, bytes)?;
    match answer.strip_prefix(b"HTTP/1.1 ").and_then(|rest| rest.first()) {
        Some(b'2' | b'5') => {
            Err(format!("half a body was answered with {}", String::from_utf8_lossy(&answer)))
        }
        _ => Ok(()),
    }
}

/// Signed requests with a few bytes changed: whatever comes of them, it is no failure of the server's.
pub fn noise(arena: &Arena) -> Result<(), String> {
    let mut server = arena.start(&[])?;
    arena.make_queue_and_table(&server)?;
    let samples = samples(arena, &server);
    let mut noise = Noise::new(25);
    for round in 0..arena.rounds(400, 20_000) {
        let (port, sample) = &samples[round % samples.len()];
        let damaged = noise.damage(sample);
        let answer = arena.raw(*port, &damaged)?;
        // What the service does not do is said with 501, and clients do not ask again.
        if answer.starts_with(b"HTTP/1.1 5") && !answer.starts_with(b"HTTP/1.1 501") {
            let (answer, damaged) = (String::from_utf8_lossy(&answer), String::from_utf8_lossy(&damaged));
            return Err(format!("{answer} for {damaged}"));
        }
    }
    arena.check_well(&mut server)
}

fn samples(arena: &Arena, server: &ServerProcess) -> Vec<(SocketAddr, Vec<u8>)> {
    let messages = || StorageRequest::queue(Method::Get, format!("{QUEUE}/messages"));
    let entity = format!("{TABLE}(PartitionKey='p',RowKey='r')");
    let queue = [
        put_message(message_body("hello")),
        messages().parameter("numofmessages", 2).parameter("visibilitytimeout", 5),
        service(StorageRequest::queue(Method::Get, "")),
    ];
    let table = [
        batch(2, "hello"),
        StorageRequest::table(Method::Patch, entity.clone()).body("application/json", "{\"A\":1}"),
        StorageRequest::table(Method::Get, entity),
        StorageRequest::table(Method::Get, format!("{TABLE}()"))
            .parameter("$filter", "PartitionKey eq 'p' and n gt 5L"),
        StorageRequest::table(Method::Get, "Tables"),
    ];
    let encode = |port: SocketAddr, request: &StorageRequest| (port, request.encode(arena.now()));
    let queue = queue.iter().map(|request| encode(server.queue(), request));
    queue.chain(table.iter().map(|request| encode(server.table(), request))).collect()
}
