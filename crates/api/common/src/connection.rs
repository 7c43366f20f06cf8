//! One connection, from its first byte to its end.
//!
//! The first byte decides: a TLS handshake begins with 0x16, which no HTTP request does. Inside, with TLS or
//! without, the HTTP/2 preface or its absence decides between the HTTP versions, so ALPN only has to be offered.
//!
//! Errors end the connection and affect nobody else; they are logged at debug level, since any client can cause them
//! at will.

use crate::Stop;
use crate::access_log::Entry;
use crate::body::{Answer, body};
use crate::connection_table::ConnectionCounts;
use crate::cors;
use crate::limits;
use crate::listener::Options;
use crate::patience::{Activity, Expired, Metered, Patience};
use crate::web_guard::{ForeignPage, Passage, Refusal, WebGuard};
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Request, Response, StatusCode};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use orrery_core::limits::HEAD_BYTES_MAX;
use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;
use tracing::debug;

const TLS_HANDSHAKE: u8 = 0x16;

/// The client's address, and whether the connection is encrypted.
#[derive(Clone, Debug)]
pub struct Peer {
    /// `http` or `https`.
    pub scheme: &'static str,
    pub addr: SocketAddr,
    activity: Arc<Activity>,
}

impl Peer {
    /// For a request without a connection, as in tests and tools.
    pub fn detached(scheme: &'static str, addr: SocketAddr) -> Self {
        Self { scheme, addr, activity: Arc::new(Activity::new(ConnectionCounts::default())) }
    }

    /// Records that a request of this connection had a valid credential, so that the connection does not give way to
    /// those without one.
    pub fn confirm(&self) {
        self.activity.confirm();
    }
}

/// The state shared by all connections of a listener.
pub(crate) struct Shared<S> {
    pub(crate) service: S,
    pub(crate) http: auto::Builder<TokioExecutor>,
    pub(crate) tls: Option<TlsAcceptor>,
    pub(crate) options: Options,
    pub(crate) guard: WebGuard,
    pub(crate) stop: Stop,
}

/// HTTP with our limits. Heads are timed by `patience`, so the library's own timeout is off.
pub(crate) fn http_builder(options: &Options) -> auto::Builder<TokioExecutor> {
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(None)
        .max_buf_size(HEAD_BYTES_MAX)
        .preserve_header_case(options.keeps_spelling)
        .pipeline_flush(false);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(limits::STREAMS_MAX)
        .max_header_list_size(HEAD_BYTES_MAX as u32)
        .keep_alive_interval(Duration::from_secs(limits::PING_SECONDS))
        .keep_alive_timeout(Duration::from_secs(limits::PING_ANSWER_SECONDS_MAX));
    builder
}

/// Serves one connection until it ends, is cut, gives way to another, or a stop has completed.
pub(crate) async fn run<S, F, B>(
    shared: Arc<Shared<S>>,
    stream: TcpStream,
    addr: SocketAddr,
    activity: Arc<Activity>,
    give_way: Arc<Notify>,
) where
    S: Fn(Request<Incoming>, Peer) -> F + Send + Sync + 'static,
    F: Future<Output = Response<B>> + Send + 'static,
    B: Answer,
{
    orrery_core::tour_step!();
    let accepted = Instant::now();
    let opening = timeout_at(accepted + shared.options.head_time_max, open(stream, shared.tls.as_ref()));
    let opened = tokio::select! {
        opened = opening => opened,
        () = shared.stop.stopped() => return,
        () = give_way.notified() => return,
    };
    let peer = |scheme| Peer { scheme, addr, activity };
    match opened {
        Ok(Ok(Opened::Clear(io))) => drive(&shared, io, peer("http"), accepted, &give_way).await,
        Ok(Ok(Opened::Tls(io))) => drive(&shared, io, peer("https"), accepted, &give_way).await,
        Ok(Err(error)) => debug!(%addr, %error, "a connection did not open"),
        Err(_) => debug!(%addr, "a connection took too long to open"),
    }
}

enum Opened {
    Clear(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

async fn open(stream: TcpStream, tls: Option<&TlsAcceptor>) -> io::Result<Opened> {
    // Responses are written whole; waiting to fill a packet would only delay them.
    stream.set_nodelay(true)?;
    let mut first = [0];
    let length = stream.peek(&mut first).await?;
    match (length, first, tls) {
        (0, _, _) => Err(io::ErrorKind::UnexpectedEof.into()),
        (_, [TLS_HANDSHAKE], Some(tls)) => Ok(Opened::Tls(Box::new(tls.accept(stream).await?))),
        (_, [TLS_HANDSHAKE], None) => Err(io::Error::other("a TLS handshake, but TLS is off")),
        _ => Ok(Opened::Clear(stream)),
    }
}

async fn drive<I, S, F, B>(shared: &Shared<S>, io: I, peer: Peer, accepted: Instant, give_way: &Notify)
where
    I: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    S: Fn(Request<Incoming>, Peer) -> F + Send + Sync + 'static,
    F: Future<Output = Response<B>> + Send + 'static,
    B: Answer,
{
    let Options { head_time_max, idle_time_max, stop_time_max, .. } = shared.options;
    let activity = peer.activity.clone();
    let io = TokioIo::new(Metered::new(io, activity.clone()));
    let mut patience = Patience::new(activity.clone(), accepted, head_time_max, idle_time_max);
    let service = service_fn(|request| answer(shared, request, peer.clone()));
    let mut connection = pin!(shared.http.serve_connection(io, service));
    let mut stopped = pin!(shared.stop.stopped());
    let mut told = pin!(give_way.notified());
    loop {
        tokio::select! {
            biased;
            ended = connection.as_mut() => {
                if let Err(error) = ended {
                    debug!(addr = %peer.addr, error, "a connection ended early");
                }
                return;
            }
            () = &mut stopped, if !patience.is_closing() => {
                connection.as_mut().graceful_shutdown();
                patience.close_within(stop_time_max);
            }
            () = &mut told, if !patience.is_closing() => {
                if !activity.is_between_requests() {
                    debug!(addr = %peer.addr, "a connection was cut to make room for others");
                    return;
                }
                connection.as_mut().graceful_shutdown();
                patience.close_within(head_time_max);
            }
            expired = patience.expired() => match expired {
                Expired::Idle => {
                    connection.as_mut().graceful_shutdown();
                    patience.close_within(head_time_max);
                }
                Expired::Late => {
                    debug!(addr = %peer.addr, "a connection took too long and was cut");
                    return;
                }
            },
        }
    }
}

/// Calls the service, unless the request is refused before it is routed.
fn answer<S, F, B>(
    shared: &Shared<S>,
    mut request: Request<Incoming>,
    peer: Peer,
) -> impl Future<Output = Result<Response<B>, Infallible>> + Send + use<S, F, B>
where
    S: Fn(Request<Incoming>, Peer) -> F,
    F: Future<Output = Response<B>> + Send + 'static,
    B: Answer,
{
    let in_flight = peer.activity.begin();
    let logged = Entry::begin(shared.options.name, &request);
    let admitted = admit(&shared.guard, &request).map(|passage| {
        if passage == Passage::Foreign {
            request.extensions_mut().insert(ForeignPage);
        }
        ((shared.service)(request, peer), passage)
    });
    async move {
        let response = match admitted {
            Ok((answering, Passage::Direct | Passage::Foreign)) => answering.await,
            Ok((answering, Passage::CrossOrigin(origin))) => {
                let mut response = answering.await;
                cors::allow(response.headers_mut(), &origin);
                response
            }
            Err(response) => *response,
        };
        if let Some(logged) = logged {
            logged.end(&response);
        }
        drop(in_flight);
        Ok(response)
    }
}

/// The permission to continue, or the response that the request gets instead.
fn admit<B: Answer>(guard: &WebGuard, request: &Request<Incoming>) -> Result<Passage, Box<Response<B>>> {
    // Over HTTP/2 nobody else counts them.
    if request.headers().len() > limits::HEADERS_MAX {
        let mut response = Response::new(B::from(body("")));
        *response.status_mut() = StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE;
        return Err(Box::new(response));
    }
    match guard.check(request.method(), request.uri(), request.headers()) {
        Ok(Passage::CrossOrigin(origin)) => {
            match cors::preflight(request.method(), request.headers(), &origin) {
                Some(response) => Err(Box::new(response)),
                None => Ok(Passage::CrossOrigin(origin)),
            }
        }
        Ok(passage @ (Passage::Direct | Passage::Foreign)) => Ok(passage),
        Err(refusal) => {
            debug!(%refusal, "refused");
            Err(Box::new(refused(&refusal)))
        }
    }
}

/// Clients of every protocol find their own member: `message` beside `code`, or `detail` beside `title` (RFC 9457).
fn refused<B: Answer>(refusal: &Refusal) -> Response<B> {
    let (status, sentence) = (refusal.status(), refusal.to_string());
    let title = status.canonical_reason().unwrap_or_default();
    let text = serde_json::json!({
        "code": title, "message": sentence, "title": title, "status": status.as_u16(), "detail": sentence,
    });
    let mut response = Response::new(B::from(body(text.to_string())));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
    response
}
