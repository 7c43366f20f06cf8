//! One TCP port that speaks TLS or clear text, HTTP/1.1 or HTTP/2, as each client likes.
//!
//! The listener accepts while there is room for a connection; beyond that clients wait in the system's queue.
//! On a stop it closes the port, every connection finishes what it has begun (`Connection: close`, GOAWAY), and
//! `serve` returns when the last one is gone or the time for that is over.
//!
//! ```text
//!   accept ──▶ connection::run ──▶ TLS? ──▶ HTTP/1.1 or 2 ──▶ web_guard ──▶ service(request, peer) ──▶ response
//! ```

use crate::Stop;
use crate::again::again;
use crate::body::Answer;
use crate::connection::{self, Peer, Shared};
use crate::web_guard::{CorsRules, WebGuard};
use http::{Request, Response};
use hyper::body::Incoming;
use orrery_core::limits;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;
use tracing::{debug, warn};

/// Connections the system holds for us until they are accepted.
const BACKLOG: u32 = 1024;
/// How long to leave the port alone after it failed for lack of something, such as file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// A port that is bound and not yet served.
pub struct Listener {
    socket: TcpListener,
    tls: Option<TlsAcceptor>,
    guard: WebGuard,
    options: Options,
}

/// How many and how long. The defaults are the limits of `orrery_core`; tests choose smaller ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    pub connections_max: u32,
    /// For a TLS handshake and the first request, and for each later request's head.
    pub head_time_max: Duration,
    pub idle_time_max: Duration,
    pub stop_time_max: Duration,
    /// Which names and web pages are served; None for what the address implies: on loopback its names, no page.
    pub guard: Option<WebGuard>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            connections_max: limits::CONNECTIONS_MAX as u32,
            head_time_max: Duration::from_secs(limits::HEAD_SECONDS_MAX),
            idle_time_max: Duration::from_secs(limits::IDLE_SECONDS_MAX),
            stop_time_max: Duration::from_secs(limits::STOP_SECONDS_MAX),
            guard: None,
        }
    }
}

impl Listener {
    /// Binds the port; 0 for any free one. Must be called within a runtime.
    pub fn bind(addr: SocketAddr, tls: Option<Arc<rustls::ServerConfig>>) -> io::Result<Self> {
        Self::bind_with(addr, tls, Options::default())
    }

    pub fn bind_with(
        addr: SocketAddr,
        tls: Option<Arc<rustls::ServerConfig>>,
        options: Options,
    ) -> io::Result<Self> {
        let socket = if addr.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
        // A restarted server gets its port back at once. On Windows the option means something else.
        #[cfg(not(windows))]
        socket.set_reuseaddr(true)?;
        socket.bind(addr)?;
        let by_address = || WebGuard::new(addr.ip().is_loopback(), Vec::new(), CorsRules::default());
        let guard = options.guard.clone().unwrap_or_else(by_address);
        Ok(Self { socket: socket.listen(BACKLOG)?, tls: tls.map(TlsAcceptor::from), guard, options })
    }

    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    /// Answers every request with `service` until `stop`.
    pub async fn serve<S, F, B>(self, service: S, stop: Stop)
    where
        S: Fn(Request<Incoming>, Peer) -> F + Send + Sync + 'static,
        F: Future<Output = Response<B>> + Send + 'static,
        B: Answer,
    {
        let Self { socket, tls, guard, options } = self;
        let http = connection::http_builder();
        let room = Arc::new(Semaphore::new(options.connections_max as usize));
        let shared = Arc::new(Shared { service, http, tls, guard, options, stop });
        let mut stopped = pin!(shared.stop.stopped());
        loop {
            let (permit, stream, addr) = tokio::select! {
                biased;
                () = &mut stopped => break,
                accepted = accept(&socket, &room) => accepted,
            };
            let connection = connection::run(shared.clone(), stream, addr);
            tokio::spawn(again(async move {
                connection.await;
                drop(permit);
            }));
        }
        drop(socket);
        drain(&room, &shared.options).await;
    }
}

/// The next connection, once there is room for it.
async fn accept(
    socket: &TcpListener,
    room: &Arc<Semaphore>,
) -> (OwnedSemaphorePermit, TcpStream, SocketAddr) {
    let permit = room.clone().acquire_owned().await.expect("the semaphore is never closed");
    loop {
        match socket.accept().await {
            Ok((stream, addr)) => return (permit, stream, addr),
            Err(error) if is_about_one_client(&error) => {
                debug!(%error, "a client left before it was accepted")
            }
            Err(error) => {
                warn!(%error, "cannot accept connections for the moment");
                sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

fn is_about_one_client(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset | Interrupted)
}

/// Waits until every connection has given its permit back. Each cuts itself when the time is over.
async fn drain(room: &Semaphore, options: &Options) {
    if timeout(options.stop_time_max, room.acquire_many(options.connections_max)).await.is_err() {
        let left = options.connections_max as usize - room.available_permits();
        warn!(left, "connections were cut because their requests did not end in time");
    }
}
