//! Changes of a blob beside its content: properties, metadata, tags, snapshots, deletes, tiers, protection.

use crate::answer::Answer;
use crate::call::Call;
use crate::conditions::{self, number};
use crate::errors::Failure;
use crate::header;
use crate::parameters::{selector, text};
use crate::properties::{
    has_content_headers, read_content_headers, read_immutability, read_metadata, read_priority, read_tier,
    write_immutability,
};
use crate::reply;
use crate::tags;
use http::{Response, StatusCode};
use orrery_api_storage::limits::DOCUMENT_BYTES_MAX;
use orrery_api_storage::{StorageError, StorageRequest};
use orrery_blob_store::BlobStore;
use orrery_blob_store::model::Address;
use orrery_blob_store::model::operations::{
    DeleteBlob, DeleteSnapshots, SequenceAction, SetProperties, SetTier, TierSet,
};

pub async fn metadata(
    store: &BlobStore,
    call: &Call,
    address: &Address,
) -> Result<Response<Answer>, Failure> {
    let metadata = read_metadata(&call.request)?;
    let written = store.set_metadata(address, metadata, conditions::of_blob(&call.request)?).await?;
    Ok(reply::written(StatusCode::OK, written.modified, written.version))
}

/// All headers are replaced, unless a page blob's size or number alone is set.
pub async fn properties(
    store: &BlobStore,
    call: &Call,
    address: &Address,
) -> Result<Response<Answer>, Failure> {
    let request = &call.request;
    let resize = number(request, &header::BLOB_CONTENT_LENGTH)?;
    let sequence = sequence(request)?;
    let only_pages = (resize.is_some() || sequence.is_some()) && !has_content_headers(request);
    let headers = if only_pages { None } else { Some(read_content_headers(request, false)?) };
    let set = SetProperties { headers, resize, sequence, conditions: conditions::of_blob(request)? };
    let set = store.set_properties(address, set).await?;
    let mut response = reply::changed(StatusCode::OK, set.written.modified, set.written.version);
    if let Some(sequence) = set.sequence {
        reply::insert(&mut response, header::BLOB_SEQUENCE_NUMBER, &sequence.to_string());
    }
    Ok(response)
}

fn sequence(request: &StorageRequest) -> Result<Option<SequenceAction>, Failure> {
    let name = &header::SEQUENCE_NUMBER_ACTION;
    let Some(action) = request.header(name) else { return Ok(None) };
    let given = || {
        let name = &header::BLOB_SEQUENCE_NUMBER;
        number(request, name)?.ok_or_else(|| Failure::from(StorageError::missing_header(name.as_str())))
    };
    Ok(Some(match action.to_ascii_lowercase().as_str() {
        "max" => SequenceAction::Max(given()?),
        "update" => SequenceAction::Update(given()?),
        "increment" => SequenceAction::Increment,
        _ => return Err(StorageError::invalid_header(name.as_str(), action).into()),
    }))
}

/// Metadata that is given is the snapshot's, instead of the blob's.
pub async fn snapshot(
    store: &BlobStore,
    call: &Call,
    address: &Address,
) -> Result<Response<Answer>, Failure> {
    let metadata = Some(read_metadata(&call.request)?).filter(|metadata| !metadata.is_empty());
    let made = store.snapshot_blob(address, metadata, conditions::of_blob(&call.request)?).await?;
    let mut response = reply::written(StatusCode::CREATED, made.written.modified, made.written.version);
    reply::insert(&mut response, header::SNAPSHOT, &made.snapshot.to_string());
    Ok(response)
}

pub async fn delete(store: &BlobStore, call: &Call, address: &Address) -> Result<Response<Answer>, Failure> {
    let request = &call.request;
    let name = &header::DELETE_SNAPSHOTS;
    let snapshots = match request.header(name) {
        None => DeleteSnapshots::Refuse,
        Some("include") => DeleteSnapshots::Include,
        Some("only") => DeleteSnapshots::Only,
        Some(other) => return Err(StorageError::invalid_header(name.as_str(), other).into()),
    };
    let is_permanent = text(request, "deletetype").is_some_and(|kind| kind.eq_ignore_ascii_case("permanent"));
    let delete = DeleteBlob {
        selector: selector(request)?,
        snapshots,
        is_permanent,
        conditions: conditions::of_blob(request)?,
    };
    let deleted = store.delete_blob(address, delete).await?;
    let mut response = reply::empty(StatusCode::ACCEPTED);
    reply::insert(&mut response, header::DELETE_TYPE_PERMANENT, &deleted.is_permanent.to_string());
    Ok(response)
}

pub async fn undelete(store: &BlobStore, address: &Address) -> Result<Response<Answer>, Failure> {
    store.undelete_blob(address).await?;
    Ok(reply::empty(StatusCode::OK))
}

pub async fn tier(store: &BlobStore, call: &Call, address: &Address) -> Result<Response<Answer>, Failure> {
    let request = &call.request;
    let missing = || StorageError::missing_header(header::ACCESS_TIER.as_str());
    let set = SetTier {
        selector: selector(request)?,
        tier: read_tier(request)?.ok_or_else(missing)?,
        priority: read_priority(request)?,
        conditions: conditions::of_blob(request)?,
    };
    Ok(reply::empty(match store.set_tier(address, set).await? {
        TierSet::Done => StatusCode::OK,
        TierSet::Pending => StatusCode::ACCEPTED,
    }))
}

pub fn read_tags(store: &BlobStore, call: &Call, address: &Address) -> Result<Response<Answer>, Failure> {
    let conditions = conditions::of_blob(&call.request)?;
    let found = store.tags(address, selector(&call.request)?, &conditions)?;
    Ok(reply::xml(StatusCode::OK, tags::document(&found)))
}

pub async fn write_tags(
    store: &BlobStore,
    call: &mut Call,
    address: &Address,
) -> Result<Response<Answer>, Failure> {
    let body = call.document(DOCUMENT_BYTES_MAX).await?;
    let conditions = conditions::of_blob(&call.request)?;
    store.set_tags(address, selector(&call.request)?, tags::read(&body)?, conditions).await?;
    Ok(reply::empty(StatusCode::NO_CONTENT))
}

pub async fn set_immutability(
    store: &BlobStore,
    call: &Call,
    address: &Address,
) -> Result<Response<Answer>, Failure> {
    let request = &call.request;
    let missing = || StorageError::missing_header(header::IMMUTABILITY_UNTIL.as_str());
    let policy = read_immutability(request)?.ok_or_else(missing)?;
    let conditions = conditions::of_blob(request)?;
    let policy = store.set_immutability(address, selector(request)?, policy, conditions).await?;
    let mut response = reply::empty(StatusCode::OK);
    write_immutability(&mut response, policy);
    Ok(response)
}

pub async fn delete_immutability(
    store: &BlobStore,
    call: &Call,
    address: &Address,
) -> Result<Response<Answer>, Failure> {
    store.delete_immutability(address, selector(&call.request)?).await?;
    Ok(reply::empty(StatusCode::OK))
}

pub async fn set_legal_hold(
    store: &BlobStore,
    call: &Call,
    address: &Address,
) -> Result<Response<Answer>, Failure> {
    let name = &header::LEGAL_HOLD;
    let text = call.request.header(name).ok_or_else(|| StorageError::missing_header(name.as_str()))?;
    let hold = match text.to_ascii_lowercase().as_str() {
        "true" => true,
        "false" => false,
        _ => return Err(StorageError::invalid_header(name.as_str(), text).into()),
    };
    let holds = store.set_legal_hold(address, selector(&call.request)?, hold).await?;
    let mut response = reply::empty(StatusCode::OK);
    reply::insert(&mut response, header::LEGAL_HOLD, &holds.to_string());
    Ok(response)
}
