//! Lists of containers and blobs, and finding blobs by their tags (wire guide §7, §9.2).

use crate::answer::Answer;
use crate::call::Call;
use crate::encode::{self, ListHead};
use crate::errors::Failure;
use crate::limits::LIST_RESULTS_MAX;
use crate::parameters::{results_max, text};
use crate::reply;
use http::{Response, StatusCode};
use orrery_api_storage::StorageError;
use orrery_blob_store::BlobStore;
use orrery_blob_store::model::ContainerId;
use orrery_blob_store::model::containers::ListContainers;
use orrery_blob_store::model::operations::{FindBlobs, ListBlobs, ListInclude, ShowOnly};
use orrery_blob_store::model::tags::TagFilter;
use orrery_catalog::storage::BlobContainerName;

pub fn containers(store: &BlobStore, call: &Call) -> Result<Response<Answer>, Failure> {
    let head = head(call)?;
    let list = ListContainers {
        prefix: head.prefix.clone().unwrap_or_default(),
        marker: head.marker.clone(),
        count_max: head.results_max.unwrap_or(LIST_RESULTS_MAX as usize),
        with_deleted: head.includes("deleted"),
        with_system: head.includes("system"),
    };
    let page = store.list_containers(&call.request.account, &list)?;
    Ok(reply::xml(StatusCode::OK, encode::containers(&head, &page)))
}

pub fn blobs(store: &BlobStore, call: &Call, id: &ContainerId) -> Result<Response<Answer>, Failure> {
    let head = ListHead { container: Some(id.name.as_str().to_owned()), ..head(call)? };
    let request = &call.request;
    let list = ListBlobs {
        prefix: head.prefix.clone().unwrap_or_default(),
        delimiter: head.delimiter.clone(),
        marker: head.marker.clone(),
        count_max: head.results_max,
        start_from: text(request, "startfrom"),
        end_before: text(request, "endbefore"),
        include: ListInclude {
            snapshots: head.includes("snapshots"),
            versions: head.includes("versions"),
            deleted: head.includes("deleted"),
            deleted_with_versions: head.includes("deletedwithversions"),
            uncommitted: head.includes("uncommittedblobs"),
        },
        show_only: show_only(call)?,
    };
    let page = store.list_blobs(id, &list)?;
    Ok(reply::xml(StatusCode::OK, encode::blobs(&head, &page)))
}

pub fn find(
    store: &BlobStore,
    call: &Call,
    container: Option<&BlobContainerName>,
) -> Result<Response<Answer>, Failure> {
    const NAME: &str = "where";
    let given = text(&call.request, NAME).ok_or_else(|| StorageError::missing_query(NAME))?;
    let filter = TagFilter::parse(&given).map_err(|error| Failure::tag_syntax(NAME, &given, &error))?;
    let head = head(call)?;
    let find = FindBlobs {
        container: container.cloned(),
        filter,
        marker: head.marker.clone(),
        count_max: head.results_max.unwrap_or(LIST_RESULTS_MAX as usize),
    };
    let page = store.find_blobs(&call.request.account, &find)?;
    Ok(reply::xml(StatusCode::OK, encode::found(&head, &given, &page)))
}

fn head(call: &Call) -> Result<ListHead, Failure> {
    let request = &call.request;
    let include = text(request, "include").unwrap_or_default();
    Ok(ListHead {
        endpoint: format!("{}/", request.base_url()),
        container: None,
        prefix: text(request, "prefix"),
        marker: text(request, "marker"),
        results_max: results_max(request, LIST_RESULTS_MAX)?,
        delimiter: text(request, "delimiter"),
        include: include.split(',').map(|word| word.trim().to_owned()).collect(),
        now: request.now(),
    })
}

fn show_only(call: &Call) -> Result<Option<ShowOnly>, Failure> {
    const NAME: &str = "showonly";
    let Some(given) = text(&call.request, NAME) else { return Ok(None) };
    match given.as_str() {
        "deleted" => Ok(Some(ShowOnly::Deleted)),
        "files" => Ok(Some(ShowOnly::Files)),
        "directories" => Ok(Some(ShowOnly::Directories)),
        _ => {
            let reason = "It is deleted, files or directories.";
            Err(StorageError::invalid_query(NAME, &given, reason).into())
        }
    }
}
