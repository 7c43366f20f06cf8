//! Writes whose content is at an address: blobs, blocks, appended blocks and pages from a URL, and copies (wire guide §8.11).

use crate::answer::Answer;
use crate::call::Call;
use crate::conditions::{self, lease_id};
use crate::errors::Failure;
use crate::handlers::writes::{
    CONTENT_MD5, append_answer, block_id, create_conditions, created, pages_answer, put_options, staged,
};
use crate::header;
use crate::parameters::{is_true, page_range, source_range, text};
use crate::properties::{
    copy_status, crc64, has_content_headers, md5, md5_text, read_content_headers, read_immutability,
    read_metadata, read_priority, read_tier,
};
use crate::reply;
use crate::service::Blobs;
use crate::source::{Described, Elsewhere, Fetch, Source, resolve, url};
use crate::tags;
use http::header::{CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_ENCODING, CONTENT_LANGUAGE, CONTENT_TYPE};
use http::{HeaderName, Response, StatusCode};
use orrery_api_storage::{StorageError, header as common};
use orrery_blob_store::model::blob::{ContentHeaders, Copy, CopyId, CopyStatus};
use orrery_blob_store::model::limits::{
    APPEND_BYTES_MAX, BLOCK_BYTES_MAX, PAGES_BYTES_MAX, PUT_BYTES_MAX, SYNC_COPY_BYTES_MAX,
};
use orrery_blob_store::model::operations::{CopyOptions, CopyTags, PutOptions, RangeRequest};
use orrery_blob_store::model::{Address, Refusal};
use orrery_blob_store::{BlobStore, ExpectedHashes, Uploaded};
use orrery_catalog::storage::Metadata;

/// The content of the source, or a range of it, stored and belonging to nothing yet.
async fn content(
    blobs: &Blobs,
    call: &Call,
    source: &Source,
    range: Option<RangeRequest>,
    bytes_max: u64,
) -> Result<(Uploaded, Described), Failure> {
    let expected = ExpectedHashes {
        md5: md5(&call.request, &header::SOURCE_CONTENT_MD5)?,
        crc64: crc64(&call.request, &header::SOURCE_CONTENT_CRC64)?,
    };
    match source {
        Source::Here { address, selector } => {
            let conditions = conditions::of_source(&call.request)?;
            let uploaded = blobs.store.upload_from(address, *selector, range, &conditions, bytes_max).await?;
            if expected.md5.is_some_and(|md5| md5 != uploaded.md5()) {
                return Err(Refusal::Md5Mismatch.into());
            }
            if expected.crc64.is_some_and(|crc64| crc64 != uploaded.crc64()) {
                return Err(Refusal::Crc64Mismatch.into());
            }
            Ok((uploaded, Described::default()))
        }
        Source::Elsewhere(source) => {
            let mut writer = blobs.store.upload(bytes_max);
            let described = source.read(&blobs.fetch, range, &mut writer).await?;
            Ok((writer.finish(expected).await?, described))
        }
    }
}

pub async fn put_from_url(
    blobs: &Blobs,
    call: &mut Call,
    address: &Address,
) -> Result<Response<Answer>, Failure> {
    if call.request.header(header::BLOB_TYPE) != Some("BlockBlob") {
        let given = call.request.header(header::BLOB_TYPE).unwrap_or_default();
        return Err(StorageError::invalid_header(header::BLOB_TYPE.as_str(), given).into());
    }
    let source = resolve(blobs, call).await?;
    let has_hash = call.request.header(header::SOURCE_CONTENT_MD5).is_some()
        || call.request.header(header::SOURCE_CONTENT_CRC64).is_some();
    let written = match &source {
        Source::Here { address: from, selector } if !has_hash => {
            let options = CopyOptions { records_copy: false, ..copy_options(call)? };
            created(call, blobs.store.copy_blob(from, *selector, address, options).await)?.written
        }
        _ => {
            let (uploaded, described) = content(blobs, call, &source, None, PUT_BYTES_MAX).await?;
            let options = described_options(call, &described)?;
            created(call, blobs.store.put_blob(address, uploaded, options).await)?
        }
    };
    let mut response = reply::written(StatusCode::CREATED, written.modified, written.version);
    if let Some(md5) = written.content_md5 {
        reply::insert(&mut response, CONTENT_MD5, &md5_text(md5));
    }
    Ok(response)
}

/// Copy Blob From URL: the caller waits.
pub async fn copy_now(
    blobs: &Blobs,
    call: &mut Call,
    address: &Address,
) -> Result<Response<Answer>, Failure> {
    match resolve(blobs, call).await? {
        Source::Here { address: from, selector } => {
            let options = copy_options(call)?;
            let copied = created(call, blobs.store.copy_blob(&from, selector, address, options).await)?;
            Ok(copied_answer(&copied.written, copied.copy.as_ref()))
        }
        source @ Source::Elsewhere(_) => {
            let (uploaded, described) = content(blobs, call, &source, None, SYNC_COPY_BYTES_MAX).await?;
            let length = uploaded.length();
            let copy = Copy {
                id: CopyId::parse(&blobs.store.env().guid()).expect("a GUID is one"),
                source: url(&call.request)?,
                status: CopyStatus::Success,
                bytes_copied: length,
                bytes_total: Some(length),
                completed: Some(call.request.now()),
                description: None,
            };
            let options = PutOptions { copy: Some(copy.clone()), ..described_options(call, &described)? };
            let written = created(call, blobs.store.put_blob(address, uploaded, options).await)?;
            Ok(copied_answer(&written, Some(&copy)))
        }
    }
}

fn copied_answer(
    written: &orrery_blob_store::model::operations::Written,
    copy: Option<&Copy>,
) -> Response<Answer> {
    let mut response = reply::changed(StatusCode::ACCEPTED, written.modified, written.version);
    if let Some(copy) = copy {
        reply::insert(&mut response, header::COPY_ID, &copy.id.to_string());
        reply::insert(&mut response, header::COPY_STATUS, copy_status(copy.status));
    }
    if let Some(md5) = written.content_md5 {
        reply::insert(&mut response, CONTENT_MD5, &md5_text(md5));
    }
    response
}

/// Copy Blob: a source of this server is copied at once, one elsewhere while the caller does something else.
pub async fn copy(blobs: &Blobs, call: &mut Call, address: &Address) -> Result<Response<Answer>, Failure> {
    match resolve(blobs, call).await? {
        Source::Here { address: from, selector } => {
            let options = copy_options(call)?;
            let copied = created(call, blobs.store.copy_blob(&from, selector, address, options).await)?;
            Ok(copied_answer(&copied.written, copied.copy.as_ref()))
        }
        Source::Elsewhere(source) => {
            let given = Given::of(call)?;
            let options = put_options(call, false)?;
            let begun = blobs.store.begin_copy(address, url(&call.request)?, options.clone()).await;
            let begun = created(call, begun)?;
            let task = background_copy(blobs.clone(), address.clone(), begun.id, source, options, given);
            tokio::spawn(task);
            let mut response =
                reply::changed(StatusCode::ACCEPTED, begun.written.modified, begun.written.version);
            reply::insert(&mut response, header::COPY_ID, &begun.id.to_string());
            reply::insert(&mut response, header::COPY_STATUS, copy_status(CopyStatus::Pending));
            Ok(response)
        }
    }
}

async fn background_copy(
    blobs: Blobs,
    address: Address,
    id: CopyId,
    source: Elsewhere,
    options: PutOptions,
    given: Given,
) {
    let outcome = copy_in_background(&blobs.store, &blobs.fetch, &address, id, &source, options, given).await;
    let Err(Failure(error)) = outcome else { return };
    // Whoever aborted it, or wrote to the blob, knows.
    if error.code == "NoPendingCopyOperation" || error.code == "CopyIdMismatch" {
        return;
    }
    let why = format!("{} {}", error.status.as_u16(), error.code);
    if let Err(error) = blobs.store.fail_copy(&address, id, why).await {
        tracing::warn!(%error, "a copy that failed is not marked so");
    }
}

async fn copy_in_background(
    store: &BlobStore,
    fetch: &Fetch,
    address: &Address,
    id: CopyId,
    source: &Elsewhere,
    options: PutOptions,
    given: Given,
) -> Result<(), Failure> {
    let mut writer = store.upload(PUT_BYTES_MAX);
    let described = source.read(fetch, None, &mut writer).await?;
    store.note_copy_progress(address, id, described.length, Some(described.length)).await?;
    let uploaded = writer.finish(ExpectedHashes::default()).await?;
    let options = given.complete(options, &described)?;
    store.finish_copy(address, id, uploaded, options).await?;
    Ok(())
}

pub async fn abort(store: &BlobStore, call: &Call, address: &Address) -> Result<Response<Answer>, Failure> {
    const NAME: &str = "copyid";
    if call.request.header(header::COPY_ACTION) != Some("abort") {
        return Err(StorageError::missing_header(header::COPY_ACTION.as_str()).into());
    }
    let given = text(&call.request, NAME).ok_or_else(|| StorageError::missing_query(NAME))?;
    let refused = || StorageError::invalid_query(NAME, &given, "It is no id of a copy.");
    let id = CopyId::parse(&given).ok_or_else(refused)?;
    store.abort_copy(address, id, lease_id(&call.request, &header::LEASE_ID)?).await?;
    Ok(reply::empty(StatusCode::NO_CONTENT))
}

pub async fn stage_block(
    blobs: &Blobs,
    call: &mut Call,
    address: &Address,
) -> Result<Response<Answer>, Failure> {
    let id = block_id(&call.request)?;
    let lease = lease_id(&call.request, &header::LEASE_ID)?;
    let source = resolve(blobs, call).await?;
    let (uploaded, _) = content(blobs, call, &source, source_range(&call.request)?, BLOCK_BYTES_MAX).await?;
    let hashes = (Some(uploaded.md5()), uploaded.crc64());
    blobs.store.stage_block(address, id, uploaded, lease).await?;
    Ok(staged(hashes))
}

pub async fn append_block(
    blobs: &Blobs,
    call: &mut Call,
    address: &Address,
) -> Result<Response<Answer>, Failure> {
    let conditions = conditions::of_append(&call.request)?;
    let source = resolve(blobs, call).await?;
    let (uploaded, _) = content(blobs, call, &source, source_range(&call.request)?, APPEND_BYTES_MAX).await?;
    let hashes = (Some(uploaded.md5()), uploaded.crc64());
    let appended = blobs.store.append_block(address, uploaded, conditions).await?;
    Ok(append_answer(&appended, hashes))
}

pub async fn pages(blobs: &Blobs, call: &mut Call, address: &Address) -> Result<Response<Answer>, Failure> {
    let range = page_range(&call.request)?;
    let conditions = conditions::of_pages(&call.request)?;
    let source = resolve(blobs, call).await?;
    let (uploaded, _) = content(blobs, call, &source, source_range(&call.request)?, PAGES_BYTES_MAX).await?;
    if uploaded.length() != range.length() {
        return Err(Refusal::InvalidPageRange.into());
    }
    let md5 = uploaded.md5();
    let written = blobs.store.put_pages(address, range.start, uploaded, conditions).await?;
    let mut response = pages_answer(&written);
    reply::insert(&mut response, CONTENT_MD5, &md5_text(md5));
    Ok(response)
}

/// What a copy within this server takes instead of the source's.
fn copy_options(call: &Call) -> Result<CopyOptions, Failure> {
    let request = &call.request;
    let given = Given::of(call)?;
    let tags = match request.header(header::TAGS) {
        Some(text) => CopyTags::Replace(tags::of_header(header::TAGS.as_str(), text)?),
        None if request
            .header(header::COPY_SOURCE_TAG_OPTION)
            .is_some_and(|word| word.eq_ignore_ascii_case("copy")) =>
        {
            CopyTags::FromSource
        }
        None => CopyTags::None,
    };
    Ok(CopyOptions {
        headers: given.headers,
        metadata: given.metadata,
        tags,
        tier: read_tier(request)?,
        priority: read_priority(request)?,
        is_sealed: request.header(header::SEAL_BLOB).map(|_| is_true(request, &header::SEAL_BLOB)),
        immutability: read_immutability(request)?,
        legal_hold: is_true(request, &header::LEGAL_HOLD),
        source_conditions: conditions::of_source(request)?,
        conditions: create_conditions(call)?,
        source_url: url(request)?,
        records_copy: true,
    })
}

/// What the caller gave, which the source's does not replace.
struct Given {
    headers: Option<ContentHeaders>,
    metadata: Option<Metadata>,
}

impl Given {
    fn of(call: &Call) -> Result<Self, Failure> {
        let request = &call.request;
        let headers =
            has_content_headers(request).then(|| read_content_headers(request, false)).transpose()?;
        let metadata = Some(read_metadata(request)?).filter(|metadata| !metadata.is_empty());
        Ok(Self { headers, metadata })
    }

    fn complete(self, options: PutOptions, source: &Described) -> Result<PutOptions, Failure> {
        let headers = self.headers.unwrap_or_else(|| source_headers(source));
        let metadata = match self.metadata {
            Some(metadata) => metadata,
            None => source_metadata(source)?,
        };
        Ok(PutOptions { headers, metadata, ..options })
    }
}

fn described_options(call: &Call, described: &Described) -> Result<PutOptions, Failure> {
    Given::of(call)?.complete(put_options(call, false)?, described)
}

fn source_headers(source: &Described) -> ContentHeaders {
    let text =
        |name: HeaderName| source.headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    ContentHeaders {
        content_type: text(CONTENT_TYPE),
        content_encoding: text(CONTENT_ENCODING),
        content_language: text(CONTENT_LANGUAGE),
        content_disposition: text(CONTENT_DISPOSITION),
        cache_control: text(CACHE_CONTROL),
        content_md5: None,
    }
}

fn source_metadata(source: &Described) -> Result<Metadata, Failure> {
    let pairs = source.headers.iter().filter_map(|(name, value)| {
        let name = name.as_str().strip_prefix(common::META_PREFIX)?;
        Some((name.to_owned(), value.to_str().ok()?.to_owned()))
    });
    Ok(Metadata::new(pairs)?)
}
