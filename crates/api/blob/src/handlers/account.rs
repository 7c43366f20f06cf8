//! The account: its service's properties and statistics, keys for user delegation, lists over all containers, batches.

use crate::answer::Answer;
use crate::batch;
use crate::call::Call;
use crate::errors::Failure;
use crate::handlers::lists;
use crate::header;
use crate::operation::OnAccount;
use crate::reply;
use crate::service::Blobs;
use crate::service_settings;
use http::{Response, StatusCode};
use orrery_api_storage::limits::DOCUMENT_BYTES_MAX;
use orrery_api_storage::{service_properties, statistics, user_delegation_key};
use orrery_blob_store::BlobService;
use orrery_catalog::storage::ServiceKind;

pub async fn run(blobs: &Blobs, call: &mut Call, does: OnAccount) -> Result<Response<Answer>, Failure> {
    match does {
        OnAccount::ListContainers => lists::containers(&blobs.store, call),
        OnAccount::ReadProperties => {
            let service = blobs.store.service(&call.request.account)?;
            let document = service_properties::write_with(&service.properties, |root| {
                service_settings::write(root, &service.settings);
            });
            Ok(reply::xml(StatusCode::OK, document))
        }
        OnAccount::WriteProperties => write_properties(blobs, call).await,
        OnAccount::ReadStatistics => Ok(reply::xml(StatusCode::OK, statistics::write(&call.request)?)),
        OnAccount::ReadInformation => Ok(information()),
        OnAccount::IssueDelegationKey => {
            let body = call.document(DOCUMENT_BYTES_MAX).await?;
            let grant = call.grant.as_ref().expect("the request was authorized");
            let key = user_delegation_key::issue(&blobs.storage, &call.request, grant, &body)?;
            Ok(reply::xml(StatusCode::OK, key))
        }
        OnAccount::FindBlobs => lists::find(&blobs.store, call, None),
        OnAccount::Batch => batch::run(blobs, call, None).await,
    }
}

async fn write_properties(blobs: &Blobs, call: &mut Call) -> Result<Response<Answer>, Failure> {
    let body = call.document(DOCUMENT_BYTES_MAX).await?;
    let account = &call.request.account;
    let current = blobs.store.service(account)?;
    let properties = service_properties::read(ServiceKind::Blob, &body, &current.properties)?;
    let settings = service_settings::read(&body, &current.settings)?;
    blobs.store.set_service(account, BlobService { properties, settings }).await?;
    Ok(reply::empty(StatusCode::ACCEPTED))
}

/// Get Account Information, which any container and blob answers, too.
pub fn information() -> Response<Answer> {
    let mut response = reply::empty(StatusCode::OK);
    reply::insert(&mut response, header::SKU_NAME, "Standard_LRS");
    reply::insert(&mut response, header::ACCOUNT_KIND, "StorageV2");
    reply::insert(&mut response, header::IS_HNS_ENABLED, "false");
    response
}
