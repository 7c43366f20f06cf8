//! The connections to one host.
//!
//! The host's HTTP version is known after the first connection, so until then one is opened at a time. HTTP/2: a
//! connection carries many requests, and another is opened only when all are full. HTTP/1.1: a connection carries one
//! request, and a request waits while the maximum number is busy.

use super::SendError;
use super::address::Address;
use super::connection::{Connector, Http1, Http2, Opened, Unanswered, send_http1, send_http2};
use crate::limits;
use bytes::Bytes;
use http::{Request, Response};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Mutex as AsyncMutex, Semaphore, SemaphorePermit};
use tokio::time::Instant;

pub struct Pool {
    address: Address,
    open: Mutex<Open>,
    /// Held while opening a connection that other requests may share.
    opening: AsyncMutex<()>,
    /// Permits for HTTP/1.1 connections.
    room: Semaphore,
    speaks_http1: AtomicBool,
}

#[derive(Default)]
struct Open {
    shared: Vec<Arc<Shared>>,
    idle: Vec<(Http1, Instant)>,
}

/// An HTTP/2 connection with its load.
struct Shared {
    sender: Http2,
    requests: AtomicUsize,
}

const IDLE_TIME_MAX: Duration = Duration::from_secs(limits::HTTP_IDLE_SECONDS_MAX);

impl Pool {
    pub fn new(address: Address) -> Self {
        Self {
            address,
            open: Mutex::default(),
            opening: AsyncMutex::default(),
            room: Semaphore::new(limits::HTTP_CONNECTIONS_PER_HOST_MAX),
            speaks_http1: AtomicBool::new(false),
        }
    }

    /// Whether the pool is idle.
    pub fn is_idle(&self) -> bool {
        let is_quiet = |shared: &Arc<Shared>| shared.requests.load(Ordering::Relaxed) == 0;
        self.room.available_permits() == limits::HTTP_CONNECTIONS_PER_HOST_MAX
            && self.opening.try_lock().is_ok()
            && self.open().shared.iter().all(is_quiet)
    }

    /// A connection for one request.
    pub async fn borrow<'a>(&'a self, connector: &Connector) -> Result<Lent<'a>, SendError> {
        loop {
            if let Some(shared) = self.shared() {
                return Ok(shared);
            }
            if self.speaks_http1.load(Ordering::Relaxed) {
                return self.own(connector).await;
            }
            let opening = self.opening.lock().await;
            if let Some(shared) = self.shared() {
                return Ok(shared);
            }
            if self.speaks_http1.load(Ordering::Relaxed) {
                continue;
            }
            match connector.open(&self.address).await? {
                Opened::Http2(sender) => {
                    self.open().shared.push(Arc::new(Shared { sender, requests: AtomicUsize::new(0) }));
                }
                Opened::Http1(sender) => {
                    self.speaks_http1.store(true, Ordering::Relaxed);
                    self.keep(sender);
                }
            }
            drop(opening);
        }
    }

    /// The least busy HTTP/2 connection, unless all are full and another may be opened.
    fn shared(&self) -> Option<Lent<'_>> {
        let mut open = self.open();
        open.shared.retain(|shared| !shared.sender.is_closed());
        let least = open.shared.iter().min_by_key(|shared| shared.requests.load(Ordering::Relaxed))?;
        let is_full = least.requests.load(Ordering::Relaxed) >= limits::HTTP_STREAMS_PER_CONNECTION;
        if is_full && open.shared.len() < limits::HTTP_CONNECTIONS_PER_HOST_MAX {
            return None;
        }
        least.requests.fetch_add(1, Ordering::Relaxed);
        Some(Lent(Some(Held::Shared { pool: self, shared: least.clone() })))
    }

    /// An idle HTTP/1.1 connection, or a new one.
    async fn own(&self, connector: &Connector) -> Result<Lent<'_>, SendError> {
        let permit = self.room.acquire().await.map_err(|error| SendError::Unsent(error.to_string()))?;
        let idle = self.idle();
        let sender = match idle {
            Some(sender) => sender,
            None => match connector.open(&self.address).await? {
                Opened::Http1(sender) => sender,
                Opened::Http2(sender) => {
                    // The host speaks HTTP/2 by now.
                    self.speaks_http1.store(false, Ordering::Relaxed);
                    let shared = Arc::new(Shared { sender, requests: AtomicUsize::new(1) });
                    self.open().shared.push(shared.clone());
                    return Ok(Lent(Some(Held::Shared { pool: self, shared })));
                }
            },
        };
        Ok(Lent(Some(Held::Own { pool: self, sender, _permit: permit })))
    }

    /// The most recently used one, which is the least likely to have been closed.
    fn idle(&self) -> Option<Http1> {
        let mut open = self.open();
        open.idle.retain(|(sender, since)| !sender.is_closed() && since.elapsed() < IDLE_TIME_MAX);
        open.idle.pop().map(|(sender, _)| sender)
    }

    fn keep(&self, sender: Http1) {
        if !sender.is_closed() {
            self.open().idle.push((sender, Instant::now()));
        }
    }

    fn forget(&self, which: &Arc<Shared>) {
        self.open().shared.retain(|shared| !Arc::ptr_eq(shared, which));
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A connection for one request. If dropped before the response was read, an exclusive one is closed; a shared one is
/// left to its current users and not reused: the request may have been abandoned because the connection is dead.
pub struct Lent<'a>(Option<Held<'a>>);

enum Held<'a> {
    Shared { pool: &'a Pool, shared: Arc<Shared> },
    Own { pool: &'a Pool, sender: Http1, _permit: SemaphorePermit<'a> },
}

impl Lent<'_> {
    /// Returns the connection to the pool.
    pub fn give_back(mut self) {
        match self.0.take() {
            Some(Held::Own { pool, sender, .. }) => pool.keep(sender),
            Some(Held::Shared { shared, .. }) => {
                shared.requests.fetch_sub(1, Ordering::Relaxed);
            }
            None => {}
        }
    }

    pub async fn exchange(
        &mut self,
        request: Request<Bytes>,
        bytes_max: usize,
    ) -> Result<Response<Bytes>, Unanswered> {
        let answered = match &mut self.0 {
            Some(Held::Shared { shared, .. }) => {
                let mut sender = shared.sender.clone();
                send_http2(&mut sender, request, bytes_max).await
            }
            Some(Held::Own { sender, .. }) => send_http1(sender, request, bytes_max).await,
            None => {
                return Err(Unanswered::Request(
                    Box::new(request),
                    "the connection was used before".to_owned(),
                ));
            }
        };
        match (self.0.take(), &answered) {
            (Some(Held::Own { pool, sender, .. }), Ok(_)) => pool.keep(sender),
            (
                Some(Held::Shared { shared, .. }),
                Ok(_) | Err(Unanswered::Error(SendError::TooLarge { .. })),
            ) => {
                shared.requests.fetch_sub(1, Ordering::Relaxed);
            }
            (held, _) => self.0 = held,
        }
        answered
    }
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        if let Some(Held::Shared { pool, shared }) = self.0.take() {
            shared.requests.fetch_sub(1, Ordering::Relaxed);
            pool.forget(&shared);
        }
    }
}
