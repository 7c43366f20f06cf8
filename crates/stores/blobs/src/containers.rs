//! Operations on containers. Definitions are read from memory, which shows a change as soon as it is answered here.

use crate::error::Error;
use crate::store::BlobStore;
use orrery_blobs::containers::{
    self, Container, ContainerConditions, ContainerPage, ContainerVersion, ListContainers, NewContainer,
    PublicAccess,
};
use orrery_blobs::lease::{LeaseAction, Leased};
use orrery_blobs::{BlobError, ContainerId, Stamp};
use orrery_catalog::storage::{AccountName, BlobContainerName, Metadata, SignedIdentifiers};
use orrery_kv::Txn;
use std::sync::Arc;

impl BlobStore {
    pub async fn create_container(
        &self,
        id: &ContainerId,
        new: NewContainer,
    ) -> Result<Arc<Container>, Error> {
        self.change_container(id, move |txn, id, stamp| containers::create(txn, id, &new, stamp)).await
    }

    /// At once; the rows are removed in the background, after the retention of deleted containers if there is one.
    pub async fn delete_container(
        &self,
        id: &ContainerId,
        conditions: ContainerConditions,
    ) -> Result<(), Error> {
        let service = self.service(&id.account)?;
        let delete = move |txn: &mut Txn<'_>, id: &ContainerId, stamp| {
            containers::delete(txn, id, conditions, &service.settings, stamp)
        };
        self.change_container(id, delete).await.map(drop)
    }

    /// Brings a soft-deleted container back, under a name that may be another.
    pub async fn restore_container(
        &self,
        account: &AccountName,
        deleted: &BlobContainerName,
        version: ContainerVersion,
        name: &BlobContainerName,
    ) -> Result<Arc<Container>, Error> {
        let deleted = ContainerId { account: account.clone(), name: deleted.clone() };
        let id = ContainerId { account: account.clone(), name: name.clone() };
        self.change_container(&id, move |txn, id, stamp| {
            containers::restore(txn, &deleted, version, id, stamp)
        })
        .await
    }

    pub async fn set_container_metadata(
        &self,
        id: &ContainerId,
        metadata: Metadata,
        conditions: ContainerConditions,
    ) -> Result<Arc<Container>, Error> {
        let set = move |txn: &mut Txn<'_>, id: &ContainerId, stamp| {
            containers::set_metadata(txn, id, &metadata, conditions, stamp)
        };
        self.change_container(id, set).await
    }

    /// Replaces both the public access and all stored policies.
    pub async fn set_container_access(
        &self,
        id: &ContainerId,
        public_access: PublicAccess,
        policies: SignedIdentifiers,
        conditions: ContainerConditions,
    ) -> Result<Arc<Container>, Error> {
        let set = move |txn: &mut Txn<'_>, id: &ContainerId, stamp| {
            containers::set_access(txn, id, public_access, &policies, conditions, stamp)
        };
        self.change_container(id, set).await
    }

    pub async fn lease_container(
        &self,
        id: &ContainerId,
        action: LeaseAction,
        conditions: ContainerConditions,
    ) -> Result<(Leased, Arc<Container>), Error> {
        let of = id.clone();
        let lease = move |txn: &mut Txn<'_>, stamp| containers::lease(txn, &of, action, conditions, stamp);
        let (leased, container) = self.write_catalog(&[id], lease).await?;
        Ok((leased, Arc::new(container)))
    }

    pub fn list_containers(
        &self,
        account: &AccountName,
        request: &ListContainers,
    ) -> Result<ContainerPage, Error> {
        Ok(containers::list(&*self.snapshot(), account, request)?)
    }

    async fn change_container(
        &self,
        id: &ContainerId,
        body: impl Fn(&mut Txn<'_>, &ContainerId, Stamp) -> Result<Container, BlobError> + Send + 'static,
    ) -> Result<Arc<Container>, Error> {
        let of = id.clone();
        self.write_catalog(&[id], move |txn, stamp| body(txn, &of, stamp)).await.map(Arc::new)
    }
}
