//! Conditional headers (wire guide §8.7): of the blob that is asked for, and of the source of a copy.

use crate::errors::Failure;
use crate::header;
use http::HeaderName;
use http::header::{IF_MATCH, IF_MODIFIED_SINCE, IF_NONE_MATCH, IF_UNMODIFIED_SINCE};
use orrery_api_storage::{StorageError, StorageRequest};
use orrery_blob_store::model::ETagMatch;
use orrery_blob_store::model::conditions::Conditions;
use orrery_blob_store::model::containers::ContainerConditions;
use orrery_blob_store::model::lease::LeaseId;
use orrery_blob_store::model::operations::{AppendConditions, PageConditions};
use orrery_blob_store::model::tags::TagExpression;
use orrery_core::Timestamp;

/// The headers that conditions are in.
struct Names {
    if_match: HeaderName,
    if_none_match: HeaderName,
    if_modified_since: HeaderName,
    if_unmodified_since: HeaderName,
    if_tags: HeaderName,
    lease: HeaderName,
}

pub fn of_blob(request: &StorageRequest) -> Result<Conditions, Failure> {
    read(
        request,
        &Names {
            if_match: IF_MATCH,
            if_none_match: IF_NONE_MATCH,
            if_modified_since: IF_MODIFIED_SINCE,
            if_unmodified_since: IF_UNMODIFIED_SINCE,
            if_tags: header::IF_TAGS,
            lease: header::LEASE_ID,
        },
    )
}

pub fn of_source(request: &StorageRequest) -> Result<Conditions, Failure> {
    read(
        request,
        &Names {
            if_match: header::SOURCE_IF_MATCH,
            if_none_match: header::SOURCE_IF_NONE_MATCH,
            if_modified_since: header::SOURCE_IF_MODIFIED_SINCE,
            if_unmodified_since: header::SOURCE_IF_UNMODIFIED_SINCE,
            if_tags: header::SOURCE_IF_TAGS,
            lease: header::SOURCE_LEASE_ID,
        },
    )
}

/// Containers know moments alone.
pub fn of_container(request: &StorageRequest) -> Result<ContainerConditions, Failure> {
    for name in [IF_MATCH, IF_NONE_MATCH] {
        if request.header(&name).is_some() {
            let message = "A condition header that containers do not have was specified.";
            let status = http::StatusCode::BAD_REQUEST;
            return Err(StorageError::new(status, "UnsupportedHeader", message)
                .with("HeaderName", name.as_str())
                .into());
        }
    }
    Ok(ContainerConditions {
        if_modified_since: moment(request, &IF_MODIFIED_SINCE)?,
        if_unmodified_since: moment(request, &IF_UNMODIFIED_SINCE)?,
        lease: lease_id(request, &header::LEASE_ID)?,
    })
}

pub fn of_append(request: &StorageRequest) -> Result<AppendConditions, Failure> {
    Ok(AppendConditions {
        position: number(request, &header::CONDITION_APPEND_POSITION)?,
        length_max: number(request, &header::CONDITION_MAX_SIZE)?,
        conditions: of_blob(request)?,
    })
}

pub fn of_pages(request: &StorageRequest) -> Result<PageConditions, Failure> {
    Ok(PageConditions {
        sequence_at_most: number(request, &header::IF_SEQUENCE_NUMBER_LE)?,
        sequence_below: number(request, &header::IF_SEQUENCE_NUMBER_LT)?,
        sequence_equal: number(request, &header::IF_SEQUENCE_NUMBER_EQ)?,
        conditions: of_blob(request)?,
    })
}

fn read(request: &StorageRequest, names: &Names) -> Result<Conditions, Failure> {
    let tags = |name: &HeaderName| match request.header(name) {
        None => Ok(None),
        Some(text) => TagExpression::parse(text)
            .map(Some)
            .map_err(|_| Failure::from(StorageError::invalid_header(name.as_str(), text))),
    };
    Ok(Conditions {
        if_match: request.header(&names.if_match).map(ETagMatch::parse),
        if_none_match: request.header(&names.if_none_match).map(ETagMatch::parse),
        if_modified_since: moment(request, &names.if_modified_since)?,
        if_unmodified_since: moment(request, &names.if_unmodified_since)?,
        if_tags: tags(&names.if_tags)?,
        lease: lease_id(request, &names.lease)?,
    })
}

fn moment(request: &StorageRequest, name: &HeaderName) -> Result<Option<Timestamp>, Failure> {
    let Some(text) = request.header(name) else { return Ok(None) };
    let refused = || StorageError::invalid_header(name.as_str(), text).into();
    Timestamp::parse_http(text).map(Some).ok_or_else(refused)
}

pub fn lease_id(request: &StorageRequest, name: &HeaderName) -> Result<Option<LeaseId>, Failure> {
    let Some(text) = request.header(name) else { return Ok(None) };
    let refused = || StorageError::invalid_header(name.as_str(), text).into();
    LeaseId::parse(text).map(Some).ok_or_else(refused)
}

/// The value of a header that is a whole number.
pub fn number<N: std::str::FromStr>(
    request: &StorageRequest,
    name: &HeaderName,
) -> Result<Option<N>, Failure> {
    let Some(text) = request.header(name) else { return Ok(None) };
    text.trim().parse().map(Some).map_err(|_| StorageError::invalid_header(name.as_str(), text).into())
}
