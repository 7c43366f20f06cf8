//! One TCP port for TLS and clear text, HTTP/1.1 and HTTP/2.
//!
//! The port may be open on several addresses. A connection is accepted and then waits for a slot in the
//! [table](crate::connection_table), where idle ones give way to it; meanwhile, others wait in the system's queue. On a
//! stop the listener closes the port, every connection finishes its requests (`Connection: close`, GOAWAY), and `serve`
//! returns when the last one has ended or at the deadline.
//!
//! ```text
//!   accept ──▶ place ──▶ connection::run ──▶ TLS? ──▶ HTTP/1.1 or 2 ──▶ web_guard ──▶ service(request, peer) ──▶ response
//! ```

use crate::Stop;
use crate::body::Answer;
use crate::connection::{self, Peer, Shared};
use crate::connection_table::{ConnectionCounts, ConnectionTable};
use crate::limits;
use crate::repoll::repoll_on_wake;
use crate::web_guard::{CorsRules, WebGuard};
use http::{Request, Response};
use hyper::body::Incoming;
use std::future::{Future, poll_fn};
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::time::sleep;
use tokio_rustls::TlsAcceptor;
use tracing::{debug, warn};

/// The system's queue of connections to accept.
const BACKLOG: u32 = 1024;
/// How long to pause after an accept failed for lack of resources, such as file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// A bound port that is not served yet.
pub struct Listener {
    sockets: Vec<TcpListener>,
    tls: Option<TlsAcceptor>,
    guard: WebGuard,
    counts: ConnectionCounts,
    options: Options,
}

/// Limits of a listener. The defaults are those of `limits`; tests choose smaller ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The port's name in the request log.
    pub name: &'static str,
    pub connections_max: u32,
    /// For a TLS handshake and the first request, and for each later request's head.
    pub head_time_max: Duration,
    pub idle_time_max: Duration,
    pub stop_time_max: Duration,
    /// The host names and origins served; `None` for the default of the address: on loopback its names, and no origin.
    pub guard: Option<WebGuard>,
    /// Whether the spelling of header names is kept, for [`spelled_headers`](crate::spelled_headers).
    pub keeps_spelling: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            name: "",
            connections_max: limits::CONNECTIONS_MAX as u32,
            head_time_max: Duration::from_secs(limits::HEAD_SECONDS_MAX),
            idle_time_max: Duration::from_secs(limits::IDLE_SECONDS_MAX),
            stop_time_max: Duration::from_secs(limits::STOP_SECONDS_MAX),
            guard: None,
            keeps_spelling: false,
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
        let by_address = || WebGuard::new(addr.ip().is_loopback(), Vec::new(), CorsRules::default());
        Ok(Self {
            sockets: vec![listen(addr)?],
            tls: tls.map(TlsAcceptor::from),
            guard: options.guard.clone().unwrap_or_else(by_address),
            counts: ConnectionCounts::default(),
            options,
        })
    }

    /// Binds another address, too.
    pub fn bind_also(&mut self, addr: SocketAddr) -> io::Result<()> {
        self.sockets.push(listen(addr)?);
        Ok(())
    }

    /// The first bound address.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.sockets[0].local_addr()
    }

    /// The counters of its connections.
    pub fn counts(&self) -> ConnectionCounts {
        self.counts.clone()
    }

    /// Answers every request with `service` until `stop`.
    pub async fn serve<S, F, B>(self, service: S, stop: Stop)
    where
        S: Fn(Request<Incoming>, Peer) -> F + Send + Sync + 'static,
        F: Future<Output = Response<B>> + Send + 'static,
        B: Answer,
    {
        let Self { sockets, tls, guard, counts, options } = self;
        let http = connection::http_builder(&options);
        let table = ConnectionTable::new(options.connections_max as usize, options.head_time_max, counts);
        let shared = Arc::new(Shared { service, http, tls, guard, options, stop });
        let mut stopped = pin!(shared.stop.stopped());
        let mut turn = 0;
        loop {
            let accepted = async {
                let (stream, addr) = accept(&sockets, &mut turn, &table).await;
                (stream, addr, table.place().await)
            };
            let (stream, addr, place) = tokio::select! {
                biased;
                () = &mut stopped => break,
                accepted = accepted => accepted,
            };
            orrery_core::tour_step!();
            let connection =
                connection::run(shared.clone(), stream, addr, place.activity.clone(), place.give_way.clone());
            tokio::spawn(repoll_on_wake(async move {
                connection.await;
                drop(place);
            }));
        }
        drop(sockets);
        // Each connection cuts itself at the deadline.
        let left = table.drained(shared.options.stop_time_max).await;
        if left > 0 {
            warn!(left, "connections were cut because their requests did not end in time");
        }
    }
}

fn listen(addr: SocketAddr) -> io::Result<TcpListener> {
    let socket = if addr.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // Lets a restarted server bind its port at once. On Windows the option means something else.
    #[cfg(not(windows))]
    socket.set_reuseaddr(true)?;
    socket.bind(addr)?;
    socket.listen(BACKLOG)
}

/// The next connection, on any of the addresses.
async fn accept(
    sockets: &[TcpListener],
    turn: &mut usize,
    table: &ConnectionTable,
) -> (TcpStream, SocketAddr) {
    loop {
        match next(sockets, turn).await {
            Ok(accepted) => return accepted,
            Err(error) if is_about_one_client(&error) => {
                debug!(%error, "a client left before it was accepted")
            }
            Err(error) => {
                warn!(%error, "cannot accept connections for the moment");
                // Usually the process has reached its limit of open files.
                table.make_room();
                sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

/// Starts with another socket each time, so that a flood at one address does not starve the others.
async fn next(sockets: &[TcpListener], turn: &mut usize) -> io::Result<(TcpStream, SocketAddr)> {
    *turn = turn.wrapping_add(1);
    let first = *turn % sockets.len();
    poll_fn(|context| {
        for socket in sockets[first..].iter().chain(&sockets[..first]) {
            if let Poll::Ready(accepted) = socket.poll_accept(context) {
                return Poll::Ready(accepted);
            }
        }
        Poll::Pending
    })
    .await
}

fn is_about_one_client(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset | Interrupted)
}
