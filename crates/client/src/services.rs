//! The services port of a running server, found from its Cosmos DB endpoint.
//!
//! `GET /` of the endpoint returns the port and the account's id, `/healthz` of the port returns the id again. The two
//! must be equal before any request, so that a command never changes a server other than the one named by `--url`.

use crate::account::{About, Account};
use crate::answer::Answer;
use crate::connection::{Connection, Host};
use crate::http::Address;
use bytes::Bytes;
use http::Request;
use http::header::AUTHORIZATION;
use http::request::Builder;
use orrery_core::Env;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// A connection to it.
pub struct Services {
    account: Account,
    connection: Connection,
}

impl Services {
    /// The services port of the account's server, as the server reports it or, behind a port mapping, at `url`.
    pub async fn find(account: &Account, url: Option<&str>) -> Result<Self, String> {
        let about = account.about().await;
        let (address, about) = match url {
            // A token may be valid for the services without permission to read the account.
            Some(url) => (Address::parse("--services-url", url)?, about.unwrap_or_default()),
            None => {
                let about = about?.ok_or_else(|| {
                    format!(
                        "{} does not say where its services are; is it an Orrery of this version?",
                        account.host.address
                    )
                })?;
                (account.host.address.at_port(about.services_port), Some(about))
            }
        };
        let mut services = Self::open(account.clone(), account.host_at(address)?).await?;
        if let Some(about) = about {
            services.check(&about).await?;
        }
        Ok(services)
    }

    pub async fn open(account: Account, host: Host) -> Result<Self, String> {
        let connection = host.connect("; the server says that its services are there").await?;
        Ok(Self { account, connection })
    }

    pub fn address(&self) -> &Address {
        self.connection.address()
    }

    /// Whether this port belongs to the account's server.
    async fn check(&mut self, about: &About) -> Result<(), String> {
        // It may belong to another server, which must not see the credential.
        let healthy: Value = self.send(Request::get("/healthz"), Bytes::new(), |_| Ok(())).await?.json()?;
        if healthy["accountId"] == about.account_id.as_str() {
            return Ok(());
        }
        Err(format!(
            "{} is a port of another server than {}; nothing was done",
            self.address(),
            self.account.host.address
        ))
    }

    /// Sends a request with the account's credential, unless it has one, and returns the response, whatever its status.
    pub async fn exchange(&mut self, request: Builder, body: Bytes) -> Result<Answer, String> {
        let account = self.account.clone();
        let sign = |request: &mut Request<Bytes>| {
            if request.headers().contains_key(AUTHORIZATION) {
                return Ok(());
            }
            account.sign(request, Env::system().map_err(|error| error.to_string())?.now())
        };
        self.send(request, body, sign).await
    }

    async fn send(
        &mut self,
        request: Builder,
        body: Bytes,
        sign: impl FnOnce(&mut Request<Bytes>) -> Result<(), String>,
    ) -> Result<Answer, String> {
        let mut request = request.header("host", self.address().authority());
        let headers = request.headers_ref();
        if headers.is_some_and(|headers| !headers.contains_key("content-type")) {
            request = request.header("content-type", "application/json");
        }
        let request = request.body(body);
        let mut request = request.map_err(|error| format!("the request cannot be written: {error}"))?;
        sign(&mut request)?;
        self.connection.exchange(request).await
    }

    /// The response to a successful request, else the server's reason.
    pub async fn ask<T: DeserializeOwned>(&mut self, request: Builder, body: Bytes) -> Result<T, String> {
        let answer = self.exchange(request, body).await?;
        if !answer.status.is_success() {
            return Err(answer.refusal());
        }
        serde_json::from_slice(&answer.body)
            .map_err(|error| format!("the server's answer is not understood: {error}"))
    }
}
