//! The keys of an issuer, as it publishes them (OpenID Connect Discovery): asked for over https when a token needs one that
//! is not known, and at most so often.
//!
//! Over http only an issuer on this machine is asked, for development.

use super::{BearerError, KeySet};
use arc_swap::ArcSwap;
use bytes::Bytes;
use http::{Request, StatusCode, Uri};
use http_body_util::{BodyExt as _, Empty, Limited};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use orrery_core::limits;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};
use tokio_rustls::TlsConnector;

pub struct Discovery {
    issuer: String,
    connector: TlsConnector,
    known: ArcSwap<Known>,
    /// When the issuer was last asked; held while it is.
    asked: Mutex<Option<Instant>>,
}

#[derive(Default)]
struct Known {
    keys: KeySet,
    since: Option<Instant>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DiscoveryError {
    #[error("'{0}' is not an https address")]
    Address(String),
    #[error("no certificate authority is trusted on this machine: {0}")]
    Trust(String),
}

const AGE_MAX: Duration = Duration::from_secs(limits::ISSUER_AGE_SECONDS_MAX);
const REFRESH_MIN: Duration = Duration::from_secs(limits::ISSUER_REFRESH_SECONDS_MIN);
const TIME_MAX: Duration = Duration::from_secs(limits::ISSUER_SECONDS_MAX);

/// What this machine trusts.
pub fn trusted_roots() -> Result<RootCertStore, DiscoveryError> {
    let found = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(found.certs);
    if roots.is_empty() {
        let why = found.errors.first().map_or_else(|| "there is none".to_owned(), ToString::to_string);
        return Err(DiscoveryError::Trust(why));
    }
    Ok(roots)
}

impl Discovery {
    pub fn new(issuer: &str, roots: RootCertStore) -> Result<Self, DiscoveryError> {
        address(issuer).ok_or_else(|| DiscoveryError::Address(issuer.to_owned()))?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| DiscoveryError::Trust(error.to_string()))?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Self {
            issuer: issuer.to_owned(),
            connector: TlsConnector::from(Arc::new(config)),
            known: ArcSwap::default(),
            asked: Mutex::default(),
        })
    }

    pub fn issuer(&self) -> &str {
        &self.issuer
    }

    /// Keys among which is this one, if the issuer has it.
    pub(super) async fn keys_with(&self, kid: &str) -> Result<KeySet, BearerError> {
        let known = self.known.load_full();
        let is_known = known.keys.find(kid).is_some();
        let is_old = known.since.is_none_or(|since| since.elapsed() >= AGE_MAX);
        if is_known && (!is_old || self.asked.try_lock().is_err()) {
            return Ok(known.keys.clone());
        }
        match self.refreshed(kid).await {
            Ok(keys) => Ok(keys),
            // What was true yesterday is better than nobody let in while the issuer is away.
            Err(error) if is_known => {
                tracing::warn!(issuer = self.issuer, error, "the keys of an issuer could not be renewed");
                Ok(known.keys.clone())
            }
            Err(error) => Err(BearerError::KeysMissing(error)),
        }
    }

    async fn refreshed(&self, kid: &str) -> Result<KeySet, String> {
        let mut asked = self.asked.lock().await;
        let known = self.known.load_full();
        let is_new =
            known.since.is_some_and(|since| since.elapsed() < AGE_MAX) && known.keys.find(kid).is_some();
        // Somebody else asked while we waited, or somebody asked a moment ago.
        if is_new || asked.is_some_and(|at| at.elapsed() < REFRESH_MIN) {
            return match known.since {
                Some(_) => Ok(known.keys.clone()),
                None => Err("it did not answer a moment ago".to_owned()),
            };
        }
        *asked = Some(Instant::now());
        let keys = timeout(TIME_MAX, self.fetch()).await;
        let keys = keys.map_err(|_| format!("no answer within {} seconds", TIME_MAX.as_secs()))??;
        self.known.store(Arc::new(Known { keys: keys.clone(), since: Some(Instant::now()) }));
        Ok(keys)
    }

    async fn fetch(&self) -> Result<KeySet, String> {
        let about = format!("{}/.well-known/openid-configuration", self.issuer.trim_end_matches('/'));
        let about: Value = serde_json::from_slice(&self.get(&about).await?)
            .map_err(|error| format!("{about} is not JSON: {error}"))?;
        if about["issuer"].as_str() != Some(&self.issuer) {
            return Err(format!("it calls itself {}", about["issuer"]));
        }
        let keys = about["jwks_uri"].as_str().ok_or("it does not say where its keys are")?;
        KeySet::parse(&self.get(keys).await?).map_err(|error| format!("its keys at {keys}: {error}"))
    }

    async fn get(&self, url: &str) -> Result<Bytes, String> {
        let (uri, host, port) = address(url).ok_or_else(|| format!("'{url}' is not an https address"))?;
        let failed = |error: &dyn std::fmt::Display| format!("{url}: {error}");
        let stream = TcpStream::connect((&*host, port)).await.map_err(|error| failed(&error))?;
        if uri.scheme_str() == Some("http") {
            return exchange(stream, &uri).await.map_err(|error| failed(&error));
        }
        let name = ServerName::try_from(host).map_err(|error| failed(&error))?;
        let stream = self.connector.connect(name, stream).await.map_err(|error| failed(&error))?;
        exchange(stream, &uri).await.map_err(|error| failed(&error))
    }
}

async fn exchange(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    uri: &Uri,
) -> Result<Bytes, String> {
    let broken = |error: hyper::Error| error.to_string();
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(broken)?;
    // It ends with the sender; whatever breaks it reaches the request that waits for it.
    tokio::spawn(connection);
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    let host = uri.authority().map_or("", |authority| authority.as_str());
    let request = Request::get(path).header("host", host).header("accept", "application/json");
    let request = request.body(Empty::<Bytes>::new()).map_err(|error| error.to_string())?;
    let answer = sender.send_request(request).await.map_err(broken)?;
    if answer.status() != StatusCode::OK {
        return Err(format!("the answer is {}", answer.status()));
    }
    let body = Limited::new(answer.into_body(), limits::ISSUER_BYTES_MAX).collect().await;
    body.map(|body| body.to_bytes()).map_err(|error| error.to_string())
}

/// An address that may be asked: https, or http on this machine.
fn address(url: &str) -> Option<(Uri, String, u16)> {
    let uri: Uri = url.parse().ok()?;
    let host = uri.host()?.trim_start_matches('[').trim_end_matches(']').to_owned();
    let is_here = host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback());
    let port = match uri.scheme_str()? {
        "https" => uri.port_u16().unwrap_or(443),
        "http" if is_here => uri.port_u16().unwrap_or(80),
        _ => return None,
    };
    Some((uri, host, port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_https_is_asked_and_http_on_this_machine() {
        for good in
            ["https://login.example/t/v2.0", "http://localhost:9/x", "http://127.0.0.1", "http://[::1]:7"]
        {
            assert!(address(good).is_some(), "{good}");
        }
        for bad in
            ["http://login.example", "ftp://localhost", "login.example", "", "http://localhost.example"]
        {
            assert!(address(bad).is_none(), "{bad}");
        }
    }
}
