//! What the ports of storage ask of a listener: names of headers as they were written, and pages of other origins left to the
//! protocol.

mod support;

use http::{Request, Response};
use hyper::body::Incoming;
use orrery_api_common::{
    Body, CorsRules, ForeignPage, Options, Peer, WebGuard, body, read_body, spell_headers, spelled_headers,
};
use support::{Server, http2, read_answer, text};
use tokio::io::AsyncWriteExt;

/// Gives the metadata back, with the letters that they came with, and says what marks the request has.
async fn give_back(request: Request<Incoming>, _: Peer) -> Response<Body> {
    let (head, incoming) = request.into_parts();
    let metadata = spelled_headers(&head, "x-ms-meta-");
    read_body(incoming, 1024).await.expect("a small body");
    let names: Vec<&str> = metadata.iter().map(|(name, _)| name.as_str()).collect();
    let mark = if head.extensions.get::<ForeignPage>().is_some() { "foreign" } else { "direct" };
    let mut response = Response::new(body(format!("{} {mark}", names.join(","))));
    for (name, value) in &metadata {
        response.headers_mut().insert(http::HeaderName::try_from(name).expect("a name"), value.clone());
    }
    spell_headers(&mut response, &names);
    response
}

fn options(origins: &[&str]) -> Options {
    let origins: Vec<String> = origins.iter().map(|&origin| origin.to_owned()).collect();
    let rules = CorsRules::parse(&origins).expect("origins");
    let guard = WebGuard::new(true, Vec::new(), rules).with_rules_of_protocol();
    Options { keeps_spelling: true, guard: Some(guard), ..Options::default() }
}

async fn answers(server: &Server, requests: &[&str]) -> Vec<String> {
    let mut stream = server.connect().await;
    stream.write_all(requests.concat().as_bytes()).await.expect("sent");
    let mut answers = Vec::new();
    for _ in requests {
        answers.push(read_answer(&mut stream).await);
    }
    answers
}

#[tokio::test]
async fn names_of_metadata_keep_their_letters_on_the_way_in_and_out() {
    let server = Server::start_with(options(&[]), give_back);
    let first = "PUT /a HTTP/1.1\r\nhost: localhost\r\nX-Ms-Meta-Foo: bar\r\nx-ms-meta-fooBar_2: x-ms-meta-FOO: 1\r\n\
                 content-length: 26\r\n\r\nx-ms-meta-FOO: no\r\n\r\n12345";
    // The next head on the connection, and the body before it, have nothing to do with each other.
    let second = "PUT /b HTTP/1.1\r\nhost: localhost\r\nx-ms-meta-foo: bar\r\ntransfer-encoding: chunked\r\n\r\n\
                  13\r\nx-ms-meta-FoO: no\r\n\r\n0\r\n\r\n";
    let third = "GET /c HTTP/1.1\r\nhost: localhost\r\n\r\n";
    let found = answers(&server, &[first, second, third]).await;
    assert!(found[0].contains("\r\nX-Ms-Meta-Foo: bar\r\n"), "{}", found[0]);
    assert!(found[0].contains("\r\nx-ms-meta-fooBar_2: x-ms-meta-FOO: 1\r\n"), "{}", found[0]);
    assert!(found[0].ends_with("X-Ms-Meta-Foo,x-ms-meta-fooBar_2 direct"), "{}", found[0]);
    assert!(
        found[1].contains("\r\nx-ms-meta-foo: bar\r\n") && found[1].ends_with("x-ms-meta-foo direct"),
        "{}",
        found[1]
    );
    assert!(found[2].ends_with("\r\n\r\n direct"), "{}", found[2]);
}

#[tokio::test]
async fn over_http2_names_are_in_lower_case() {
    let server = Server::start_with(options(&[]), give_back);
    let mut client = http2(server.connect().await).await;
    let request = Request::put("http://localhost/a").header("x-ms-meta-Foo", "bar");
    let request = request.body(http_body_util::Full::default()).expect("a request");
    let answer = client.send_request(request).await.expect("an answer");
    assert_eq!(answer.headers()["x-ms-meta-foo"], "bar");
    assert_eq!(text(answer).await, "x-ms-meta-foo direct");
}

#[tokio::test]
async fn a_listener_that_does_not_keep_letters_gives_names_in_lower_case() {
    let server = Server::start_with(Options { keeps_spelling: false, ..options(&[]) }, give_back);
    let request = "GET /a HTTP/1.1\r\nhost: localhost\r\nX-Ms-Meta-Foo: bar\r\n\r\n";
    assert!(answers(&server, &[request]).await[0].ends_with("x-ms-meta-foo direct"));
}

#[tokio::test]
async fn pages_of_other_origins_are_marked_for_the_protocol_and_foreign_names_refused() {
    let server = Server::start_with(options(&["http://localhost:3000"]), give_back);
    let request = |lines: &str| format!("GET /a HTTP/1.1\r\n{lines}\r\n\r\n");
    let found = answers(
        &server,
        &[
            &request("host: acct.queue.localhost:10001"),
            &request("host: localhost\r\norigin: https://evil.example"),
            &request("host: localhost\r\nsec-fetch-site: cross-site"),
            &request("host: localhost\r\norigin: http://localhost:3000"),
            &request("host: evil.example\r\norigin: http://evil.example"),
        ],
    )
    .await;
    assert!(found[0].ends_with(" direct"), "{}", found[0]);
    assert!(found[1].ends_with(" foreign") && found[2].ends_with(" foreign"), "{found:?}");
    assert!(found[3].contains("access-control-allow-origin: http://localhost:3000"), "{}", found[3]);
    assert!(found[4].starts_with("HTTP/1.1 403 "), "{}", found[4]);
}
