//! One connection to a server, kept for all requests: HTTP/1.1, one request at a time, over TLS if the URL is https.

use super::address::Address;
use super::answer::Answer;
use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use orrery_core::limits;
use orrery_kit::http::{Tls, Trust, Versions, certificates};
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

/// A page ends at 4 MiB, but its first row is there at any size that a query can build.
const ANSWER_BYTES_MAX: usize = limits::PAGE_BYTES_MAX + 4 * limits::VALUE_BYTES_MAX;
const CONNECT_TIME_MAX: Duration = Duration::from_secs(limits::HEAD_SECONDS_MAX);
const ANSWER_TIME_MAX: Duration = Duration::from_secs(limits::REQUEST_SECONDS_MAX);

/// A server to connect to: its address and, for https, the certificates that are trusted.
#[derive(Clone)]
pub struct Host {
    pub address: Address,
    tls: Option<Arc<ClientConfig>>,
}

impl Host {
    /// Trusts the authorities in the file `ca`; without one, those of this machine. A server on loopback may have
    /// any certificate: whoever could stand in for it there could do so over http as well.
    pub fn new(address: Address, ca: Option<&Path>) -> Result<Self, String> {
        if !address.is_tls {
            return Ok(Self { address, tls: None });
        }
        let trust = match ca {
            Some(path) => {
                let pem = std::fs::read(path)
                    .map_err(|error| format!("--ca {} cannot be read: {error}", path.display()))?;
                Trust::These(certificates(&pem).map_err(|error| format!("--ca {}: {error}", path.display()))?)
            }
            None if address.is_loopback() => Trust::Anything,
            None => Trust::System,
        };
        let tls = Some(Tls { trust, versions: Versions::Http1 }.config()?);
        Ok(Self { address, tls })
    }

    /// The hint ends the sentence that says that nobody answers.
    pub async fn connect(&self, hint: &str) -> Result<Connection, String> {
        let opened = timeout(CONNECT_TIME_MAX, self.dial()).await;
        opened
            .unwrap_or_else(|_| Err("it does not answer".to_owned()))
            .map_err(|why| format!("no server at {} ({why}){hint}", self.address))
    }

    async fn dial(&self) -> Result<Connection, String> {
        let Address { host, port, .. } = &self.address;
        let stream = TcpStream::connect((&**host, *port)).await.map_err(|error| error.to_string())?;
        let Some(tls) = &self.tls else { return handshake(stream).await };
        let name = ServerName::try_from(host.clone()).map_err(|error| error.to_string())?;
        let stream = TlsConnector::from(tls.clone()).connect(name, stream).await;
        handshake(stream.map_err(|error| error.to_string())?).await
    }
}

async fn handshake(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
) -> Result<Connection, String> {
    let (sender, connection) =
        http1::handshake(TokioIo::new(stream)).await.map_err(|error| error.to_string())?;
    // It ends with the sender; whatever breaks it reaches the request that waits for it.
    tokio::spawn(connection);
    Ok(Connection { sender })
}

pub struct Connection {
    sender: SendRequest<Full<Bytes>>,
}

impl Connection {
    pub async fn exchange(&mut self, request: Request<Full<Bytes>>) -> Result<Answer, String> {
        let late = |_| format!("the server gave no answer within {} seconds", ANSWER_TIME_MAX.as_secs());
        timeout(ANSWER_TIME_MAX, self.answer(request)).await.map_err(late)?
    }

    async fn answer(&mut self, request: Request<Full<Bytes>>) -> Result<Answer, String> {
        let broken = |error: hyper::Error| format!("the connection broke: {error}");
        self.sender.ready().await.map_err(broken)?;
        let (head, body) = self.sender.send_request(request).await.map_err(broken)?.into_parts();
        let body = Limited::new(body, ANSWER_BYTES_MAX).collect().await;
        let body = body.map_err(|error| format!("the answer broke off: {error}"))?.to_bytes();
        Ok(Answer { status: head.status, headers: head.headers, body })
    }
}
