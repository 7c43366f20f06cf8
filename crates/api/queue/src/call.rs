//! One request on its way through: what was asked, by whom, and the body that has not been read yet.

use crate::errors::Failure;
use bytes::Bytes;
use hyper::body::Incoming;
use orrery_api_common::{BodyError, RequestBody};
use orrery_api_storage::StorageRequest;
use orrery_catalog::storage::QueueName;
use orrery_queue_store::QueueId;

pub struct Call {
    pub request: StorageRequest,
    body: RequestBody,
}

impl Call {
    pub fn new(request: StorageRequest, body: Incoming) -> Self {
        Self { request, body: RequestBody::new(body) }
    }

    /// The queue of this name in the account that the request is about.
    pub fn queue(&self, name: &str) -> Result<QueueId, Failure> {
        let name = QueueName::parse(name)?;
        Ok(QueueId { account: self.request.account.clone(), name })
    }

    /// The whole body, once.
    pub async fn body(&mut self, bytes_max: usize) -> Result<Bytes, BodyError> {
        self.body.read(bytes_max).await
    }

    /// What nobody read is thrown away, so that the connection can go on.
    pub async fn discard(self) {
        self.body.discard().await;
    }
}
