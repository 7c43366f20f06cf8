//! The HTTP client: HTTP/1.1 and HTTP/2, over TLS or in the clear.
//!
//! ```text
//! address      scheme, host and port
//! tls          whom to trust, which versions to offer
//! connection   one connection: dial, handshake, send
//! pool         the connections to one host
//! ```
//!
//! Few connections per host: over HTTP/2 requests share them, over HTTP/1.1 they take turns. An error says whether the
//! request may have arrived, which decides whether a retry is safe. A request that was certainly not sent, because the
//! server had closed the connection, is sent again here.

mod address;
mod connection;
mod pool;
#[cfg(test)]
mod tests;
mod tls;

pub use address::Address;
pub use tls::{Tls, Trust, Versions, certificates};

use crate::limits;
use bytes::Bytes;
use connection::{Connector, Unanswered};
use http::{Request, Response};
use pool::{Lent, Pool};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::timeout;

/// Why there is no response.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// The server was not reached.
    #[error("{address} cannot be reached: {reason}")]
    Unreachable { address: Address, reason: String },
    /// No connection was tried.
    #[error("{0}")]
    Unsent(String),
    #[error("there was no answer in time")]
    Timeout { arrived: Arrived },
    #[error("the connection broke: {reason}")]
    Broken { reason: String, arrived: Arrived },
    #[error("the answer is larger than {bytes_max} bytes")]
    TooLarge { bytes_max: usize },
}

/// Whether the server may have received and executed the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrived {
    No,
    Maybe,
}

impl SendError {
    pub fn may_have_arrived(&self) -> bool {
        match self {
            Self::Unreachable { .. } | Self::Unsent(_) => false,
            Self::Timeout { arrived } | Self::Broken { arrived, .. } => *arrived == Arrived::Maybe,
            Self::TooLarge { .. } => true,
        }
    }
}

/// A cheap handle; clones share the connections.
#[derive(Clone)]
pub struct Client(Arc<Inner>);

struct Inner {
    connector: Connector,
    pools: Mutex<HashMap<Address, Arc<Pool>>>,
}

impl Client {
    /// The error is a sentence, for example that nothing is trusted.
    pub fn new(tls: Tls) -> Result<Self, String> {
        let connector = Connector::new(tls)?;
        Ok(Self(Arc::new(Inner { connector, pools: Mutex::default() })))
    }

    /// Sends a request with an absolute URI and returns the complete response, whatever its status. The timeout covers
    /// everything from connecting to the last byte of the response.
    pub async fn send(
        &self,
        request: Request<Bytes>,
        time_max: Duration,
        answer_bytes_max: usize,
    ) -> Result<Response<Bytes>, SendError> {
        let pool = self.pool(Address::of(request.uri()).map_err(SendError::Unsent)?)?;
        let is_sent = AtomicBool::new(false);
        let exchange = exchange(&self.0.connector, &pool, request, answer_bytes_max, &is_sent);
        match timeout(time_max, exchange).await {
            Ok(answered) => answered,
            Err(_) => {
                let arrived = if is_sent.load(Ordering::Relaxed) { Arrived::Maybe } else { Arrived::No };
                Err(SendError::Timeout { arrived })
            }
        }
    }

    /// Opens a connection that the next request will use, if none is open.
    pub async fn connect(&self, address: &Address) -> Result<(), SendError> {
        self.pool(address.clone())?.borrow(&self.0.connector).await.map(Lent::give_back)
    }

    fn pool(&self, address: Address) -> Result<Arc<Pool>, SendError> {
        let mut pools = self.0.pools.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pool) = pools.get(&address) {
            return Ok(pool.clone());
        }
        if pools.len() >= limits::HTTP_HOSTS_MAX {
            pools.retain(|_, pool| !pool.is_idle());
        }
        if pools.len() >= limits::HTTP_HOSTS_MAX {
            return Err(SendError::Unsent(format!(
                "more than {} hosts are spoken to at once",
                limits::HTTP_HOSTS_MAX
            )));
        }
        let pool = Arc::new(Pool::new(address.clone()));
        pools.insert(address, pool.clone());
        Ok(pool)
    }
}

/// A pooled connection may have just been closed; so may a new one, if the host is stopping.
const SENDS_MAX: usize = 4;

async fn exchange(
    connector: &Connector,
    pool: &Pool,
    mut request: Request<Bytes>,
    answer_bytes_max: usize,
    is_sent: &AtomicBool,
) -> Result<Response<Bytes>, SendError> {
    let mut unsent = String::new();
    for _ in 0..SENDS_MAX {
        let mut lent = pool.borrow(connector).await?;
        is_sent.store(true, Ordering::Relaxed);
        match lent.exchange(request, answer_bytes_max).await {
            Ok(answer) => return Ok(answer),
            Err(Unanswered::Error(error)) => return Err(error),
            Err(Unanswered::Request(again, reason)) => {
                is_sent.store(false, Ordering::Relaxed);
                (request, unsent) = (*again, reason);
            }
        }
    }
    Err(SendError::Broken { reason: unsent, arrived: Arrived::No })
}
