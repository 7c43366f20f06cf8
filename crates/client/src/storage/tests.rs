//! The whole client against a scripted server: what it sends, and how often.

use super::queues::{NewMessage, Queues};
use super::tables::{Continuation, Entity, EntityQuery, EntityWrite, Tables};
use super::{Endpoint, StorageCredential, StorageError};
use crate::http::Trust;
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use orrery_core::Env;
use orrery_protocol::storage::Service;
use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use tokio::net::TcpListener;

type Script = Arc<Mutex<Vec<Response<Full<Bytes>>>>>;

/// The recorded requests: the first line and the body.
type Asked = Arc<Mutex<Vec<(String, String)>>>;

fn answer(status: u16, headers: &[(&str, &str)], body: &str) -> Response<Full<Bytes>> {
    let mut response = Response::builder().status(status);
    for (name, value) in headers {
        response = response.header(*name, *value);
    }
    response.body(Full::new(Bytes::from(body.to_owned()))).expect("a response")
}

/// Answers requests by a script, and records them.
async fn server(mut script: Vec<Response<Full<Bytes>>>) -> (String, Asked) {
    script.reverse();
    let (script, asked): (Script, Asked) = (Arc::new(Mutex::new(script)), Asked::default());
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let url = format!("http://{}/acct", listener.local_addr().expect("bound"));
    let told = asked.clone();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (script, asked) = (script.clone(), told.clone());
            let serve = service_fn(move |request: Request<Incoming>| {
                let (script, asked) = (script.clone(), asked.clone());
                async move {
                    let line = format!("{} {}", request.method(), request.uri());
                    let body = request.into_body().collect().await.expect("a body").to_bytes();
                    asked.lock().expect("asked").push((line, String::from_utf8_lossy(&body).into_owned()));
                    Ok::<_, Infallible>(
                        script.lock().expect("script").pop().expect("as many answers as requests"),
                    )
                }
            });
            tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), serve));
        }
    });
    (url, asked)
}

fn endpoint(service: Service, url: &str) -> Endpoint {
    let env = Env::system().expect("a seed");
    let credential = StorageCredential::key("acct", "YQ==").expect("a key");
    Endpoint::new(service, url, credential, Trust::These(Vec::new()), env).expect("an endpoint")
}

fn lines(asked: &Asked) -> Vec<String> {
    asked.lock().expect("asked").iter().map(|(line, _)| line.clone()).collect()
}

#[tokio::test]
async fn a_query_continues_after_the_previous_page() {
    let first = answer(
        200,
        &[("x-ms-continuation-NextPartitionKey", "1!4!cA"), ("x-ms-continuation-NextRowKey", "1!4!cg")],
        r#"{"value":[]}"#,
    );
    let (url, asked) = server(vec![first, answer(200, &[], r#"{"value":[{"PartitionKey":"p"}]}"#)]).await;
    let tables = Tables::new(endpoint(Service::Table, &url));
    let mut query = EntityQuery {
        filter: Some("a eq 'x y'".to_owned()),
        select: vec!["a".to_owned(), "b".to_owned()],
        top: Some(2),
        from: None,
    };
    let page = tables.query("t", &query).await.expect("a page");
    assert_eq!((page.entities.len(), page.next.is_some()), (0, true));
    let next = Continuation { partition_key: "1!4!cA".to_owned(), row_key: Some("1!4!cg".to_owned()) };
    assert_eq!(page.next, Some(next));
    query.from = page.next;
    let page = tables.query("t", &query).await.expect("a page");
    assert_eq!((page.entities.len(), page.next), (1, None));
    let common = "GET /acct/t()?$filter=a%20eq%20%27x%20y%27&$select=a%2Cb&$top=2";
    let expected = [common.to_owned(), format!("{common}&NextPartitionKey=1%214%21cA&NextRowKey=1%214%21cg")];
    assert_eq!(lines(&asked), expected);
}

#[tokio::test]
async fn a_write_that_may_be_done_is_not_repeated_and_a_busy_service_is_asked_again() {
    let busy = || answer(503, &[("x-ms-error-code", "ServerBusy"), ("retry-after", "0")], "");
    let lost = || answer(500, &[("x-ms-error-code", "InternalError")], "");
    let (url, asked) = server(vec![busy(), lost(), busy(), answer(204, &[("etag", "W/\"1\"")], "")]).await;
    let tables = Tables::new(endpoint(Service::Table, &url));
    let upsert = EntityWrite::InsertOrReplace(Entity::new("p", "r"));
    let refused = tables.write("t", &upsert).await.expect_err("the second answer");
    assert_eq!(refused.code(), "InternalError");
    assert_eq!(tables.write("t", &upsert).await, Ok(Some("W/\"1\"".to_owned())));
    assert_eq!(lines(&asked), vec!["PUT /acct/t(PartitionKey='p',RowKey='r')"; 4]);
}

#[tokio::test]
async fn a_transaction_says_which_write_is_to_blame() {
    let body = "--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\nContent-Type: application/http\r\n\r\n\
        HTTP/1.1 409 Conflict\r\n\r\n\
        {\"odata.error\":{\"code\":\"EntityAlreadyExists\",\"message\":{\"lang\":\"en-US\",\"value\":\"1:It exists.\"}}}\r\n\
        --c--\r\n--b--\r\n";
    let (url, asked) =
        server(vec![answer(202, &[("content-type", "multipart/mixed; boundary=b")], body)]).await;
    let tables = Tables::new(endpoint(Service::Table, &url));
    let writes = ["1", "2"].map(|row| EntityWrite::Insert(Entity::new("p", row)));
    match tables.transact("t", &writes).await {
        Err(StorageError::Refused(refusal)) => {
            assert_eq!(
                (refusal.status, refusal.index, refusal.code.as_str()),
                (409, Some(1), "EntityAlreadyExists")
            );
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(tables.transact("t", &[]).await, Ok(Vec::new()));
    assert_eq!(lines(&asked), ["POST /acct/$batch"]);
}

#[tokio::test]
async fn messages_travel_as_xml() {
    let put = "<QueueMessagesList><QueueMessage><MessageId>i</MessageId><InsertionTime>Sun, 15 Nov 2026 01:02:43 GMT</InsertionTime>\
        <ExpirationTime>Sun, 22 Nov 2026 01:02:43 GMT</ExpirationTime><PopReceipt>r</PopReceipt>\
        <TimeNextVisible>Sun, 15 Nov 2026 01:02:43 GMT</TimeNextVisible></QueueMessage></QueueMessagesList>";
    let updated = [("x-ms-popreceipt", "r2"), ("x-ms-time-next-visible", "Sun, 15 Nov 2026 01:02:53 GMT")];
    let counted = [("x-ms-approximate-messages-count", "3"), ("x-ms-meta-Owner", "me")];
    let (url, asked) =
        server(vec![answer(201, &[], put), answer(204, &updated, ""), answer(200, &counted, "")]).await;
    let queues = Queues::new(endpoint(Service::Queue, &url));
    let new = NewMessage { text: "<a>".to_owned(), visibility_seconds: Some(0), time_to_live: None };
    let accepted = queues.put("my-queue", &new).await.expect("it is put");
    assert_eq!((accepted.id.as_str(), accepted.receipt.as_str()), ("i", "r"));
    assert_eq!(
        queues.update("my-queue", "i", "r+", 10, None).await.map(|it| it.receipt),
        Ok("r2".to_owned())
    );
    let properties = queues.properties("my-queue").await.expect("properties");
    assert_eq!((properties.approximate_count, properties.metadata), (3, vec![("owner".into(), "me".into())]));
    assert_eq!(
        lines(&asked),
        [
            "POST /acct/my-queue/messages?visibilitytimeout=0",
            "PUT /acct/my-queue/messages/i?popreceipt=r%2B&visibilitytimeout=10",
            "GET /acct/my-queue?comp=metadata",
        ]
    );
    let sent = asked.lock().expect("asked")[0].1.clone();
    assert_eq!(sent, "<QueueMessage><MessageText>&lt;a&gt;</MessageText></QueueMessage>");
}
