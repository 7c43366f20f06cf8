//! The bare server: what HTTP alone costs on this machine with the libraries the server uses.
//!
//! It reads the whole request, chooses a reply by method, container and upsert header, and answers from
//! memory. No routing, no signatures, no storage. A read is answered from as many copies of its reply as there are
//! items, because a server that has the items cannot answer them all from one buffer in the processor's cache.

use crate::cell::{Operation, Size};
use crate::error::Error;
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use std::convert::Infallible;
use std::path::Path;
use std::sync::Arc;
use tokio::net::{TcpListener, TcpStream};

struct Canned {
    operation: String,
    container: String,
    status: StatusCode,
    headers: HeaderMap,
    bodies: Vec<Bytes>,
}

impl Canned {
    /// The copy that stands for the item of this path.
    fn body(&self, path: &str) -> Bytes {
        let hash =
            path.bytes().fold(0usize, |hash, byte| hash.wrapping_mul(31).wrapping_add(usize::from(byte)));
        self.bodies[hash % self.bodies.len()].clone()
    }
}

/// Serves until it is killed.
pub fn bare_server(replies: &Path, port_file: &Path) -> Result<(), Error> {
    let text = std::fs::read(replies).map_err(|e| Error::Io("no replies", e))?;
    let canned = parse(&text).ok_or_else(|| Error::Unexpected("the replies cannot be read".to_owned()))?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.map_err(|e| Error::Io("no runtime", e))?.block_on(serve(Arc::new(canned), port_file))
}

async fn serve(canned: Arc<Vec<Canned>>, port_file: &Path) -> Result<(), Error> {
    let listener = TcpListener::bind("127.0.0.1:0").await.map_err(|e| Error::Io("no port", e))?;
    let port = listener.local_addr().map_err(|e| Error::Io("no port", e))?.port();
    let unfinished = port_file.with_extension("new");
    std::fs::write(&unfinished, port.to_string()).map_err(|e| Error::Io("no port file", e))?;
    std::fs::rename(&unfinished, port_file).map_err(|e| Error::Io("no port file", e))?;
    loop {
        let (stream, _) = listener.accept().await.map_err(|e| Error::Io("no connection", e))?;
        tokio::spawn(connection(stream, canned.clone()));
    }
}

async fn connection(stream: TcpStream, canned: Arc<Vec<Canned>>) {
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request| answer(request, canned.clone()));
    // A client that goes away is how every run ends.
    let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
}

async fn answer(
    request: Request<Incoming>,
    canned: Arc<Vec<Canned>>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let (head, mut body) = request.into_parts();
    while let Some(Ok(_)) = body.frame().await {}
    let operation = operation(&head.method, head.headers.contains_key("x-ms-documentdb-is-upsert")).name();
    let container = head.uri.path().split('/').nth(4).unwrap_or_default();
    let found = canned.iter().find(|canned| canned.operation == operation && canned.container == container);
    let mut response =
        Response::new(Full::new(found.map(|reply| reply.body(head.uri.path())).unwrap_or_default()));
    match found {
        None => *response.status_mut() = StatusCode::NOT_FOUND,
        Some(reply) => {
            *response.status_mut() = reply.status;
            *response.headers_mut() = reply.headers.clone();
        }
    }
    Ok(response)
}

fn operation(method: &Method, is_upsert: bool) -> Operation {
    match (method, is_upsert) {
        (&Method::PUT, _) => Operation::Replace,
        (&Method::POST, true) => Operation::Upsert,
        (&Method::POST, false) => Operation::Create,
        _ => Operation::Read,
    }
}

fn parse(text: &[u8]) -> Option<Vec<Canned>> {
    let replies: Value = serde_json::from_slice(text).ok()?;
    replies.as_array()?.iter().map(parse_one).collect()
}

fn parse_one(reply: &Value) -> Option<Canned> {
    let text = |name: &str| Some(reply.get(name)?.as_str()?.to_owned());
    let container = text("container").filter(|name| Size::ALL.iter().any(|size| size.container() == name))?;
    let mut headers = HeaderMap::new();
    for header in reply.get("headers")?.as_array()? {
        let name: HeaderName = header.get(0)?.as_str()?.parse().ok()?;
        headers.append(name, HeaderValue::from_str(header.get(1)?.as_str()?).ok()?);
    }
    let status = StatusCode::from_u16(u16::try_from(reply.get("status")?.as_u64()?).ok()?).ok()?;
    let (operation, body) = (text("operation")?, text("body")?);
    let size = Size::ALL.into_iter().find(|size| size.container() == container)?;
    let copies = if operation == Operation::Read.name() { size.set_items() } else { 1 };
    let bodies = (0..copies).map(|_| Bytes::copy_from_slice(body.as_bytes())).collect();
    Some(Canned { operation, container, status, headers, bodies })
}
