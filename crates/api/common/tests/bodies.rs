//! Bodies as they arrive: too large, too slow, broken off, unwanted.

mod support;

use http::{Request, Response, StatusCode};
use hyper::body::Incoming;
use orrery_api_common::{Body, BodyError, Options, Peer, body, discard_body, read_body};
use orrery_core::limits::BODY_SECONDS_MAX;
use std::time::Duration;
use support::{Server, http1, http2, post, read_answer, read_to_close};
use tokio::io::AsyncWriteExt;
use tokio::sync::mpsc;
use tokio::time::Instant;

const BYTES_MAX: usize = 100_000;

async fn count(request: Request<Incoming>, _: Peer) -> Response<Body> {
    let (status, text) = match read_body(request.into_body(), BYTES_MAX).await {
        Ok(bytes) => (StatusCode::OK, bytes.len().to_string()),
        Err(BodyError::TooLarge { bytes_max }) => (StatusCode::PAYLOAD_TOO_LARGE, bytes_max.to_string()),
        Err(BodyError::TooSlow) => (StatusCode::REQUEST_TIMEOUT, String::new()),
        Err(BodyError::NoRoom) => (StatusCode::SERVICE_UNAVAILABLE, String::new()),
        Err(BodyError::Broken(error)) => (StatusCode::BAD_REQUEST, error.to_string()),
    };
    let mut response = Response::new(body(text));
    *response.status_mut() = status;
    response
}

#[tokio::test]
async fn a_body_up_to_the_limit_is_read_and_a_larger_one_gets_an_answer() {
    let server = Server::start_with(Options::default(), count);
    let cases = [
        (0, StatusCode::OK),
        (1, StatusCode::OK),
        (BYTES_MAX, StatusCode::OK),
        (BYTES_MAX + 1, StatusCode::PAYLOAD_TOO_LARGE),
        // Much more than the socket's buffers hold, so an answer without reading on would be lost.
        (12 * 1024 * 1024, StatusCode::PAYLOAD_TOO_LARGE),
    ];
    for (length, expected) in cases {
        let mut client = http1(server.connect().await).await;
        let answer = client.send_request(post(vec![b'x'; length])).await.expect("an answer");
        assert_eq!(answer.status(), expected, "{length} over HTTP/1.1");
        let mut client = http2(server.connect_tls(&["h2"]).await).await;
        let answer = client.send_request(post(vec![b'x'; length])).await.expect("an answer");
        assert_eq!(answer.status(), expected, "{length} over HTTP/2");
    }
}

#[tokio::test]
async fn an_enormous_length_is_refused_before_the_body_comes() {
    let server = Server::start_with(Options::default(), count);
    let mut stream = server.connect().await;
    stream.write_all(b"POST / HTTP/1.1\r\ncontent-length: 99999999999\r\n\r\n").await.expect("sent");
    assert!(read_answer(&mut stream).await.starts_with("HTTP/1.1 413 "));
}

#[tokio::test]
async fn chunks_are_put_together() {
    let server = Server::start_with(Options::default(), count);
    let mut stream = server.connect().await;
    let request = b"POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";
    stream.write_all(request).await.expect("sent");
    assert!(read_answer(&mut stream).await.ends_with("\r\n\r\n5"));
}

#[tokio::test(start_paused = true)]
async fn a_body_that_stalls_is_too_slow() {
    let server = Server::start_with(Options::default(), count);
    let start = Instant::now();
    let mut stream = server.connect().await;
    stream.write_all(b"POST / HTTP/1.1\r\ncontent-length: 10\r\n\r\nhalf").await.expect("sent");
    let answer = read_answer(&mut stream).await;
    assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
    let limit = Duration::from_secs(BODY_SECONDS_MAX);
    assert!(start.elapsed() >= limit && start.elapsed() < limit * 2, "{:?}", start.elapsed());
}

#[tokio::test]
async fn a_body_that_breaks_off_is_broken() {
    let (sender, mut receiver) = mpsc::channel(1);
    let server = Server::start_with(Options::default(), move |request, _| {
        let sender = sender.clone();
        async move {
            let result = read_body(request.into_body(), BYTES_MAX).await;
            sender.send(result).await.expect("someone listens");
            Response::new(body(""))
        }
    });
    let mut stream = server.connect().await;
    stream.write_all(b"POST / HTTP/1.1\r\ncontent-length: 10\r\n\r\nhalf").await.expect("sent");
    stream.shutdown().await.expect("shut down");
    let result = receiver.recv().await.expect("a result");
    assert!(matches!(result, Err(BodyError::Broken(_))), "{result:?}");
    read_to_close(&mut stream).await;
}

#[tokio::test]
async fn a_body_nobody_wants_does_not_cost_the_answer() {
    let server = Server::start_with(Options::default(), |request: Request<Incoming>, _| async move {
        discard_body(request.into_body()).await;
        Response::new(body("no"))
    });
    let mut client = http1(server.connect().await).await;
    let answer = client.send_request(post(vec![b'x'; 12 * 1024 * 1024])).await.expect("an answer");
    assert_eq!(support::text(answer).await, "no");
    client.ready().await.expect("the connection is kept");
}
