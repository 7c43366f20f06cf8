//! An account of a server: its endpoint and the credential that requests to it carry.

use crate::answer::not_understood;
use crate::call::Call;
use crate::connection::{Connection, Host};
use crate::credential::Credential;
use crate::http::Address;
use bytes::Bytes;
use http::header::AUTHORIZATION;
use http::{HeaderValue, Request};
use orrery_core::{Env, Timestamp};
use serde::Deserialize;
use std::path::PathBuf;

#[derive(Clone)]
pub struct Account {
    pub host: Host,
    credential: Credential,
    ca: Option<PathBuf>,
}

/// What a server says of itself beyond the protocol, in the answer to `GET /`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct About {
    pub account_id: String,
    pub services_port: u16,
    /// `None`: it has no queues, being older than they are.
    pub queue_port: Option<u16>,
    /// `None`: it has no tables.
    pub table_port: Option<u16>,
}

impl Account {
    /// `ca` is a PEM file with the authorities to trust.
    pub fn new(address: Address, credential: Credential, ca: Option<PathBuf>) -> Result<Self, String> {
        Ok(Self { host: Host::new(address, ca.as_deref())?, credential, ca })
    }

    /// One whose host is known already, and who is trusted there.
    pub fn at(host: Host, credential: Credential) -> Self {
        Self { host, credential, ca: None }
    }

    pub async fn connect(&self) -> Result<Connection, String> {
        self.host.connect("; start one with orrery serve, or give --url").await
    }

    /// Another port, with the same trust.
    pub fn host_at(&self, address: Address) -> Result<Host, String> {
        Host::new(address, self.ca.as_deref())
    }

    /// What the server says of itself; `None` if it is no Orrery, or one that does not say it.
    pub async fn about(&self) -> Result<Option<About>, String> {
        #[derive(Deserialize)]
        struct Root {
            orrery: Option<About>,
        }
        let now = Env::system().map_err(|error| error.to_string())?.now();
        let answer = self.connect().await?.exchange(Call::get(&[]).request(self, now)?).await?;
        if !answer.status.is_success() {
            return Err(answer.refusal());
        }
        let root: Root = answer.parse().map_err(|_| not_understood())?;
        Ok(root.orrery)
    }

    /// The header `authorization` for routes that take the key or a token as it is.
    pub fn bearer(&self) -> String {
        self.credential.bearer()
    }

    pub(crate) fn credential(&self) -> &Credential {
        &self.credential
    }

    /// Adds the credential to a request of the services port.
    pub(crate) fn sign(&self, request: &mut Request<Bytes>, now: Timestamp) -> Result<(), String> {
        let (date, path) = (now.to_http(), request.uri().path());
        let authorization = self.credential.services_authorization(request.method(), path, &date);
        let value = |text: &str| HeaderValue::from_str(text).map_err(|error| error.to_string());
        request.headers_mut().insert(AUTHORIZATION, value(&authorization)?);
        request.headers_mut().insert("x-ms-date", value(&date)?);
        Ok(())
    }
}
