//! Clients that are slow, idle, too big, too many or not speaking HTTP at all.
//!
//! The tests about time run on a paused clock, which jumps to the next timer whenever everyone waits, be it for
//! bytes that are on their way. So each has no timer that matters but the one it is about.

mod support;

use http::{Request, StatusCode, Version};
use http_body_util::Full;
use orrery_api_common::limits::{HEAD_SECONDS_MAX, HEADERS_MAX, IDLE_SECONDS_MAX};
use orrery_api_common::{Listener, Options, Stop};
use orrery_core::limits::HEAD_BYTES_MAX;
use std::time::Duration;
use support::{GET, Server, http2, read_answer, read_to_close};
use tokio::io::AsyncWriteExt;
use tokio::time::{Instant, sleep};

const HEAD: Duration = Duration::from_secs(HEAD_SECONDS_MAX);
const IDLE: Duration = Duration::from_secs(IDLE_SECONDS_MAX);

/// Sends the bytes and says how long the connection then lives and what comes back.
async fn send_and_wait(server: &Server, bytes: &[u8]) -> (Duration, String) {
    let start = Instant::now();
    let mut stream = server.connect().await;
    stream.write_all(bytes).await.expect("sent");
    let answer = read_to_close(&mut stream).await;
    (start.elapsed(), answer)
}

fn assert_about(actual: Duration, expected: Duration) {
    let slack = Duration::from_millis(200);
    assert!(actual + slack >= expected && actual <= expected + slack, "{actual:?}, not {expected:?}");
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_does_not_get_to_a_request_is_cut() {
    let server = Server::start(Options::default());
    let half_a_handshake = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03";
    for start in [&b""[..], b"GET /hel", &GET[..GET.len() - 2], b"PRI * HT", half_a_handshake] {
        let (after, answer) = send_and_wait(&server, start).await;
        assert_about(after, HEAD);
        assert_eq!(answer, "");
    }
}

#[tokio::test(start_paused = true)]
async fn a_head_that_arrives_byte_by_byte_is_cut_all_the_same() {
    let server = Server::start(Options::default());
    let start = Instant::now();
    let (mut reader, mut writer) = server.connect().await.into_split();
    tokio::spawn(async move {
        for byte in GET {
            sleep(Duration::from_secs(2)).await;
            if writer.write_all(&[*byte]).await.is_err() {
                return;
            }
        }
    });
    tokio::io::copy(&mut reader, &mut tokio::io::sink()).await.ok();
    assert_about(start.elapsed(), HEAD);
}

#[tokio::test(start_paused = true)]
async fn an_idle_connection_is_kept_for_minutes_and_then_closed() {
    let server = Server::start(Options::default());
    let mut stream = server.connect().await;
    for _ in 0..3 {
        stream.write_all(GET).await.expect("sent");
        assert!(read_answer(&mut stream).await.contains("GET /hello"));
        sleep(IDLE - Duration::from_secs(1)).await;
    }
    let start = Instant::now();
    assert_eq!(read_to_close(&mut stream).await, "");
    assert_about(start.elapsed(), Duration::from_secs(1));
}

#[tokio::test(start_paused = true)]
async fn a_stalled_head_on_a_kept_connection_is_cut_early() {
    let server = Server::start(Options::default());
    let mut stream = server.connect().await;
    stream.write_all(GET).await.expect("sent");
    read_answer(&mut stream).await;
    sleep(HEAD * 3).await;
    let start = Instant::now();
    stream.write_all(b"GET /ag").await.expect("sent");
    assert_eq!(read_to_close(&mut stream).await, "");
    assert_about(start.elapsed(), HEAD);
}

#[tokio::test(start_paused = true)]
async fn an_http2_client_that_answers_no_pings_is_cut() {
    let server = Server::start(Options::default());
    let empty_settings = [0, 0, 0, 4, 0, 0, 0, 0, 0];
    let preface = [&b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"[..], &empty_settings].concat();
    let (after, _) = send_and_wait(&server, &preface).await;
    assert!(after > HEAD && after < IDLE, "{after:?}");
}

#[tokio::test]
async fn bytes_that_are_not_http_are_answered_or_dropped_and_harm_nobody() {
    let server = Server::start(Options::default());
    for garbage in [
        &b"\0\0\0\0\r\n\r\n"[..],
        b"hello\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET / HTTP/1.1\r\n:\r\n\r\n",
    ] {
        let (_, answer) = send_and_wait(&server, garbage).await;
        assert!(answer.starts_with("HTTP/1.1 400 Bad Request\r\n"), "{answer:?}");
    }
    let not_really_tls = b"\x16\x03\x01\x00\x04\xff\xff\xff\xff";
    let not_really_http2 = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff";
    for garbage in [&not_really_tls[..], not_really_http2] {
        let (_, answer) = send_and_wait(&server, garbage).await;
        assert!(!answer.contains("HTTP/1.1"), "{answer:?}");
    }
    server.assert_well().await;
}

#[tokio::test]
async fn any_bytes_at_all_leave_the_server_well() {
    let server = Server::start(Options::default());
    let mut seed = 0x9e37_79b9_u32;
    for round in 0..200 {
        let mut bytes =
            if round % 2 == 0 { GET.to_vec() } else { b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec() };
        for _ in 0..=round % 40 {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let at = (seed >> 8) as usize % bytes.len();
            bytes.insert(at, (seed >> 24) as u8);
        }
        let mut stream = server.connect().await;
        stream.write_all(&bytes).await.expect("sent");
        stream.shutdown().await.ok();
        read_to_close(&mut stream).await;
    }
    server.assert_well().await;
}

#[tokio::test]
async fn a_head_that_is_too_large_is_refused() {
    let server = Server::start(Options::default());
    let head = |length: usize| {
        format!("GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\na: {}\r\n\r\n", "b".repeat(length))
    };
    let (_, answer) = send_and_wait(&server, head(HEAD_BYTES_MAX / 2).as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer:?}");
    let (_, answer) = send_and_wait(&server, &head(HEAD_BYTES_MAX).as_bytes()[..HEAD_BYTES_MAX]).await;
    assert!(answer.starts_with("HTTP/1.1 431 "), "{answer:?}");
    server.assert_well().await;
}

#[tokio::test]
async fn too_many_headers_are_refused_over_http1() {
    let server = Server::start(Options::default());
    let head = |count: usize| {
        let others: String = (0..count - 1).map(|n| format!("x-{n}: y\r\n")).collect();
        format!("GET / HTTP/1.1\r\nconnection: close\r\n{others}\r\n")
    };
    let (_, answer) = send_and_wait(&server, head(HEADERS_MAX).as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer:?}");
    let (_, answer) = send_and_wait(&server, head(HEADERS_MAX + 1).as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 431 "), "{answer:?}");
}

#[tokio::test]
async fn too_many_or_too_large_headers_are_refused_over_http2() {
    let server = Server::start(Options::default());
    let mut client = http2(server.connect().await).await;
    let request = |count: usize, value: &str| {
        let start = Request::get("http://localhost/").version(Version::HTTP_2);
        let headers = (0..count).fold(start, |request, n| request.header(format!("x-{n}"), value));
        headers.body(Full::default()).expect("a request")
    };
    let mut status = async |count, value: &str| {
        client.send_request(request(count, value)).await.map(|answer| answer.status())
    };
    assert_eq!(status(HEADERS_MAX, "y").await.expect("an answer"), StatusCode::OK);
    let too_many = status(HEADERS_MAX + 1, "y").await.expect("an answer");
    assert_eq!(too_many, StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE);
    let too_large = status(2, &"y".repeat(HEAD_BYTES_MAX / 2)).await;
    assert!(!matches!(too_large, Ok(StatusCode::OK)), "{too_large:?}");
    server.assert_well().await;
}

#[tokio::test]
async fn a_tls_client_is_refused_where_tls_is_off() {
    let listener = Listener::bind(([127, 0, 0, 1], 0).into(), None).expect("a free port");
    let addr = listener.local_addr().expect("bound");
    let stop = Stop::new();
    let serving = tokio::spawn(listener.serve(support::echo, stop.clone()));
    let mut stream = tokio::net::TcpStream::connect(addr).await.expect("the port accepts");
    stream.write_all(b"\x16\x03\x01\x02\x00").await.expect("sent");
    assert_eq!(read_to_close(&mut stream).await, "");
    stop.stop();
    serving.await.expect("returns");
}
