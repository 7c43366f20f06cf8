//! A service's storage: a database behind the port, and the containers in it that the service ensures.

use super::ServiceError;
use crate::idempotency::Records;
use crate::ports::documents::{Documents, Layout};
use tokio::sync::OnceCell;

pub struct Stores {
    documents: Documents,
    /// The first one is created with the others, so its presence shows that the service has been used.
    layout: Vec<Layout>,
    /// The container for leases, idempotency records and cursors; see [`crate::service_container`].
    own: &'static str,
    ensured: OnceCell<()>,
}

impl Stores {
    /// `own` names the container of `layout` that holds the service's own records.
    pub fn new(documents: Documents, layout: Vec<Layout>, own: &'static str) -> Self {
        Self { documents, layout, own, ensured: OnceCell::new() }
    }

    pub fn documents(&self) -> &Documents {
        &self.documents
    }

    /// Creates the missing containers; after the first success it sends no request.
    pub async fn ensure(&self) -> Result<(), ServiceError> {
        let ensure = || async { Ok(self.documents.ensure(&self.layout).await?) };
        self.ensured.get_or_try_init(ensure).await.copied()
    }

    /// Whether the containers are known to exist.
    pub fn is_ensured(&self) -> bool {
        self.ensured.initialized()
    }

    /// Whether the containers may exist although nothing has checked yet. Sends no request.
    pub fn may_exist(&self) -> bool {
        self.layout.first().is_none_or(|first| self.documents.may_have(first.name()))
    }

    /// The service's idempotency records.
    pub fn idempotency(&self) -> Records<'_> {
        Records { documents: &self.documents, container: self.own }
    }
}
