//! One connection: connect, handshakes, a request and its complete response.

use super::address::Address;
use super::tls::{Tls, Trust, Versions};
use super::{Arrived, SendError};
use crate::limits;
use bytes::Bytes;
use http::{HeaderValue, Request, Response, Uri, header};
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper::client::conn::{TrySendError, http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use orrery_core::limits::HEAD_BYTES_MAX;
use rustls::pki_types::ServerName;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

pub type Http1 = http1::SendRequest<Full<Bytes>>;
pub type Http2 = http2::SendRequest<Full<Bytes>>;

/// An open connection.
pub enum Opened {
    Http1(Http1),
    Http2(Http2),
}

/// Opens connections with the same trust settings.
pub struct Connector {
    tls: TlsConnector,
    versions: Versions,
    believes_anything: bool,
}

const CONNECT_TIME_MAX: Duration = Duration::from_secs(limits::HTTP_CONNECT_SECONDS_MAX);
const PING_EVERY: Duration = Duration::from_secs(limits::HTTP_PING_SECONDS);
const PING_ANSWER_TIME_MAX: Duration = Duration::from_secs(limits::HTTP_PING_ANSWER_SECONDS_MAX);

impl Connector {
    pub fn new(tls: Tls) -> Result<Self, String> {
        Ok(Self {
            tls: TlsConnector::from(tls.config()?),
            versions: tls.versions,
            believes_anything: matches!(tls.trust, Trust::Anything),
        })
    }

    pub async fn open(&self, address: &Address) -> Result<Opened, SendError> {
        let opened = timeout(CONNECT_TIME_MAX, self.dial(address)).await;
        opened
            .unwrap_or_else(|_| Err("it does not answer".to_owned()))
            .map_err(|reason| SendError::Unreachable { address: address.clone(), reason })
    }

    async fn dial(&self, address: &Address) -> Result<Opened, String> {
        if self.believes_anything && !address.is_loopback() {
            return Err(
                "any certificate is believed on this machine only; say which authority to trust".to_owned()
            );
        }
        let stream =
            TcpStream::connect((&*address.host, address.port)).await.map_err(|error| error.to_string())?;
        // Requests are written whole; waiting to fill a packet would only delay them.
        stream.set_nodelay(true).map_err(|error| error.to_string())?;
        if !address.is_tls {
            return handshake(stream, self.versions == Versions::Http2).await;
        }
        let name = ServerName::try_from(address.host.clone()).map_err(|error| error.to_string())?;
        let stream = self.tls.connect(name, stream).await.map_err(|error| error.to_string())?;
        let agreed = stream.get_ref().1.alpn_protocol().map(<[u8]>::to_vec);
        match (agreed.as_deref(), self.versions) {
            (Some(b"h2"), _) => handshake(stream, true).await,
            (_, Versions::Http2) => Err("it does not speak HTTP/2".to_owned()),
            _ => handshake(stream, false).await,
        }
    }
}

/// The connection's task ends with its last sender; its errors reach the waiting requests.
async fn handshake<I>(stream: I, is_http2: bool) -> Result<Opened, String>
where
    I: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let stream = TokioIo::new(stream);
    if is_http2 {
        let mut builder = http2::Builder::new(TokioExecutor::new());
        builder
            .timer(TokioTimer::new())
            .keep_alive_interval(PING_EVERY)
            .keep_alive_timeout(PING_ANSWER_TIME_MAX)
            .keep_alive_while_idle(true)
            .max_header_list_size(HEAD_BYTES_MAX as u32);
        let (sender, connection) = builder.handshake(stream).await.map_err(|error| error.to_string())?;
        tokio::spawn(connection);
        return Ok(Opened::Http2(sender));
    }
    let mut builder = http1::Builder::new();
    builder.max_buf_size(HEAD_BYTES_MAX);
    let (sender, connection) = builder.handshake(stream).await.map_err(|error| error.to_string())?;
    tokio::spawn(connection);
    Ok(Opened::Http1(sender))
}

/// No response: because of an error, or because the connection was closed before the request was written.
pub enum Unanswered {
    Error(SendError),
    Request(Box<Request<Bytes>>, String),
}

/// In HTTP/1.1's form: the path alone, and the host in a header.
pub async fn send_http1(
    sender: &mut Http1,
    request: Request<Bytes>,
    bytes_max: usize,
) -> Result<Response<Bytes>, Unanswered> {
    let (mut head, body) = request.into_parts();
    let uri = head.uri.clone();
    if let Err(error) = sender.ready().await {
        return Err(Unanswered::Request(Box::new(Request::from_parts(head, body)), error.to_string()));
    }
    let host = uri.authority().and_then(|authority| HeaderValue::from_str(authority.as_str()).ok());
    if let Some(host) = host.filter(|_| !head.headers.contains_key(header::HOST)) {
        head.headers.insert(header::HOST, host);
    }
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    head.uri = path.parse().unwrap_or_default();
    let sent = sender.try_send_request(Request::from_parts(head, Full::new(body.clone()))).await;
    read(sent, &uri, body, bytes_max).await
}

pub async fn send_http2(
    sender: &mut Http2,
    request: Request<Bytes>,
    bytes_max: usize,
) -> Result<Response<Bytes>, Unanswered> {
    let (mut head, body) = request.into_parts();
    let uri = head.uri.clone();
    head.headers.remove(header::HOST);
    head.version = http::Version::HTTP_2;
    let sent = sender.try_send_request(Request::from_parts(head, Full::new(body.clone()))).await;
    read(sent, &uri, body, bytes_max).await
}

type Sent = Result<Response<Incoming>, TrySendError<Request<Full<Bytes>>>>;

async fn read(sent: Sent, uri: &Uri, body: Bytes, bytes_max: usize) -> Result<Response<Bytes>, Unanswered> {
    let answer = match sent {
        Ok(answer) => answer,
        Err(mut error) => {
            let reason = sentence(error.error());
            return Err(match error.take_message() {
                Some(again) => {
                    let (mut head, _) = again.into_parts();
                    head.uri = uri.clone();
                    head.version = http::Version::default();
                    Unanswered::Request(Box::new(Request::from_parts(head, body)), reason)
                }
                None => Unanswered::Error(SendError::Broken { reason, arrived: Arrived::Maybe }),
            });
        }
    };
    let (head, body) = answer.into_parts();
    match Limited::new(body, bytes_max).collect().await {
        Ok(whole) => Ok(Response::from_parts(head, whole.to_bytes())),
        Err(error) if error.is::<LengthLimitError>() => {
            Err(Unanswered::Error(SendError::TooLarge { bytes_max }))
        }
        Err(error) => {
            Err(Unanswered::Error(SendError::Broken { reason: error.to_string(), arrived: Arrived::Maybe }))
        }
    }
}

/// With its sources, which contain the reason.
fn sentence(error: &hyper::Error) -> String {
    match std::error::Error::source(error) {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}
