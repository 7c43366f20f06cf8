//! What a stop does to the port, to idle connections and to requests in flight.

mod support;

use http::{Request, Response};
use hyper::body::Incoming;
use orrery_api_common::limits::STOP_SECONDS_MAX;
use orrery_api_common::{Body, Options, Peer, body};
use std::future::{Future, pending};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use support::{GET, Server, http2, post, read_answer, read_to_close, text};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::time::Instant;

/// A server whose requests say that they have begun and end only when told to.
struct Held {
    server: Server,
    begun: Arc<Notify>,
    finish: Arc<Notify>,
}

impl Held {
    fn start() -> Self {
        let (begun, finish) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let service = hold(begun.clone(), finish.clone());
        Self { server: Server::start_with(Options::default(), service), begun, finish }
    }
}

type Answer = Pin<Box<dyn Future<Output = Response<Body>> + Send>>;

fn hold(begun: Arc<Notify>, finish: Arc<Notify>) -> impl Fn(Request<Incoming>, Peer) -> Answer {
    move |_, _| {
        let (begun, finish) = (begun.clone(), finish.clone());
        Box::pin(async move {
            begun.notify_one();
            finish.notified().await;
            Response::new(body("finished"))
        })
    }
}

/// The stop has taken hold when the port refuses.
async fn wait_until_refused(server: &Server) {
    while TcpStream::connect(server.addr).await.is_ok() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn an_http1_request_in_flight_is_finished_and_told_that_the_connection_closes() {
    let held = Held::start();
    let mut stream = held.server.connect().await;
    stream.write_all(GET).await.expect("sent");
    held.begun.notified().await;
    held.server.stop.stop();
    wait_until_refused(&held.server).await;
    assert!(!held.server.serving.is_finished());
    held.finish.notify_one();
    let answer = read_to_close(&mut stream).await;
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.ends_with("finished"), "{answer}");
    assert!(answer.contains("connection: close\r\n"), "{answer}");
    held.server.serving.await.expect("serve returns");
}

#[tokio::test]
async fn an_http2_request_in_flight_is_finished_and_no_other_begins() {
    let held = Held::start();
    let mut client = http2(held.server.connect_tls(&["h2"]).await).await;
    let mut other = client.clone();
    let answer = tokio::spawn(async move { client.send_request(post("")).await });
    held.begun.notified().await;
    held.server.stop.stop();
    wait_until_refused(&held.server).await;
    held.finish.notify_one();
    let answer = answer.await.expect("no panic").expect("an answer");
    assert_eq!(text(answer).await, "finished");
    held.server.serving.await.expect("serve returns");
    assert!(other.send_request(post("")).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn idle_and_unused_connections_are_closed_at_once() {
    let server = Server::start(Options::default());
    let mut kept = server.connect().await;
    kept.write_all(GET).await.expect("sent");
    read_answer(&mut kept).await;
    let mut unused = server.connect().await;
    let mut client = http2(server.connect().await).await;
    client.send_request(post("")).await.expect("an answer");
    let start = Instant::now();
    server.stop.stop();
    server.serving.await.expect("serve returns");
    assert_eq!(read_to_close(&mut kept).await, "");
    assert_eq!(read_to_close(&mut unused).await, "");
    assert!(start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_request_that_never_ends_is_cut_when_the_time_is_over() {
    let begun = Arc::new(Notify::new());
    let server = Server::start_with(Options::default(), hold(begun.clone(), Arc::new(Notify::new())));
    let mut stream = server.connect().await;
    stream.write_all(GET).await.expect("sent");
    begun.notified().await;
    let start = Instant::now();
    server.stop.stop();
    server.serving.await.expect("serve returns");
    let after = start.elapsed();
    let limit = Duration::from_secs(STOP_SECONDS_MAX);
    assert!(after >= limit && after < limit + Duration::from_secs(1), "{after:?}");
    assert_eq!(read_to_close(&mut stream).await, "");
}

#[tokio::test]
async fn a_stop_before_the_start_serves_nobody() {
    let server = Server::start_with(Options::default(), |_, _| pending::<Response<Body>>());
    server.stop.stop();
    server.serving.await.expect("serve returns");
}

#[tokio::test]
async fn a_handler_that_panics_ends_its_own_connection_only() {
    let server = Server::start_with(Options::default(), |request, peer| async move {
        assert_ne!(request.uri().path(), "/panic", "a panic on purpose");
        support::echo(request, peer).await
    });
    let mut stream = server.connect().await;
    stream.write_all(b"GET /panic HTTP/1.1\r\n\r\n").await.expect("sent");
    assert_eq!(read_to_close(&mut stream).await, "");
    server.assert_well().await;
    server.stop.stop();
    server.serving.await.expect("the connection's place is free again");
}
