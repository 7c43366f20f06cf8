//! One request on its way through: what was asked, by whom, and the body that has not been read yet.

use crate::errors::Failure;
use bytes::Bytes;
use hyper::body::Incoming;
use orrery_api_common::{BodyError, RequestBody};
use orrery_api_storage::{Grant, StorageRequest};
use orrery_blob_store::model::{Address, BlobName, ContainerId};
use orrery_catalog::storage::BlobContainerName;

pub struct Call {
    pub request: StorageRequest,
    body: RequestBody,
    /// Who asks; there once the request is authorized.
    pub grant: Option<Grant>,
    /// The caller may create a blob and not overwrite one.
    pub creates_only: bool,
}

impl Call {
    pub fn new(request: StorageRequest, body: Incoming) -> Self {
        Self { request, body: RequestBody::new(body), grant: None, creates_only: false }
    }

    /// A request that has no body, such as a part of a batch.
    pub fn without_body(request: StorageRequest) -> Self {
        Self { request, body: RequestBody::default(), grant: None, creates_only: false }
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
        self.body.read(bytes_max).await
    }

    /// The body as it arrives: of content.
    pub fn take_body(&mut self) -> Option<Incoming> {
        self.body.take()
    }

    /// What nobody read is thrown away, so that the connection can go on.
    pub async fn discard(self) {
        self.body.discard().await;
    }
}
