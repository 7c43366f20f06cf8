//! One request on its way through: what was asked, by whom, and the body that has not been read yet.

use crate::errors::Failure;
use crate::head::Head;
use crate::options::QueryOptions;
use crate::verb::{Verb, verb};
use bytes::Bytes;
use http::HeaderMap;
use hyper::body::Incoming;
use orrery_api_common::RequestBody;
use orrery_api_storage::{StorageError, StorageRequest};
use orrery_catalog::storage::AccountName;
use std::borrow::Cow;

pub struct Call {
    pub request: StorageRequest,
    /// The account, as the client addressed it.
    pub base_url: String,
    body: RequestBody,
}

impl Call {
    pub fn new(request: StorageRequest, body: Incoming) -> Self {
        Self { base_url: request.base_url(), request, body: RequestBody::new(body) }
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
        Ok(self.body.read(bytes_max).await?)
    }

    /// What nobody read is thrown away, so that the connection can go on.
    pub async fn discard(self) {
        self.body.discard().await;
    }
}

/// What is no text is made one: a header that was passed over would mean another request.
fn header_text<'a>(headers: &'a HeaderMap, name: &str) -> Option<Cow<'a, str>> {
    headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()))
}
