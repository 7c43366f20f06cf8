//! What a web page can make a browser send to the storage ports of a developer's machine, signed with the key that everybody
//! knows: without a CORS rule none of it is answered, and nothing changes.

use orrery_attack::{Arena, QUEUE, TABLE};
use orrery_testing_client::{Method, StorageRequest, message_body};
use std::net::SocketAddr;

/// Headers of requests that a page of another site causes.
const PAGES: &[&str] = &[
    "Host: evil.example\r\n",
    "Host: evil.example:10001\r\n",
    "Host: 127.0.0.1.evil.example\r\n",
    "Host: devstoreaccount1.queue.evil.example\r\n",
    "Host: localhost\r\nHost: evil.example\r\n",
    "Host: 127.0.0.1\r\nOrigin: https://evil.example\r\n",
    "Host: 127.0.0.1\r\nOrigin: http://localhost:3000\r\n",
    "Host: 127.0.0.1\r\nOrigin: null\r\n",
    "Host: 127.0.0.1\r\nSec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\nSec-Fetch-Dest: image\r\n",
];

pub fn attack(arena: &Arena) -> Result<(), String> {
    let mut server = arena.start(&[])?;
    arena.make_queue_and_table(&server)?;
    let (queue, table) = (server.queue(), server.table());
    for (port, wish) in wishes(queue, table) {
        for page in PAGES {
            check(arena, port, &wish, page, &[400, 403])?;
        }
    }
    for port in [queue, table] {
        let preflight = "OPTIONS /devstoreaccount1 HTTP/1.1\r\nHost: 127.0.0.1\r\nOrigin: https://evil.example\r\n\
                         Access-Control-Request-Method: PUT\r\nConnection: close\r\n\r\n";
        judge(preflight, &arena.ask(port, preflight)?, &[403])?;
    }
    arena.check_nothing_is_stored(&server)?;
    arena.expect_storage(
        404,
        "QueueNotFound",
        queue,
        &StorageRequest::queue(Method::Get, "evil").parameter("comp", "metadata"),
    )?;
    arena.check_well(&mut server)
}

fn wishes(queue: SocketAddr, table: SocketAddr) -> Vec<(SocketAddr, StorageRequest)> {
    let message = message_body("evil");
    let entity = "{\"PartitionKey\":\"p\",\"RowKey\":\"r\"}";
    vec![
        (queue, StorageRequest::queue(Method::Get, "").parameter("comp", "list")),
        (queue, StorageRequest::queue(Method::Put, "evil")),
        (queue, StorageRequest::queue(Method::Delete, QUEUE)),
        (queue, StorageRequest::queue(Method::Post, format!("{QUEUE}/messages")).body("text/plain", message)),
        (table, StorageRequest::table(Method::Get, "Tables")),
        (table, StorageRequest::table(Method::Post, TABLE).body("text/plain", entity)),
        (table, StorageRequest::table(Method::Delete, format!("Tables('{TABLE}')"))),
    ]
}

fn check(
    arena: &Arena,
    port: SocketAddr,
    wish: &StorageRequest,
    page: &str,
    expected: &[u16],
) -> Result<(), String> {
    let signed = String::from_utf8_lossy(&wish.encode(arena.now())).into_owned();
    let request = signed.replacen("Host: 127.0.0.1\r\n", &format!("{page}Connection: close\r\n"), 1);
    judge(&request, &arena.ask(port, &request)?, expected)
}

fn judge(request: &str, answer: &str, expected: &[u16]) -> Result<(), String> {
    let status = answer.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3)?.parse().ok());
    let tells_pages = answer.to_ascii_lowercase().contains("access-control-allow-origin");
    if status.is_some_and(|status: u16| expected.contains(&status)) && !tells_pages {
        return Ok(());
    }
    Err(format!("expected one of {expected:?} for\n{request}\nbut was answered\n{answer}"))
}
