//! One port, four ways to speak to it.

mod support;

use orrery_api_common::Options;
use support::{Server, http1, http2, post, text};

#[tokio::test]
async fn clear_text_http1_is_served_and_the_connection_kept() {
    let server = Server::start(Options::default());
    let mut client = http1(server.connect().await).await;
    for body in ["one", "two", ""] {
        client.ready().await.expect("still open");
        let answer = client.send_request(post(body)).await.expect("an answer");
        assert_eq!(text(answer).await, format!("http HTTP/1.1 POST /items {body}"));
    }
}

#[tokio::test]
async fn clear_text_http2_with_prior_knowledge_is_served() {
    let server = Server::start(Options::default());
    let mut client = http2(server.connect().await).await;
    let answer = client.send_request(post("a body")).await.expect("an answer");
    assert_eq!(text(answer).await, "http HTTP/2.0 POST /items a body");
}

#[tokio::test]
async fn tls_with_alpn_speaks_http2() {
    let server = Server::start(Options::default());
    let stream = server.connect_tls(&["h2", "http/1.1"]).await;
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
    let mut client = http2(stream).await;
    let answer = client.send_request(post("a body")).await.expect("an answer");
    assert_eq!(text(answer).await, "https HTTP/2.0 POST /items a body");
}

#[tokio::test]
async fn tls_speaks_http1_to_clients_that_ask_for_it_or_for_nothing() {
    let server = Server::start(Options::default());
    for alpn in [&["http/1.1"][..], &[]] {
        let stream = server.connect_tls(alpn).await;
        assert_eq!(stream.get_ref().1.alpn_protocol(), alpn.first().map(|name| name.as_bytes()));
        let mut client = http1(stream).await;
        let answer = client.send_request(post("a body")).await.expect("an answer");
        assert_eq!(text(answer).await, "https HTTP/1.1 POST /items a body");
    }
}

#[tokio::test]
async fn many_requests_share_one_http2_connection() {
    let server = Server::start(Options::default());
    let client = http2(server.connect_tls(&["h2"]).await).await;
    let requests = (0..200).map(|n| {
        let mut client = client.clone();
        tokio::spawn(async move {
            let answer = client.send_request(post(n.to_string())).await.expect("an answer");
            assert_eq!(text(answer).await, format!("https HTTP/2.0 POST /items {n}"));
        })
    });
    for request in requests.collect::<Vec<_>>() {
        request.await.expect("answered");
    }
}
