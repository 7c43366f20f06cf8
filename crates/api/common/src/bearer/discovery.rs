//! The keys of an issuer, as it publishes them (OpenID Connect Discovery): requested over https when a token needs an
//! unknown one, at a limited rate.
//!
//! Over http only an issuer on this machine is allowed, for development.

use super::{BearerError, KeySet};
use crate::limits;
use arc_swap::ArcSwap;
use bytes::Bytes;
use http::header::ACCEPT;
use http::uri::Scheme;
use http::{Request, StatusCode, Uri};
use orrery_client::Address;
use orrery_client::http::{Client, Tls, Trust, Versions};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};

pub struct Discovery {
    issuer: String,
    client: Client,
    known: ArcSwap<Known>,
    /// The time of the last request; locked during a request.
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
    #[error("{0}")]
    Trust(String),
}

const AGE_MAX: Duration = Duration::from_secs(limits::ISSUER_AGE_SECONDS_MAX);
const REFRESH_MIN: Duration = Duration::from_secs(limits::ISSUER_REFRESH_SECONDS_MIN);
const TIME_MAX: Duration = Duration::from_secs(limits::ISSUER_SECONDS_MAX);

impl Discovery {
    pub fn new(issuer: &str, trust: Trust) -> Result<Self, DiscoveryError> {
        address(issuer).ok_or_else(|| DiscoveryError::Address(issuer.to_owned()))?;
        let client = Client::new(Tls { trust, versions: Versions::Http1 }).map_err(DiscoveryError::Trust)?;
        let issuer = issuer.to_owned();
        Ok(Self { issuer, client, known: ArcSwap::default(), asked: Mutex::default() })
    }

    pub fn issuer(&self) -> &str {
        &self.issuer
    }

    /// Keys that include this one, if the issuer has it.
    pub(super) async fn keys_with(&self, kid: &str) -> Result<KeySet, BearerError> {
        let known = self.known.load_full();
        let is_known = known.keys.find(kid).is_some();
        let is_old = known.since.is_none_or(|since| since.elapsed() >= AGE_MAX);
        if is_known && (!is_old || self.asked.try_lock().is_err()) {
            return Ok(known.keys.clone());
        }
        match self.refreshed(kid).await {
            Ok(keys) => Ok(keys),
            // Stale keys are better than refusing everybody while the issuer is unreachable.
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
        // A concurrent or recent request has refreshed the keys.
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
        let uri = address(url).ok_or_else(|| format!("'{url}' is not an https address"))?;
        let failed = |error: &dyn std::fmt::Display| format!("{url}: {error}");
        let request = Request::get(uri).header(ACCEPT, "application/json").body(Bytes::new());
        let request = request.map_err(|error| failed(&error))?;
        let answer = self.client.send(request, TIME_MAX, limits::ISSUER_BYTES_MAX).await;
        let answer = answer.map_err(|error| failed(&error))?;
        if answer.status() != StatusCode::OK {
            return Err(failed(&format!("the answer is {}", answer.status())));
        }
        Ok(answer.into_body())
    }
}

/// A permitted address: https, or http on this machine.
fn address(url: &str) -> Option<Uri> {
    let uri: Uri = url.parse().ok()?;
    let address = Address::of(&uri).ok()?;
    let may_be_asked = uri.scheme() == Some(&Scheme::HTTPS) || address.is_loopback();
    may_be_asked.then_some(uri)
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
