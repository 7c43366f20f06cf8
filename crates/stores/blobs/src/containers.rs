//! Operations on containers.

use crate::error::Error;
use crate::store::{BlobStore, pending};
use orrery_blobs::ContainerId;
use orrery_blobs::container::{
    Container, ContainerConditions, ContainerPage, ContainerVersion, ListContainers, NewContainer, PublicAccess,
};
use orrery_blobs::lease::{LeaseAction, Leased};
use orrery_catalog::storage::{AccountName, BlobContainerName, Metadata, SignedIdentifiers};
use std::sync::Arc;

impl BlobStore {
    /// A container that is there.
    pub fn container(&self, _id: &ContainerId) -> Result<Arc<Container>, Error> {
        pending()
    }

    pub async fn create_container(&self, _id: &ContainerId, _new: NewContainer) -> Result<Arc<Container>, Error> {
        pending()
    }

    /// At once; the rows are removed in the background, after the retention of deleted containers if there is one.
    pub async fn delete_container(&self, _id: &ContainerId, _conditions: ContainerConditions) -> Result<(), Error> {
        pending()
    }

    /// Brings a soft-deleted container back, under a name that may be another.
    pub async fn restore_container(
        &self,
        _account: &AccountName,
        _deleted: &BlobContainerName,
        _version: ContainerVersion,
        _name: &BlobContainerName,
    ) -> Result<Arc<Container>, Error> {
        pending()
    }

    pub async fn set_container_metadata(
        &self,
        _id: &ContainerId,
        _metadata: Metadata,
        _conditions: ContainerConditions,
    ) -> Result<Arc<Container>, Error> {
        pending()
    }

    /// Replaces both the public access and all stored policies.
    pub async fn set_container_access(
        &self,
        _id: &ContainerId,
        _public_access: PublicAccess,
        _policies: SignedIdentifiers,
        _conditions: ContainerConditions,
    ) -> Result<Arc<Container>, Error> {
        pending()
    }

    pub async fn lease_container(
        &self,
        _id: &ContainerId,
        _action: LeaseAction,
        _conditions: ContainerConditions,
    ) -> Result<(Leased, Arc<Container>), Error> {
        pending()
    }

    pub fn list_containers(
        &self,
        _account: &AccountName,
        _request: &ListContainers,
    ) -> Result<ContainerPage, Error> {
        pending()
    }
}
