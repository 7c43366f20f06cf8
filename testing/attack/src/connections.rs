//! More keep-alive connections than a listener takes, opened and left alone: new clients are served all the same, a client
//! that had shown its key keeps its connection, and the log and the metrics say what happened.

use orrery_attack::Arena;
use orrery_testing_client::{Connection, Method, Request, ServerProcess, StorageRequest, StorageService};
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

const HEALTH: &[u8] = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
/// Connections that each port takes.
const LIMIT: &[&str] = &["--connections", "256"];
const SERVED_WITHIN: Duration = Duration::from_secs(20);

/// A port, and a request that its clients show their key with.
struct Flooded {
    name: &'static str,
    port: SocketAddr,
    request: Vec<u8>,
}

pub fn attack(arena: &Arena) -> Result<(), String> {
    let server = arena.start(LIMIT)?;
    let request = Request::new(Method::Get, "").encode(&arena.signer());
    let flooded = [Flooded { name: "cosmos", port: server.cosmos(), request }];
    let services = SocketAddr::from(([127, 0, 0, 1], server.ports().services));
    flood(arena, server, &flooded, Some(services))
}

pub fn storage(arena: &Arena) -> Result<(), String> {
    let server = arena.start(LIMIT)?;
    let list = |service| {
        let list = StorageRequest::new(service, Method::Get, "");
        list.parameter("restype", "service").parameter("comp", "properties").encode(arena.now())
    };
    let flooded = [
        Flooded { name: "queue", port: server.queue(), request: list(StorageService::Queue) },
        Flooded { name: "table", port: server.table(), request: list(StorageService::Table) },
    ];
    flood(arena, server, &flooded, None)
}

fn flood(
    arena: &Arena,
    mut server: ServerProcess,
    flooded: &[Flooded],
    also: Option<SocketAddr>,
) -> Result<(), String> {
    let rounds = arena.rounds(1_000, 10_000);
    arena.block_on(async {
        let mut clients = Vec::new();
        for one in flooded {
            let mut client = Connection::connect(one.port).await.map_err(|error| error.to_string())?;
            served(&mut client, &one.request).await?;
            clients.push(client);
        }
        let mut held = Vec::new();
        for number in 0..rounds {
            for port in flooded.iter().map(|one| one.port).chain(also) {
                held.push(idle(port, number).await?);
            }
            // This process has a limit of its own.
            if held.len() > 800 {
                held.drain(..200);
            }
        }
        for (one, client) in flooded.iter().zip(&mut clients) {
            let name = one.name;
            served(client, &one.request)
                .await
                .map_err(|error| format!("the client of {name} with a key lost its connection: {error}"))?;
            let mut other = Connection::connect(one.port).await.map_err(|error| error.to_string())?;
            let other = served(&mut other, &one.request).await;
            other.map_err(|error| format!("a new client of {name} is locked out: {error}"))?;
        }
        Ok::<_, String>(())
    })?;
    flooded.iter().try_for_each(|one| check_metric(arena, &server, one.name))?;
    let log = server.whole_log();
    let lines = log.lines().filter(|line| line.contains("there is no room for more connections")).count();
    if lines == 0 || lines > 20 * flooded.len() {
        return Err(format!("the log tells of it {lines} times"));
    }
    arena.check_well(&mut server)
}

fn check_metric(arena: &Arena, server: &ServerProcess, name: &str) -> Result<(), String> {
    let services = SocketAddr::from(([127, 0, 0, 1], server.ports().services));
    let ask = "GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    let metrics = arena.ask(services, ask)?;
    let evicted = format!("orrery_connections_evicted_total{{port=\"{name}\"}}");
    let evicted = metrics.lines().find(|line| line.starts_with(&evicted));
    match evicted {
        Some(line) if !line.ends_with(" 0") => Ok(()),
        _ => Err(format!("the metric does not tell of it: {evicted:?}")),
    }
}

/// A connection that asked once, or not at all, and does nothing more.
async fn idle(port: SocketAddr, number: usize) -> Result<TcpStream, String> {
    let mut stream = TcpStream::connect(port).await.map_err(|error| error.to_string())?;
    if number.is_multiple_of(2) {
        // It may have been closed for another one already.
        if stream.write_all(HEALTH).await.is_ok() {
            let _ = timeout(SERVED_WITHIN, stream.read_u8())
                .await
                .map_err(|_| "a new connection is not served")?;
        }
    }
    Ok(stream)
}

async fn served(connection: &mut Connection, request: &[u8]) -> Result<(), String> {
    let reply = timeout(SERVED_WITHIN, connection.exchange(request)).await;
    let reply = reply.map_err(|_| "no answer in time".to_owned())?.map_err(|error| error.to_string())?;
    if reply.status == 200 { Ok(()) } else { Err(format!("status {}", reply.status)) }
}
