//! Lost responses: a store that accepts a request and never responds.

use orrery_core::Env;
use orrery_kit::http::Trust;
use orrery_kit::ports::documents::{Credential, Documents, Remote, RemoteOptions, StoreError, Write};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// Closes the connection on the first requests, and answers later ones with `then`. Counts them.
async fn losing(lost: usize, then: &'static str) -> (Documents, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let count = Arc::new(AtomicUsize::new(0));
    let seen = count.clone();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            while read_request(&mut stream).await {
                if seen.fetch_add(1, Ordering::SeqCst) < lost
                    || stream.write_all(then.as_bytes()).await.is_err()
                {
                    break;
                }
            }
        }
    });
    let options = RemoteOptions {
        endpoint: format!("http://127.0.0.1:{port}"),
        database: "d".to_owned(),
        credential: Credential::Key("a2V5".to_owned()),
        trust: Trust::System,
    };
    let remote =
        Remote::new(options, Env::system().unwrap()).unwrap().with_time_limit(Duration::from_secs(5));
    (Documents::Remote(remote), count)
}

/// Reads a head and the body of the length that it declares.
async fn read_request(stream: &mut TcpStream) -> bool {
    let mut text = Vec::new();
    loop {
        let mut some = [0; 4096];
        match stream.read(&mut some).await {
            Ok(length) if length > 0 => text.extend_from_slice(&some[..length]),
            _ => return false,
        }
        let shown = String::from_utf8_lossy(&text).to_lowercase();
        let Some((head, body)) = shown.split_once("\r\n\r\n") else { continue };
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        if body.len() >= length.and_then(|length| length.trim().parse().ok()).unwrap_or(0) {
            return true;
        }
    }
}

const CONFLICT: &str = "HTTP/1.1 409 Conflict\r\ncontent-length: 2\r\n\r\n{}";
const CHANGED: &str = "HTTP/1.1 412 Precondition Failed\r\ncontent-length: 2\r\n\r\n{}";
const GOOD: &str = "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n{\"id\":\"a\"}";
const BUSY: &str = "HTTP/1.1 429 Too Many\r\nx-ms-retry-after-ms: 1\r\ncontent-length: 2\r\n\r\n{}";
const RETRY_WITH: &str = "HTTP/1.1 449 Retry With\r\ncontent-length: 2\r\n\r\n{}";
const DOWN: &str = "HTTP/1.1 503 Service Unavailable\r\ncontent-length: 2\r\n\r\n{}";

fn tagged() -> Option<String> {
    Some("\"t\"".to_owned())
}

#[tokio::test]
async fn repeatable_writes_are_repeated_and_report_the_first_run() {
    let (documents, count) = losing(2, GOOD).await;
    assert!(documents.read("c", "p", "a").await.unwrap().is_some());
    assert_eq!(count.load(Ordering::SeqCst), 3);

    let (documents, count) = losing(1, CONFLICT).await;
    let create = Write::Create(json!({"id": "a"}));
    assert_eq!(documents.write("c", "p", create).await, Err(StoreError::Conflict));
    assert_eq!(count.load(Ordering::SeqCst), 2);

    let (documents, count) = losing(1, CHANGED).await;
    let replace = Write::Replace { item: json!({"id": "a"}), if_match: tagged() };
    assert_eq!(documents.write("c", "p", replace).await, Err(StoreError::Changed));
    assert_eq!(count.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn writes_that_could_overwrite_later_ones_are_sent_once() {
    let item = || json!({"id": "a"});
    for then in [GOOD, DOWN] {
        let lost = usize::from(then == GOOD);
        let writes = [
            Write::Upsert { item: item(), if_match: None },
            Write::Replace { item: item(), if_match: None },
            Write::Delete { id: "a".to_owned(), if_match: None },
        ];
        for write in writes {
            let (documents, count) = losing(lost, then).await;
            let outcome = documents.write("c", "p", write.clone()).await;
            assert!(matches!(outcome, Err(StoreError::Unavailable(_))), "{write:?}: {outcome:?}");
            assert_eq!(count.load(Ordering::SeqCst), 1, "{write:?}");
        }
        let (documents, count) = losing(lost, then).await;
        let upsert = Write::Upsert { item: item(), if_match: None };
        let outcome = documents.batch("c", "p", vec![upsert]).await;
        assert!(matches!(outcome, Err(StoreError::Unavailable(_))), "{outcome:?}");
        assert_eq!(count.load(Ordering::SeqCst), 1);
    }
}

#[tokio::test]
async fn a_busy_store_executed_nothing_so_everything_is_repeated() {
    for (answer, after) in [(BUSY, Some(Duration::from_millis(1))), (RETRY_WITH, None)] {
        let (documents, count) = losing(0, answer).await;
        let Documents::Remote(remote) = documents else { panic!("it is remote") };
        let documents = Documents::Remote(remote.with_time_limit(Duration::from_millis(300)));
        let upsert = Write::Upsert { item: json!({"id": "a"}), if_match: None };
        assert_eq!(documents.write("c", "p", upsert).await, Err(StoreError::Busy { after }));
        assert!(count.load(Ordering::SeqCst) > 2);
    }
}

#[tokio::test]
async fn a_silent_store_times_out() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let options = RemoteOptions {
        endpoint: format!("http://{}", listener.local_addr().unwrap()),
        database: "d".to_owned(),
        credential: Credential::Key("a2V5".to_owned()),
        trust: Trust::System,
    };
    let remote =
        Remote::new(options, Env::system().unwrap()).unwrap().with_time_limit(Duration::from_millis(200));
    let outcome = Documents::Remote(remote).read("c", "p", "a").await;
    assert!(matches!(outcome, Err(StoreError::Unavailable(_))), "{outcome:?}");
}
