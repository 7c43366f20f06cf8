//! The properties of a blob and of a container as headers: written on answers, read from requests (wire guide §7.1, §8.3,
//! §8.6).

use crate::answer::Answer;
use crate::errors::Failure;
use crate::header;
use crate::reply::{date, insert, insert_state};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::header::{
    ACCEPT_RANGES, CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_ENCODING, CONTENT_LANGUAGE, CONTENT_TYPE,
};
use http::{HeaderName, Response};
use orrery_api_storage::{StorageError, StorageRequest, metadata};
use orrery_blob_store::model::blob::{
    Blob, BlobKind, BlobState, ContentHeaders, Copy, CopyStatus, Immutability, ImmutabilityMode,
};
use orrery_blob_store::model::containers::{Container, PublicAccess};
use orrery_blob_store::model::lease::{Lease, LeaseDuration, LeaseState};
use orrery_blob_store::model::tier::{RehydratePriority, Tier};
use orrery_catalog::storage::Metadata;
use orrery_core::Timestamp;

pub const DEFAULT_CONTENT_TYPE: &str = "application/octet-stream";

/// All that is said of a blob beside its content and its length.
pub fn write(response: &mut Response<Answer>, blob: &Blob, now: Timestamp) {
    insert_state(response, blob.modified);
    metadata::write(response, blob.metadata.iter());
    write_content_headers(response, &blob.headers);
    insert(response, ACCEPT_RANGES, "bytes");
    insert(response, header::CREATION_TIME, &date(blob.created));
    insert(response, header::BLOB_TYPE, kind(blob.kind));
    insert(response, header::SERVER_ENCRYPTED, "true");
    write_lease(response, &blob.lease, now);
    match blob.kind {
        BlobKind::Block => {}
        BlobKind::Append { blocks, is_sealed } => {
            insert(response, header::COMMITTED_BLOCK_COUNT, &blocks.to_string());
            if is_sealed {
                insert(response, header::BLOB_SEALED, "true");
            }
        }
        BlobKind::Page { sequence } => insert(response, header::BLOB_SEQUENCE_NUMBER, &sequence.to_string()),
    }
    write_tier(response, blob, now);
    if !blob.tags.is_empty() {
        insert(response, header::TAG_COUNT, &blob.tags.len().to_string());
    }
    if let Some(version) = blob.version {
        insert(response, header::VERSION_ID, &version.to_string());
    }
    if blob.is_current_version() {
        insert(response, header::IS_CURRENT_VERSION, "true");
    }
    if let BlobState::Snapshot(snapshot) = blob.state {
        insert(response, header::SNAPSHOT, &snapshot.to_string());
    }
    if let Some(copy) = &blob.copy {
        write_copy(response, copy);
    }
    if let Some(policy) = blob.immutability {
        write_immutability(response, policy);
    }
    if blob.legal_hold {
        insert(response, header::LEGAL_HOLD, "true");
    }
    if let Some(at) = blob.last_access {
        insert(response, header::LAST_ACCESS_TIME, &at.to_http());
    }
}

fn write_content_headers(response: &mut Response<Answer>, headers: &ContentHeaders) {
    insert(response, CONTENT_TYPE, headers.content_type.as_deref().unwrap_or(DEFAULT_CONTENT_TYPE));
    let given = [
        (CONTENT_ENCODING, &headers.content_encoding),
        (CONTENT_LANGUAGE, &headers.content_language),
        (CONTENT_DISPOSITION, &headers.content_disposition),
        (CACHE_CONTROL, &headers.cache_control),
    ];
    for (name, value) in given {
        if let Some(value) = value {
            insert(response, name, value);
        }
    }
}

pub fn write_lease(response: &mut Response<Answer>, lease: &Lease, now: Timestamp) {
    insert(response, header::LEASE_STATUS, lease_status(lease, now));
    insert(response, header::LEASE_STATE, lease_state(lease.state(now)));
    if let Some(duration) = lease.duration(now) {
        insert(response, header::LEASE_DURATION, lease_duration(duration));
    }
}

fn write_tier(response: &mut Response<Answer>, blob: &Blob, now: Timestamp) {
    let Some(tier) = tier(blob, now) else { return };
    insert(response, header::ACCESS_TIER, &tier.to_string());
    if blob.tier.is_inferred() {
        insert(response, header::ACCESS_TIER_INFERRED, "true");
    }
    if let Some(changed) = blob.tier.changed(now) {
        insert(response, header::ACCESS_TIER_CHANGE_TIME, &date(changed));
    }
    if let Some(pending) = blob.tier.pending(now) {
        insert(response, header::ARCHIVE_STATUS, &archive_status(pending.to));
        insert(response, header::REHYDRATE_PRIORITY, priority(pending.priority));
    }
}

/// Append blobs have none, and page blobs only a premium one.
pub fn tier(blob: &Blob, now: Timestamp) -> Option<Tier> {
    match (blob.kind, blob.tier.tier(now)) {
        (BlobKind::Block, tier) | (BlobKind::Page { .. }, tier @ Tier::Premium(_)) => Some(tier),
        (BlobKind::Append { .. } | BlobKind::Page { .. }, _) => None,
    }
}

pub fn write_copy(response: &mut Response<Answer>, copy: &Copy) {
    insert(response, header::COPY_ID, &copy.id.to_string());
    insert(response, header::COPY_SOURCE, &copy.source);
    insert(response, header::COPY_STATUS, copy_status(copy.status));
    insert(response, header::COPY_PROGRESS, &copy_progress(copy));
    if let Some(at) = copy.completed {
        insert(response, header::COPY_COMPLETION_TIME, &at.to_http());
    }
    if let Some(why) = &copy.description {
        insert(response, header::COPY_STATUS_DESCRIPTION, why);
    }
}

pub fn write_immutability(response: &mut Response<Answer>, policy: Immutability) {
    insert(response, header::IMMUTABILITY_UNTIL, &policy.until.to_http());
    insert(response, header::IMMUTABILITY_MODE, immutability_mode(policy.mode));
}

pub fn write_container(response: &mut Response<Answer>, container: &Container, now: Timestamp) {
    insert_state(response, container.modified);
    metadata::write(response, container.metadata.iter());
    write_lease(response, &container.lease, now);
    write_public_access(response, container.public_access);
    for name in [
        header::HAS_IMMUTABILITY_POLICY,
        header::HAS_LEGAL_HOLD,
        header::IMMUTABLE_WITH_VERSIONING,
        header::DENY_ENCRYPTION_SCOPE_OVERRIDE,
    ] {
        insert(response, name, "false");
    }
    insert(response, header::DEFAULT_ENCRYPTION_SCOPE, "$account-encryption-key");
}

pub fn write_public_access(response: &mut Response<Answer>, access: PublicAccess) {
    if let Some(word) = public_access(access) {
        insert(response, header::BLOB_PUBLIC_ACCESS, word);
    }
}

pub fn public_access(access: PublicAccess) -> Option<&'static str> {
    match access {
        PublicAccess::None => None,
        PublicAccess::Blob => Some("blob"),
        PublicAccess::Container => Some("container"),
    }
}

pub fn read_public_access(request: &StorageRequest) -> Result<PublicAccess, Failure> {
    match request.header(header::BLOB_PUBLIC_ACCESS) {
        None => Ok(PublicAccess::None),
        Some("blob") => Ok(PublicAccess::Blob),
        Some("container" | "true") => Ok(PublicAccess::Container),
        Some(other) => Err(StorageError::invalid_header(header::BLOB_PUBLIC_ACCESS.as_str(), other).into()),
    }
}

/// `x-ms-blob-content-type` and the others; of a put of content, its own `Content-Type` counts where that is missing.
pub fn read_content_headers(request: &StorageRequest, of_content: bool) -> Result<ContentHeaders, Failure> {
    let given = |name: &HeaderName, plain: &HeaderName| {
        let own = request.header(name).or_else(|| request.header(plain).filter(|_| of_content));
        own.filter(|text| !text.is_empty()).map(str::to_owned)
    };
    Ok(ContentHeaders {
        content_type: given(&header::BLOB_CONTENT_TYPE, &CONTENT_TYPE),
        content_encoding: given(&header::BLOB_CONTENT_ENCODING, &CONTENT_ENCODING),
        content_language: given(&header::BLOB_CONTENT_LANGUAGE, &CONTENT_LANGUAGE),
        content_disposition: given(&header::BLOB_CONTENT_DISPOSITION, &CONTENT_DISPOSITION),
        cache_control: given(&header::BLOB_CACHE_CONTROL, &CACHE_CONTROL),
        content_md5: md5(request, &header::BLOB_CONTENT_MD5)?,
    })
}

/// Whether any of those headers is there.
pub fn has_content_headers(request: &StorageRequest) -> bool {
    [
        header::BLOB_CONTENT_TYPE,
        header::BLOB_CONTENT_ENCODING,
        header::BLOB_CONTENT_LANGUAGE,
        header::BLOB_CONTENT_DISPOSITION,
        header::BLOB_CACHE_CONTROL,
        header::BLOB_CONTENT_MD5,
    ]
    .iter()
    .any(|name| request.header(name).is_some())
}

pub fn md5(request: &StorageRequest, name: &HeaderName) -> Result<Option<[u8; 16]>, Failure> {
    let Some(text) = request.header(name).filter(|text| !text.is_empty()) else { return Ok(None) };
    let bytes = STANDARD.decode(text).ok().and_then(|bytes| bytes.try_into().ok());
    let message = "The MD5 value specified in the request is invalid. The MD5 value must be 128 bits and Base64-encoded.";
    let refused = || StorageError::new(http::StatusCode::BAD_REQUEST, "InvalidMd5", message).into();
    bytes.map(Some).ok_or_else(refused)
}

/// Eight bytes, the least significant first, in Base64.
pub fn crc64(request: &StorageRequest, name: &HeaderName) -> Result<Option<u64>, Failure> {
    let Some(text) = request.header(name).filter(|text| !text.is_empty()) else { return Ok(None) };
    let bytes = STANDARD.decode(text).ok().and_then(|bytes| bytes.try_into().ok());
    let refused = || StorageError::invalid_header(name.as_str(), text).into();
    bytes.map(u64::from_le_bytes).map(Some).ok_or_else(refused)
}

pub fn md5_text(md5: [u8; 16]) -> String {
    STANDARD.encode(md5)
}

pub fn crc64_text(crc64: u64) -> String {
    STANDARD.encode(crc64.to_le_bytes())
}

pub fn read_metadata(request: &StorageRequest) -> Result<Metadata, Failure> {
    Ok(Metadata::new(metadata::read(&request.head)?)?)
}

pub fn read_tier(request: &StorageRequest) -> Result<Option<Tier>, Failure> {
    let Some(text) = request.header(header::ACCESS_TIER) else { return Ok(None) };
    let refused = || StorageError::invalid_header(header::ACCESS_TIER.as_str(), text).into();
    Tier::parse(text).map(Some).ok_or_else(refused)
}

pub fn read_priority(request: &StorageRequest) -> Result<Option<RehydratePriority>, Failure> {
    match request.header(header::REHYDRATE_PRIORITY) {
        None => Ok(None),
        Some("Standard") => Ok(Some(RehydratePriority::Standard)),
        Some("High") => Ok(Some(RehydratePriority::High)),
        Some(other) => Err(StorageError::invalid_header(header::REHYDRATE_PRIORITY.as_str(), other).into()),
    }
}

pub fn read_immutability(request: &StorageRequest) -> Result<Option<Immutability>, Failure> {
    let Some(text) = request.header(header::IMMUTABILITY_UNTIL) else { return Ok(None) };
    let until = Timestamp::parse_http(text)
        .ok_or_else(|| StorageError::invalid_header(header::IMMUTABILITY_UNTIL.as_str(), text))?;
    let mode = match request.header(header::IMMUTABILITY_MODE).map(str::to_ascii_lowercase).as_deref() {
        None | Some("unlocked") => ImmutabilityMode::Unlocked,
        Some("locked") => ImmutabilityMode::Locked,
        Some(other) => {
            return Err(StorageError::invalid_header(header::IMMUTABILITY_MODE.as_str(), other).into());
        }
    };
    Ok(Some(Immutability { until, mode }))
}

pub fn kind(kind: BlobKind) -> &'static str {
    match kind {
        BlobKind::Block => "BlockBlob",
        BlobKind::Append { .. } => "AppendBlob",
        BlobKind::Page { .. } => "PageBlob",
    }
}

pub fn lease_status(lease: &Lease, now: Timestamp) -> &'static str {
    if lease.is_locked(now) { "locked" } else { "unlocked" }
}

pub fn lease_state(state: LeaseState) -> &'static str {
    match state {
        LeaseState::Available => "available",
        LeaseState::Leased => "leased",
        LeaseState::Expired => "expired",
        LeaseState::Breaking => "breaking",
        LeaseState::Broken => "broken",
    }
}

pub fn lease_duration(duration: LeaseDuration) -> &'static str {
    match duration {
        LeaseDuration::Infinite => "infinite",
        LeaseDuration::Seconds(_) => "fixed",
    }
}

pub fn archive_status(to: Tier) -> String {
    format!("rehydrate-pending-to-{}", to.to_string().to_ascii_lowercase())
}

pub fn priority(priority: RehydratePriority) -> &'static str {
    match priority {
        RehydratePriority::Standard => "Standard",
        RehydratePriority::High => "High",
    }
}

pub fn copy_status(status: CopyStatus) -> &'static str {
    match status {
        CopyStatus::Pending => "pending",
        CopyStatus::Success => "success",
        CopyStatus::Aborted => "aborted",
        CopyStatus::Failed => "failed",
    }
}

pub fn copy_progress(copy: &Copy) -> String {
    format!("{}/{}", copy.bytes_copied, copy.bytes_total.unwrap_or(copy.bytes_copied))
}

pub fn immutability_mode(mode: ImmutabilityMode) -> &'static str {
    match mode {
        ImmutabilityMode::Unlocked => "unlocked",
        ImmutabilityMode::Locked => "locked",
    }
}
