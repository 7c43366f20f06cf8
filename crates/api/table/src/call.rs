//! One request on its way through: what was asked, by whom, and the body that has not been read yet.

use crate::errors::Failure;
use crate::head::Head;
use crate::options::QueryOptions;
use crate::verb::{Verb, verb};
use bytes::Bytes;
use http::HeaderMap;
use hyper::body::Incoming;
use orrery_api_common::{BodyHold, discard_body, read_body_held};
use orrery_api_storage::{StorageError, StorageRequest};
use orrery_catalog::storage::AccountName;
use std::borrow::Cow;

pub struct Call {
    pub request: StorageRequest,
    /// The account, as the client addressed it.
    pub base_url: String,
    body: Option<Incoming>,
    /// What the body takes of the memory for bodies, until the request is answered.
    hold: BodyHold,
}

impl Call {
    pub fn new(request: StorageRequest, body: Incoming) -> Self {
        Self { base_url: request.base_url(), request, body: Some(body), hold: BodyHold::default() }
    }

    pub fn account(&self) -> &AccountName {
        &self.request.account
    }

    pub fn verb(&self) -> Result<Verb, Failure> {
        let tunnelled = header_text(&self.request.head.headers, "x-http-method");
        Ok(verb(self.request.method(), tunnelled.as_deref()).ok_or_else(StorageError::unsupported_verb)?)
    }

    pub fn header(&self, name: &str) -> Option<Cow<'_, str>> {
        header_text(&self.request.head.headers, name)
    }

    pub fn head(&self) -> Result<Head, Failure> {
        Head::read(|name| self.header(name), self.request.query("$format").as_deref())
    }

    pub fn options(&self) -> Result<QueryOptions, Failure> {
        Ok(QueryOptions::read(self.request.query.meant())?)
    }

    /// The whole body, once.
    pub async fn body(&mut self, bytes_max: usize) -> Result<Bytes, Failure> {
        let Some(body) = self.body.take() else { return Ok(Bytes::new()) };
        let (bytes, hold) = read_body_held(body, bytes_max).await?;
        self.hold = hold;
        Ok(bytes)
    }

    /// What nobody read is thrown away, so that the connection can go on.
    pub async fn discard(self) {
        if let Some(body) = self.body {
            discard_body(body).await;
        }
    }
}

/// What is no text is made one: a header that was passed over would mean another request.
fn header_text<'a>(headers: &'a HeaderMap, name: &str) -> Option<Cow<'a, str>> {
    headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()))
}
