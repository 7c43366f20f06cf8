//! What a web page can make a browser send to a developer's machine, and what a proxy passes on from outside: none of it is
//! answered, and nothing changes.

use orrery_attack::Arena;
use orrery_testing_client::EMULATOR_KEY;
use std::net::SocketAddr;

/// Headers of requests that a page of another site causes, by name rebinding or across origins.
const PAGES: &[&str] = &[
    "Host: evil.example\r\n",
    "Host: evil.example:8081\r\n",
    "Host: 127.0.0.1.evil.example\r\n",
    "Host: localhost.evil.example\r\n",
    "Host: 0.0.0.0\r\n",
    "Host: localhost\r\nHost: evil.example\r\n",
    "Host: localhost\r\nOrigin: https://evil.example\r\n",
    "Host: localhost\r\nOrigin: http://localhost:3000\r\n",
    "Host: localhost\r\nOrigin: null\r\n",
    "Host: localhost\r\nSec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\nSec-Fetch-Dest: image\r\n",
    "Host: localhost\r\nSec-Fetch-Site: same-site\r\nSec-Fetch-Mode: cors\r\nSec-Fetch-Dest: empty\r\n",
    "Host: localhost\r\nSec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: iframe\r\n",
];

/// What a page would like to read or do.
const WISHES: &[&str] = &[
    "GET / HTTP/1.1",
    "GET /dbs HTTP/1.1",
    "GET /metrics HTTP/1.1",
    "GET /v1/top HTTP/1.1",
    "GET /v1/clock HTTP/1.1",
    "POST /v1/clock HTTP/1.1",
    "OPTIONS /v1/clock HTTP/1.1",
    "PUT /v1/schemas/d/c HTTP/1.1",
];

/// Headers by which a proxy tells for whom it asks.
const PROXIES: &[&str] = &[
    "X-Forwarded-For: 203.0.113.9",
    "Forwarded: for=203.0.113.9",
    "Via: 1.1 edge",
    "X-Real-IP: 203.0.113.9",
];

pub fn attack(arena: &Arena) -> Result<(), String> {
    let mut server = arena.start(&["--clock", "manual"])?;
    let services = SocketAddr::from(([127, 0, 0, 1], server.ports().services));
    let clock = "GET /v1/clock HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    let before = body(&arena.ask(services, clock)?);
    for port in [server.cosmos(), services] {
        for wish in WISHES {
            for page in PAGES {
                // The published key is known to every page.
                let key = format!("x-api-key: {EMULATOR_KEY}\r\n");
                check(arena, port, &request(wish, &format!("{page}{key}"), "application/json"), &[400, 403])?;
            }
        }
    }
    for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"] {
        check(arena, services, &request("POST /v1/clock HTTP/1.1", "Host: localhost\r\n", kind), &[415])?;
    }
    for proxy in PROXIES {
        let headers = format!("Host: localhost\r\n{proxy}\r\n");
        for wish in WISHES.iter().filter(|wish| wish.contains("/v1/") || wish.contains("/metrics")) {
            check(arena, services, &request(wish, &headers, "application/json"), &[401])?;
        }
    }
    let after = body(&arena.ask(services, clock)?);
    if before != after {
        return Err(format!("the clock was moved: {before} became {after}"));
    }
    arena.check_well(&mut server)
}

fn request(wish: &str, headers: &str, kind: &str) -> String {
    let body = r#"{"advance_seconds":86400}"#;
    let length = body.len();
    format!(
        "{wish}\r\n{headers}Connection: close\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\r\n{body}"
    )
}

fn check(arena: &Arena, port: SocketAddr, request: &str, expected: &[u16]) -> Result<(), String> {
    let answer = arena.ask(port, request)?;
    let status =
        answer.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3)).and_then(|text| text.parse().ok());
    if status.is_some_and(|status| expected.contains(&status))
        && !answer.contains("access-control-allow-origin")
    {
        return Ok(());
    }
    Err(format!("expected one of {expected:?} for\n{request}\nbut was answered\n{answer}"))
}

fn body(answer: &str) -> String {
    answer.split_once("\r\n\r\n").map(|(_, body)| body.to_owned()).unwrap_or_default()
}
