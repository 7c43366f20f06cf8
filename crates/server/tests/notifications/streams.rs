//! A live stream over a socket: told, cut, resumed with `Last-Event-ID`, over a restart too.

use crate::asking::{ended, event, start_awake, with_key};
use crate::server::Server;
use orrery_testing_client::EMULATOR_KEY;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

struct Reader {
    socket: TcpStream,
    text: String,
}

impl Reader {
    async fn open(server: &Server, last: Option<&str>) -> Self {
        let mut socket = TcpStream::connect(server.services).await.unwrap();
        let last = last.map(|last| format!("last-event-id: {last}\r\n")).unwrap_or_default();
        let head = format!(
            "GET /v1/users/ann/notifications/stream HTTP/1.1\r\nhost: localhost\r\nx-api-key: {EMULATOR_KEY}\r\n{last}\r\n"
        );
        socket.write_all(head.as_bytes()).await.unwrap();
        Self { socket, text: String::new() }
    }

    /// Everything that came, once this is in it. Chunks are sent whole, so their lengths stand between lines.
    async fn until(&mut self, fragment: &str) -> &str {
        while !self.text.contains(fragment) {
            let mut piece = [0; 4096];
            let read = timeout(Duration::from_secs(60), self.socket.read(&mut piece)).await.unwrap().unwrap();
            assert!(read > 0, "the stream ended without {fragment}: {}", self.text);
            self.text.push_str(std::str::from_utf8(&piece[..read]).unwrap());
        }
        &self.text
    }
}

/// The last place that was told.
fn place(text: &str) -> String {
    text.lines().filter_map(|line| line.strip_prefix("id: ")).next_back().unwrap().to_owned()
}

async fn send(server: &Server, target: &str) -> String {
    let sent = with_key(server, "POST", "/v1/notifications/events", &event("ann", target)).await;
    let id = sent.body[0]["id"].as_str().unwrap().to_owned();
    ended(server, &id, "ann").await;
    id
}

#[tokio::test]
async fn a_reader_that_comes_back_misses_nothing_not_even_over_a_restart() {
    let here = tempfile::tempdir().unwrap();
    let data = here.path().join("data");
    let server = start_awake(&data, &[]);
    let mut reader = Reader::open(&server, None).await;
    let opened = reader.until("event: ready").await;
    assert!(opened.contains("content-type: text/event-stream"), "{opened}");
    let first = send(&server, "p").await;
    let seen = reader.until(&format!("\"id\":\"{first}\"")).await.to_owned();
    // The frame is one write, and its id comes before its data.
    let place = place(&seen);
    drop(reader);
    let missed = send(&server, "q").await;
    server.stop();
    let server = start_awake(&data, &[]);
    let mut reader = Reader::open(&server, Some(&place)).await;
    let told = reader.until(&format!("\"id\":\"{missed}\"")).await;
    assert!(!told.contains(&format!("\"id\":\"{first}\"")), "what was told is not told again: {told}");
    server.stop();
}
