//! Operations on containers as such.

use crate::answer::Answer;
use crate::batch;
use crate::call::Call;
use crate::conditions;
use crate::errors::Failure;
use crate::handlers::{account, leases, lists};
use crate::header;
use crate::operation::OnContainer;
use crate::properties::{read_metadata, read_public_access, write_container, write_public_access};
use crate::reply;
use crate::service::Blobs;
use http::{Response, StatusCode};
use orrery_api_storage::limits::DOCUMENT_BYTES_MAX;
use orrery_api_storage::{StorageError, access_policies};
use orrery_blob_store::model::ContainerId;
use orrery_blob_store::model::containers::{ContainerVersion, NewContainer};
use orrery_catalog::storage::{BlobContainerName, ServiceKind};

pub async fn run(
    blobs: &Blobs,
    call: &mut Call,
    id: &ContainerId,
    does: OnContainer,
) -> Result<Response<Answer>, Failure> {
    let store = &blobs.store;
    match does {
        OnContainer::Create => {
            let new = NewContainer {
                metadata: read_metadata(&call.request)?,
                public_access: read_public_access(&call.request)?,
            };
            let container = store.create_container(id, new).await?;
            Ok(reply::changed(StatusCode::CREATED, container.modified, None))
        }
        OnContainer::Read => {
            let container = store.container(id)?;
            let mut response = reply::empty(StatusCode::OK);
            write_container(&mut response, &container, call.request.now());
            Ok(response)
        }
        OnContainer::Delete => {
            store.delete_container(id, conditions::of_container(&call.request)?).await?;
            Ok(reply::empty(StatusCode::ACCEPTED))
        }
        OnContainer::Restore => restore(blobs, call, id).await,
        OnContainer::WriteMetadata => {
            let (metadata, conditions) =
                (read_metadata(&call.request)?, conditions::of_container(&call.request)?);
            let container = store.set_container_metadata(id, metadata, conditions).await?;
            Ok(reply::changed(StatusCode::OK, container.modified, None))
        }
        OnContainer::ReadPolicies => {
            let container = store.container(id)?;
            let mut response = reply::xml(StatusCode::OK, access_policies::write(&container.policies));
            reply::insert_state(&mut response, container.modified);
            write_public_access(&mut response, container.public_access);
            Ok(response)
        }
        OnContainer::WritePolicies => {
            let body = call.document(DOCUMENT_BYTES_MAX).await?;
            let policies = access_policies::read(ServiceKind::Blob, &body)?;
            let access = read_public_access(&call.request)?;
            let conditions = conditions::of_container(&call.request)?;
            let container = store.set_container_access(id, access, policies, conditions).await?;
            Ok(reply::changed(StatusCode::OK, container.modified, None))
        }
        OnContainer::Lease => leases::on_container(store, call, id).await,
        OnContainer::ListBlobs => lists::blobs(store, call, id),
        OnContainer::FindBlobs => lists::find(store, call, Some(&id.name)),
        OnContainer::Batch => batch::run(blobs, call, Some(&id.name)).await,
        OnContainer::ReadInformation => Ok(account::information()),
    }
}

async fn restore(blobs: &Blobs, call: &Call, id: &ContainerId) -> Result<Response<Answer>, Failure> {
    let given = |name: &http::HeaderName| {
        call.request.header(name).ok_or_else(|| StorageError::missing_header(name.as_str()))
    };
    let deleted = BlobContainerName::parse(given(&header::DELETED_CONTAINER_NAME)?)?;
    let text = given(&header::DELETED_CONTAINER_VERSION)?;
    let refused = || StorageError::invalid_header(header::DELETED_CONTAINER_VERSION.as_str(), text);
    let version = ContainerVersion::parse(text).ok_or_else(refused)?;
    blobs.store.restore_container(&id.account, &deleted, version, &id.name).await?;
    Ok(reply::empty(StatusCode::CREATED))
}
