//! Malformed input on every port: each request is answered with a client error or its connection is closed, and the server
//! goes on.

use orrery_attack::Arena;
use orrery_testing_client::{Method, Request};
use orrery_testing_golden::Noise;
use std::net::SocketAddr;

/// Requests that are wrong in a way somebody thought of.
const SAMPLES: &[&[u8]] = &[
    b"",
    b"\r\n\r\n",
    b"GET\r\n\r\n",
    b"GET / HTTP/9.9\r\n\r\n",
    b"GET / HTTP/1.1\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
    b"GET /\0 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    b"GET /%zz/%00 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    b"GET /dbs/%2e%2e/%2e%2e/etc/passwd HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    b"POST /dbs HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: -1\r\n\r\n",
    b"POST /dbs HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
    b"POST /dbs HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 99999999999999999999\r\n\r\n{}",
    b"POST /dbs HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    b"POST /dbs HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFF\r\n",
    b"POST /dbs HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\n{\"id\":",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\xff\xff\xff\xff\xff\xff\xff\xff\xff",
    b"\x16\x03\x01\xff\xff\x01\x00",
];

/// Bodies that no route should take as an item.
const BODIES: &[&str] = &[
    "",
    "null",
    "[]",
    "{",
    "{\"id\":1}",
    "{\"id\":\"\"}",
    "{\"id\":\"a\",\"id\":\"b\",\"pk\":\"p\"}",
    "{\"id\":\"a/b\",\"pk\":\"p\"}",
    "{\"id\":\"a\",\"pk\":\"p\",\"n\":1e999}",
    "{\"id\":\"a\",\"pk\":\"p\",\"n\":NaN}",
];

pub fn requests(arena: &Arena) -> Result<(), String> {
    let mut server = arena.start(&[])?;
    let services = SocketAddr::from(([127, 0, 0, 1], server.ports().services));
    let ports = [server.cosmos(), services, server.queue(), server.table()];
    for port in ports {
        for sample in SAMPLES {
            check_refused(arena, port, sample)?;
        }
    }
    let sample = Request::new(Method::Get, "dbs/a/colls/b/docs/c").partition("p").encode(&arena.signer());
    let mut noise = Noise::new(21);
    for round in 0..arena.rounds(300, 20_000) {
        let damaged = noise.damage(&sample);
        check_refused(arena, ports[round % ports.len()], &damaged)?;
    }
    arena.check_well(&mut server)
}

pub fn bodies(arena: &Arena) -> Result<(), String> {
    let mut server = arena.start(&[])?;
    let mut caller = arena.caller(&server);
    let container = caller.make_items(1)?;
    let refuse = |reply: orrery_testing_client::OwnedReply, body: &[u8]| match reply.status {
        400..=499 => Ok(()),
        status => Err(format!("a body was answered with {status}: {}", String::from_utf8_lossy(body))),
    };
    let deep = format!("{{\"id\":\"a\",\"pk\":\"p\",\"deep\":{}", "[".repeat(1_000_000));
    for body in BODIES.iter().copied().chain([deep.as_str()]) {
        refuse(caller.call(&container.create("p", body))?, &body.as_bytes()[..body.len().min(100)])?;
    }
    let mut noise = Noise::new(22);
    let sample = br#"{"query":"SELECT TOP 3 c.id FROM c WHERE c.n > @a ORDER BY c.n","parameters":[{"name":"@a","value":1}]}"#;
    for _ in 0..arena.rounds(300, 20_000) {
        let damaged = noise.damage(sample);
        let query = Request::new(Method::Post, container.items())
            .partition("p")
            .header("x-ms-documentdb-isquery", "true")
            .body(damaged.clone());
        // Most damage leaves a query that is valid or wrong; none may be the server's fault.
        let status = caller.call(&query)?.status;
        if status >= 500 {
            return Err(format!("a query was answered with {status}: {}", String::from_utf8_lossy(&damaged)));
        }
    }
    arena.check_well(&mut server)
}

/// The server may answer with an error of the client's or close the connection; it may not blame itself.
fn check_refused(arena: &Arena, port: SocketAddr, bytes: &[u8]) -> Result<(), String> {
    let shown = || String::from_utf8_lossy(bytes).into_owned();
    let answer = arena.raw(port, bytes).map_err(|error| format!("{error}: {}", shown()))?;
    let status = answer.strip_prefix(b"HTTP/1.1 ").and_then(|rest| rest.first());
    match status {
        Some(b'5') => Err(format!("{} for {}", String::from_utf8_lossy(&answer), shown())),
        _ => Ok(()),
    }
}
