//! One request on its way through: what was asked, by whom, and the body that has not been read yet.

use crate::errors::Failure;
use bytes::Bytes;
use hyper::body::Incoming;
use orrery_api_common::{BodyError, BodyHold, discard_body, read_body_held};
use orrery_api_storage::StorageRequest;
use orrery_catalog::storage::QueueName;
use orrery_queue_store::QueueId;

pub struct Call {
    pub request: StorageRequest,
    body: Option<Incoming>,
    /// What the body takes of the memory for bodies, until the request is answered.
    hold: BodyHold,
}

impl Call {
    pub fn new(request: StorageRequest, body: Incoming) -> Self {
        Self { request, body: Some(body), hold: BodyHold::default() }
    }

    /// The queue of this name in the account that the request is about.
    pub fn queue(&self, name: &str) -> Result<QueueId, Failure> {
        let name = QueueName::parse(name)?;
        Ok(QueueId { account: self.request.account.clone(), name })
    }

    /// The whole body, once.
    pub async fn body(&mut self, bytes_max: usize) -> Result<Bytes, BodyError> {
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
