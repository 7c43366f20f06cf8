//! The client against servers in clear text; tests over TLS are in `api/push`, which has certificates.

use super::*;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use std::convert::Infallible;
use std::sync::atomic::AtomicUsize;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Barrier;
use tokio::task::JoinSet;

const TIME_MAX: Duration = Duration::from_secs(20);

fn client(versions: Versions) -> Client {
    Client::new(Tls { trust: Trust::Anything, versions }).expect("a client")
}

fn post(url: &str, body: &'static str) -> Request<Bytes> {
    Request::post(url).body(Bytes::from_static(body.as_bytes())).expect("a request")
}

/// Hands each connection to `serve`, and counts them.
async fn server<F>(serve: impl Fn(TcpStream) -> F + Send + 'static) -> (String, Arc<AtomicUsize>)
where
    F: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let url = format!("http://{}/a/b?c", listener.local_addr().expect("bound"));
    let count = Arc::new(AtomicUsize::new(0));
    let counted = count.clone();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            counted.fetch_add(1, Ordering::SeqCst);
            tokio::spawn(serve(stream));
        }
    });
    (url, count)
}

async fn echo(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let (head, body) = request.into_parts();
    let body = http_body_util::BodyExt::collect(body).await.expect("a body").to_bytes();
    let host = head.headers.get("host").map(|host| host.to_str().unwrap_or_default().to_owned());
    let said = format!(
        "{:?} {} {:?} {}",
        head.version,
        head.uri.path(),
        host.is_some(),
        String::from_utf8_lossy(&body)
    );
    Ok(Response::new(Full::new(Bytes::from(said))))
}

async fn echo_http1(stream: TcpStream) {
    drop(http1::Builder::new().serve_connection(TokioIo::new(stream), service_fn(echo)).await);
}

async fn echo_http2(stream: TcpStream) {
    drop(
        http2::Builder::new(TokioExecutor::new())
            .serve_connection(TokioIo::new(stream), service_fn(echo))
            .await,
    );
}

async fn text(client: &Client, url: &str, body: &'static str) -> Result<String, SendError> {
    let answer = client.send(post(url, body), TIME_MAX, 1000).await?;
    Ok(String::from_utf8_lossy(answer.body()).into_owned())
}

#[tokio::test]
async fn requests_of_http1_take_turns_on_one_connection() {
    let (url, connections) = server(echo_http1).await;
    let client = client(Versions::Any);
    for body in ["one", "two", ""] {
        assert_eq!(text(&client, &url, body).await, Ok(format!("HTTP/1.1 /a/b true {body}")));
    }
    assert_eq!(connections.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn many_requests_of_http1_share_a_few_connections() {
    let (url, connections) = server(echo_http1).await;
    let client = client(Versions::Any);
    let mut all = JoinSet::new();
    for _ in 0..100 {
        let (client, url) = (client.clone(), url.clone());
        all.spawn(async move { text(&client, &url, "x").await });
    }
    while let Some(done) = all.join_next().await {
        done.expect("no panic").expect("an answer");
    }
    assert!(connections.load(Ordering::SeqCst) <= limits::HTTP_CONNECTIONS_PER_HOST_MAX);
}

#[tokio::test]
async fn requests_of_http2_share_one_connection() {
    let (url, connections) = server(echo_http2).await;
    let client = client(Versions::Http2);
    let mut all = JoinSet::new();
    for _ in 0..80 {
        let (client, url) = (client.clone(), url.clone());
        all.spawn(async move { text(&client, &url, "x").await });
    }
    while let Some(done) = all.join_next().await {
        assert_eq!(done.expect("no panic").as_deref(), Ok("HTTP/2.0 /a/b false x"));
    }
    assert_eq!(connections.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_full_connection_of_http2_gets_a_second_beside_it() {
    const REQUESTS: usize = limits::HTTP_STREAMS_PER_CONNECTION + 50;
    // Responds to nobody before all have arrived.
    let all_here = Arc::new(Barrier::new(REQUESTS));
    let (url, connections) = server(move |stream| {
        let all_here = all_here.clone();
        async move {
            let service = service_fn(move |request| {
                let all_here = all_here.clone();
                async move {
                    all_here.wait().await;
                    echo(request).await
                }
            });
            let mut builder = http2::Builder::new(TokioExecutor::new());
            builder.max_concurrent_streams(limits::HTTP_STREAMS_PER_CONNECTION as u32);
            drop(builder.serve_connection(TokioIo::new(stream), service).await);
        }
    })
    .await;
    let client = client(Versions::Http2);
    let mut all = JoinSet::new();
    for _ in 0..REQUESTS {
        let (client, url) = (client.clone(), url.clone());
        all.spawn(async move { text(&client, &url, "x").await });
    }
    while let Some(done) = all.join_next().await {
        done.expect("no panic").expect("an answer");
    }
    assert_eq!(connections.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn a_connection_that_was_closed_meanwhile_is_replaced() {
    // Responds once and closes without announcing it.
    let (url, connections) = server(|mut stream| async move {
        let mut request = [0; 1000];
        let _ = stream.read(&mut request).await;
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").await;
    })
    .await;
    let client = client(Versions::Any);
    assert_eq!(text(&client, &url, "1").await.as_deref(), Ok("ok"));
    // Until the close has arrived, the second request may be lost, which the error says.
    for _ in 0..100 {
        match text(&client, &url, "2").await {
            Ok(answer) => {
                assert_eq!(answer, "ok");
                assert!(connections.load(Ordering::SeqCst) >= 2);
                return;
            }
            Err(error) => assert!(error.may_have_arrived(), "{error}"),
        }
    }
    panic!("never replaced");
}

#[tokio::test]
async fn an_unreachable_host_and_a_broken_response_are_distinct() {
    let client = client(Versions::Any);
    let free = TcpListener::bind("127.0.0.1:0").await.expect("a free port").local_addr().expect("bound");
    let error = text(&client, &format!("http://{free}/"), "").await.expect_err("nobody");
    assert!(matches!(&error, SendError::Unreachable { .. }) && !error.may_have_arrived(), "{error:?}");
    let (url, _) = server(|mut stream| async move {
        let _ = stream.read(&mut [0; 1000]).await;
    })
    .await;
    let error = text(&client, &url, "x").await.expect_err("no answer");
    assert!(matches!(&error, SendError::Broken { arrived: Arrived::Maybe, .. }), "{error:?}");
    let (url, _) = server(|mut stream| async move {
        let _ = stream.read(&mut [0; 1000]).await;
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 20\r\n\r\nhalf").await;
    })
    .await;
    let error = text(&client, &url, "x").await.expect_err("half an answer");
    assert!(matches!(&error, SendError::Broken { arrived: Arrived::Maybe, .. }), "{error:?}");
}

#[tokio::test]
async fn an_answer_that_does_not_come_in_time_may_be_on_its_way() {
    let (url, connections) = server(|stream| async move {
        std::future::pending::<()>().await;
        drop(stream);
    })
    .await;
    let client = client(Versions::Any);
    for expected in 1..=2 {
        let error = client.send(post(&url, "x"), Duration::from_millis(50), 10).await.expect_err("silence");
        assert_eq!(error, SendError::Timeout { arrived: Arrived::Maybe });
        assert_eq!(
            connections.load(Ordering::SeqCst),
            expected,
            "a connection that is waited for is used by nobody else"
        );
    }
}

#[tokio::test]
async fn a_large_answer_is_not_read_to_its_end() {
    let (url, _) = server(echo_http1).await;
    let client = client(Versions::Any);
    let error = client.send(post(&url, "0123456789"), TIME_MAX, 10).await.expect_err("too large");
    assert_eq!(error, SendError::TooLarge { bytes_max: 10 });
    assert!(text(&client, &url, "x").await.is_ok());
}

#[tokio::test]
async fn any_certificate_is_believed_on_this_machine_only() {
    let error = text(&client(Versions::Any), "https://192.0.2.1/", "").await.expect_err("not here");
    assert!(
        matches!(&error, SendError::Unreachable { reason, .. } if reason.contains("on this machine only")),
        "{error:?}"
    );
}

#[tokio::test]
async fn a_malformed_address_is_refused_without_quoting_its_path() {
    let error = text(&client(Versions::Any), "ftp://example.com/secret", "").await.expect_err("no address");
    assert!(matches!(&error, SendError::Unsent(why) if !why.contains("secret")), "{error:?}");
}
