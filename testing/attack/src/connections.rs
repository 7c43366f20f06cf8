//! More keep-alive connections than a listener takes, opened and left alone: new clients are served all the same, a client
//! that had shown its key keeps its connection, and the log and the metrics say what happened.

use orrery_attack::Arena;
use orrery_testing_client::{Connection, Method, Request};
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

const HEALTH: &[u8] = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
const SERVED_WITHIN: Duration = Duration::from_secs(20);

pub fn attack(arena: &Arena) -> Result<(), String> {
    let mut server = arena.start(&["--connections", "256"])?;
    let services = SocketAddr::from(([127, 0, 0, 1], server.ports().services));
    let cosmos = server.cosmos();
    let flood = arena.rounds(1_000, 10_000);
    arena.block_on(async {
        let account = Request::new(Method::Get, "").encode(&arena.signer());
        let mut client = Connection::connect(cosmos).await.map_err(|error| error.to_string())?;
        served(&mut client, &account).await?;
        let mut held = Vec::new();
        for number in 0..flood {
            for port in [cosmos, services] {
                held.push(idle(port, number).await?);
            }
            // This process has a limit of its own.
            if held.len() > 800 {
                held.drain(..200);
            }
        }
        served(&mut client, &account)
            .await
            .map_err(|error| format!("the client with a key lost its connection: {error}"))?;
        let mut other = Connection::connect(cosmos).await.map_err(|error| error.to_string())?;
        served(&mut other, &account).await.map_err(|error| format!("a new client is locked out: {error}"))
    })?;
    let metrics =
        arena.ask(services, "GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
    let evicted =
        metrics.lines().find(|line| line.starts_with("orrery_connections_evicted_total{port=\"cosmos\"}"));
    if evicted.is_none_or(|line| line.ends_with(" 0")) {
        return Err(format!("the metric does not tell of it: {evicted:?}"));
    }
    let log = server.whole_log();
    let lines = log.lines().filter(|line| line.contains("there is no room for more connections")).count();
    if lines == 0 || lines > 20 {
        return Err(format!("the log tells of it {lines} times"));
    }
    arena.check_well(&mut server)
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
