//! More connections than there is room for: which give way, which stay, and what a new client notices.

mod support;

use http::{Request, Response};
use hyper::body::Incoming;
use orrery_api_common::{Body, Listener, Options, Peer, Stop};
use std::net::SocketAddr;
use std::sync::Arc;
use support::{GET, Server, read_answer, read_to_close};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::sync::Notify;

const KEYED: &[u8] = b"GET /keyed HTTP/1.1\r\nhost: localhost\r\n\r\n";

/// A path stands in for a credential.
async fn service(request: Request<Incoming>, peer: Peer) -> Response<Body> {
    if request.uri().path() == "/keyed" {
        peer.confirm();
    }
    support::echo(request, peer).await
}

fn start(connections_max: u32) -> Server {
    Server::start_with(Options { connections_max, ..Options::default() }, service)
}

async fn is_served(stream: &mut TcpStream, request: &[u8]) -> bool {
    stream.write_all(request).await.is_ok() && read_answer(stream).await.starts_with("HTTP/1.1 200 OK\r\n")
}

#[tokio::test]
async fn an_idle_connection_gives_way_to_a_new_one() {
    let server = start(2);
    let (mut oldest, mut newer) = (server.connect().await, server.connect().await);
    assert!(is_served(&mut oldest, GET).await && is_served(&mut newer, GET).await);
    let mut new = server.connect().await;
    assert!(is_served(&mut new, GET).await, "it is served without waiting for a timeout");
    assert_eq!(read_to_close(&mut oldest).await, "", "the one that waited longest was closed");
    assert!(is_served(&mut newer, GET).await);
}

#[tokio::test]
async fn a_client_with_a_credential_outlasts_a_flood_and_new_ones_get_in() {
    let server = start(16);
    let mut client = server.connect().await;
    assert!(is_served(&mut client, KEYED).await);
    let mut flood = Vec::new();
    for _ in 0..100 {
        flood.push(server.connect().await);
    }
    let mut silent = server.connect().await;
    assert!(is_served(&mut silent, GET).await);
    assert!(is_served(&mut client, KEYED).await, "its connection was kept");
    let mut other = server.connect().await;
    assert!(is_served(&mut other, KEYED).await);
}

#[tokio::test]
async fn connections_are_counted() {
    let options = Options { connections_max: 8, ..Options::default() };
    let any = SocketAddr::from(([127, 0, 0, 1], 0));
    let listener = Listener::bind_with(any, None, options).expect("a free port");
    let (addr, counts, stop) = (listener.local_addr().expect("bound"), listener.counts(), Stop::new());
    let serving = tokio::spawn(listener.serve(service, stop.clone()));
    let mut held = Vec::new();
    for request in [GET, KEYED, GET, GET, GET, GET, GET, GET, GET, GET] {
        let mut stream = TcpStream::connect(addr).await.expect("the port accepts");
        assert!(is_served(&mut stream, request).await);
        held.push(stream);
    }
    assert_eq!((counts.open(), counts.confirmed()), (8, 1));
    assert_eq!((counts.evicted(), counts.held_back()), (2, 2));
    drop(held);
    stop.stop();
    serving.await.expect("returns");
    assert_eq!((counts.open(), counts.confirmed()), (0, 0));
}

#[tokio::test]
async fn a_port_may_be_open_on_several_addresses() {
    let any = SocketAddr::from(([127, 0, 0, 1], 0));
    let mut listener = Listener::bind(any, None).expect("a free port");
    let port = listener.local_addr().expect("bound").port();
    let second = SocketAddr::from(([127, 0, 0, 2], port));
    listener.bind_also(second).expect("free as well");
    let stop = Stop::new();
    let serving = tokio::spawn(listener.serve(service, stop.clone()));
    for host in [[127, 0, 0, 1], [127, 0, 0, 2]] {
        let mut stream = TcpStream::connect(SocketAddr::from((host, port))).await.expect("the port accepts");
        assert!(is_served(&mut stream, GET).await, "{host:?}");
    }
    stop.stop();
    serving.await.expect("returns");
}

#[tokio::test]
async fn a_connection_too_many_waits_while_none_can_give_way() {
    let (begun, finish) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (tell, wait) = (begun.clone(), finish.clone());
    let hold = move |request: Request<Incoming>, peer: Peer| {
        let (tell, wait) = (tell.clone(), wait.clone());
        async move {
            tell.notify_one();
            wait.notified().await;
            support::echo(request, peer).await
        }
    };
    let server = Server::start_with(Options { connections_max: 1, ..Options::default() }, hold);
    let mut first = server.connect().await;
    first.write_all(GET).await.expect("sent");
    begun.notified().await;
    let mut second = server.connect().await;
    second.write_all(GET).await.expect("sent");
    for _ in 0..100 {
        tokio::task::yield_now().await;
        assert!(second.try_read(&mut [0]).is_err(), "the second connection is not served yet");
    }
    finish.notify_one();
    assert!(read_answer(&mut first).await.starts_with("HTTP/1.1 200 OK\r\n"));
    finish.notify_one();
    assert!(read_answer(&mut second).await.starts_with("HTTP/1.1 200 OK\r\n"));
}
