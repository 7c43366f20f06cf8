//! One request on its way through: what was asked, by whom, and the body that has not been read yet.

use crate::errors::Failure;
use bytes::Bytes;
use hyper::body::Incoming;
use orrery_api_common::{BodyError, BodyHold, discard_body, read_body_held};
use orrery_api_storage::{Grant, StorageRequest};
use orrery_blob_store::model::{Address, BlobName, ContainerId};
use orrery_catalog::storage::BlobContainerName;

pub struct Call {
    pub request: StorageRequest,
    body: Option<Incoming>,
    /// What a small body takes of the memory for bodies, until the request is answered.
    hold: BodyHold,
    /// Who asks; there once the request is authorized.
    pub grant: Option<Grant>,
    /// The caller may create a blob and not overwrite one.
    pub creates_only: bool,
}

impl Call {
    pub fn new(request: StorageRequest, body: Incoming) -> Self {
        Self { request, body: Some(body), hold: BodyHold::default(), grant: None, creates_only: false }
    }

    /// A request that has no body, such as a part of a batch.
    pub fn without_body(request: StorageRequest) -> Self {
        Self { request, body: None, hold: BodyHold::default(), grant: None, creates_only: false }
    }

    /// The container of this name in the account that the request is about.
    pub fn container(&self, name: &str) -> Result<ContainerId, Failure> {
        let name = BlobContainerName::parse(name)?;
        Ok(ContainerId { account: self.request.account.clone(), name })
    }

    pub fn blob(&self, container: &str, name: &str) -> Result<Address, Failure> {
        Ok(self.container(container)?.blob(BlobName::parse(name)?))
    }

    /// The whole body, once: of a document.
    pub async fn document(&mut self, bytes_max: usize) -> Result<Bytes, BodyError> {
        let Some(body) = self.body.take() else { return Ok(Bytes::new()) };
        let (bytes, hold) = read_body_held(body, bytes_max).await?;
        self.hold = hold;
        Ok(bytes)
    }

    /// The body as it arrives: of content.
    pub fn take_body(&mut self) -> Option<Incoming> {
        self.body.take()
    }

    /// What nobody read is thrown away, so that the connection can go on.
    pub async fn discard(self) {
        if let Some(body) = self.body {
            discard_body(body).await;
        }
    }
}
