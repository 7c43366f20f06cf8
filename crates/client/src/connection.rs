//! A server: its address, the trust settings, and requests to it.

use crate::answer::Answer;
use crate::http::{Address, Client, SendError, Tls, Trust, Versions, certificates};
use bytes::Bytes;
use http::{Request, Uri};
use orrery_core::limits;
use orrery_query::limits::VALUE_BYTES_MAX;
use std::path::Path;
use std::time::Duration;

/// A page ends at 4 MiB, but contains at least one row of any size that a query can build.
const ANSWER_BYTES_MAX: usize = limits::PAGE_BYTES_MAX + 4 * VALUE_BYTES_MAX;
const ANSWER_TIME_MAX: Duration = Duration::from_secs(limits::REQUEST_SECONDS_MAX);

/// A server to connect to. A cheap handle; clones share the connections.
#[derive(Clone)]
pub struct Host {
    pub address: Address,
    client: Client,
}

impl Host {
    /// With the trust settings from [`trust`].
    pub fn new(address: Address, ca: Option<&Path>) -> Result<Self, String> {
        let trust = trust(&address, ca)?;
        Self::trusting(address, trust, Versions::Http1)
    }

    pub fn trusting(address: Address, trust: Trust, versions: Versions) -> Result<Self, String> {
        Ok(Self { address, client: Client::new(Tls { trust, versions })? })
    }

    /// Checks that the server responds. The hint is appended to the error if it does not.
    pub async fn connect(&self, hint: &'static str) -> Result<Connection, String> {
        let connection = Connection { host: self.clone(), hint };
        self.client.connect(&self.address).await.map_err(|error| connection.sentence(error))?;
        Ok(connection)
    }

    /// The response to a request whose URI is a path, whatever its status.
    pub async fn send(
        &self,
        mut request: Request<Bytes>,
        time_max: Duration,
        answer_bytes_max: usize,
    ) -> Result<Answer, SendError> {
        *request.uri_mut() = self
            .absolute(request.uri())
            .map_err(|error| SendError::Unsent(format!("the request cannot be written: {error}")))?;
        self.client.send(request, time_max, answer_bytes_max).await.map(Answer::new)
    }

    fn absolute(&self, uri: &Uri) -> Result<Uri, http::Error> {
        let path = uri.path_and_query().map_or("/", |path| path.as_str());
        let scheme = if self.address.is_tls { "https" } else { "http" };
        Uri::builder().scheme(scheme).authority(self.address.authority()).path_and_query(path).build()
    }
}

/// The trust settings for an address: the authorities in the file `ca`; without one, those of this machine. A server on
/// loopback may have any certificate: an impostor there could impersonate it over http as well.
pub fn trust(address: &Address, ca: Option<&Path>) -> Result<Trust, String> {
    Ok(match ca {
        // Trusts nothing, so that a machine without any authority is no obstacle.
        _ if !address.is_tls => Trust::These(Vec::new()),
        Some(path) => {
            let pem = std::fs::read(path)
                .map_err(|error| format!("--ca {} cannot be read: {error}", path.display()))?;
            Trust::These(certificates(&pem).map_err(|error| format!("--ca {}: {error}", path.display()))?)
        }
        None if address.is_loopback() => Trust::Anything,
        None => Trust::System,
    })
}

/// A server that is known to respond. Errors are sentences.
#[derive(Clone)]
pub struct Connection {
    host: Host,
    hint: &'static str,
}

impl Connection {
    pub fn address(&self) -> &Address {
        &self.host.address
    }

    pub async fn exchange(&self, request: Request<Bytes>) -> Result<Answer, String> {
        let sent = self.host.send(request, ANSWER_TIME_MAX, ANSWER_BYTES_MAX).await;
        sent.map_err(|error| self.sentence(error))
    }

    fn sentence(&self, error: SendError) -> String {
        match error {
            SendError::Unreachable { address, reason } => {
                format!("no server at {address} ({reason}){}", self.hint)
            }
            SendError::Timeout { .. } => {
                format!("the server gave no answer within {} seconds", ANSWER_TIME_MAX.as_secs())
            }
            other => other.to_string(),
        }
    }
}
