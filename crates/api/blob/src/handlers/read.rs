//! Reads of a blob: its properties, its content in whole or in a range, its blocks and pages (wire guide §8.3, §8.5, §8.6).

use crate::answer::Answer;
use crate::call::Call;
use crate::conditions;
use crate::encode;
use crate::errors::Failure;
use crate::header;
use crate::parameters::{is_true, range, results_max, selector, text};
use crate::properties::{self, crc64_text, md5_text};
use crate::reply;
use crate::service::Blobs;
use crate::upload::refuse_structured_body;
use bytes::Bytes;
use http::header::{CONTENT_LENGTH, CONTENT_RANGE};
use http::{HeaderName, Response, StatusCode};
use md5::{Digest, Md5};
use orrery_api_storage::{StorageError, metadata};
use orrery_blob_store::model::Address;
use orrery_blob_store::model::limits::{PAGE_RANGES_MAX, RANGE_HASH_BYTES_MAX};
use orrery_blob_store::model::operations::ListPages;
use orrery_blob_store::{BlobReader, Crc64};
use orrery_core::Ticks;

const CONTENT_MD5: HeaderName = HeaderName::from_static("content-md5");

/// The length is that of the blob; there is no body.
pub fn properties(blobs: &Blobs, call: &Call, address: &Address) -> Result<Response<Answer>, Failure> {
    let request = &call.request;
    let conditions = conditions::of_blob(request)?;
    let blob = blobs.store.blob(address, selector(request)?, &conditions)?;
    let mut response = reply::empty(StatusCode::OK);
    properties::write(&mut response, &blob, request.now());
    reply::insert(&mut response, CONTENT_LENGTH, &blob.length().to_string());
    if let Some(md5) = blob.headers.content_md5 {
        reply::insert(&mut response, CONTENT_MD5, &md5_text(md5));
    }
    Ok(response)
}

pub fn metadata(blobs: &Blobs, call: &Call, address: &Address) -> Result<Response<Answer>, Failure> {
    let request = &call.request;
    let conditions = conditions::of_blob(request)?;
    let blob = blobs.store.blob(address, selector(request)?, &conditions)?;
    let mut response = reply::changed(StatusCode::OK, blob.modified, blob.version);
    metadata::write(&mut response, blob.metadata.iter());
    Ok(response)
}

pub async fn get(blobs: &Blobs, call: &mut Call, address: &Address) -> Result<Response<Answer>, Failure> {
    let request = &call.request;
    refuse_structured_body(request)?;
    let conditions = conditions::of_blob(request)?;
    let range = range(request);
    let reader = blobs.store.open_blob(address, selector(request)?, range, &conditions).await?;
    let mut response = reply::empty(StatusCode::OK);
    properties::write(&mut response, reader.blob(), request.now());
    let read = reader.range();
    reply::insert(&mut response, CONTENT_LENGTH, &read.length().to_string());
    let whole_md5 = reader.blob().headers.content_md5.map(md5_text);
    if range.is_none() {
        if let Some(md5) = whole_md5 {
            reply::insert(&mut response, CONTENT_MD5, &md5);
        }
        *response.body_mut() = Answer::content(reader);
        return Ok(response);
    }
    *response.status_mut() = StatusCode::PARTIAL_CONTENT;
    let (start, last, total) = (read.start, read.end - 1, reader.blob().length());
    reply::insert(&mut response, CONTENT_RANGE, &format!("bytes {start}-{last}/{total}"));
    if let Some(md5) = whole_md5 {
        reply::insert(&mut response, header::BLOB_CONTENT_MD5, &md5);
    }
    *response.body_mut() = match hash_wanted(call, read.length())? {
        Wanted::None => Answer::content(reader),
        Wanted::Md5 => {
            let text = |bytes: &[u8]| md5_text(Md5::digest(bytes).into());
            Answer::whole(hashed(reader, &mut response, &CONTENT_MD5, text).await?)
        }
        Wanted::Crc64 => {
            let text = |bytes: &[u8]| crc64_text(Crc64::of(bytes));
            Answer::whole(hashed(reader, &mut response, &header::CONTENT_CRC64, text).await?)
        }
    };
    Ok(response)
}

enum Wanted {
    None,
    Md5,
    Crc64,
}

/// The hash of a range goes before it, so the range is read whole, and is small.
fn hash_wanted(call: &Call, length: u64) -> Result<Wanted, Failure> {
    let wants = |name| is_true(&call.request, name);
    let wanted = match (wants(&header::RANGE_GET_CONTENT_MD5), wants(&header::RANGE_GET_CONTENT_CRC64)) {
        (false, false) => return Ok(Wanted::None),
        (true, false) => Wanted::Md5,
        (false, true) => Wanted::Crc64,
        (true, true) => {
            let name = header::RANGE_GET_CONTENT_CRC64;
            return Err(StorageError::invalid_header(name.as_str(), "true").into());
        }
    };
    if length > RANGE_HASH_BYTES_MAX {
        let message = "The range specified is invalid for the current size of the resource: its hash is computed for at \
                       most 4 MiB.";
        return Err(StorageError::new(StatusCode::BAD_REQUEST, "OutOfRangeInput", message).into());
    }
    Ok(wanted)
}

async fn hashed(
    reader: BlobReader,
    response: &mut Response<Answer>,
    name: &HeaderName,
    hash: impl Fn(&[u8]) -> String,
) -> Result<Bytes, Failure> {
    let bytes = reader.read_all().await?;
    reply::insert(response, name.clone(), &hash(&bytes));
    Ok(bytes)
}

pub fn blocks(blobs: &Blobs, call: &Call, address: &Address) -> Result<Response<Answer>, Failure> {
    let request = &call.request;
    let (committed, uncommitted) = match text(request, "blocklisttype").as_deref() {
        None | Some("committed") => (true, false),
        Some("uncommitted") => (false, true),
        Some("all") => (true, true),
        Some(other) => {
            let reason = "It is committed, uncommitted or all.";
            return Err(StorageError::invalid_query("blocklisttype", other, reason).into());
        }
    };
    let conditions = conditions::of_blob(request)?;
    let lists = blobs.store.block_lists(address, selector(request)?, &conditions)?;
    let mut response = reply::xml(StatusCode::OK, encode::blocks(&lists, committed, uncommitted));
    let length = lists.blob.as_ref().map_or(0, |blob| blob.length());
    reply::insert(&mut response, header::BLOB_CONTENT_LENGTH, &length.to_string());
    if let Some(blob) = &lists.blob {
        reply::insert_state(&mut response, blob.modified);
    }
    Ok(response)
}

pub fn pages(blobs: &Blobs, call: &Call, address: &Address) -> Result<Response<Answer>, Failure> {
    const PREVIOUS: &str = "prevsnapshot";
    let request = &call.request;
    let since = match text(request, PREVIOUS) {
        None => None,
        Some(given) => Some(
            Ticks::parse(&given)
                .ok_or_else(|| StorageError::invalid_query(PREVIOUS, &given, "It is no moment in UTC."))?,
        ),
    };
    let list = ListPages {
        range: range(request),
        since,
        marker: text(request, "marker"),
        count_max: results_max(request, PAGE_RANGES_MAX as i64)?,
        conditions: conditions::of_blob(request)?,
    };
    let list = blobs.store.page_ranges(address, selector(request)?, &list)?;
    let mut response = reply::xml(StatusCode::OK, encode::pages(&list));
    reply::insert_state(&mut response, list.blob.modified);
    reply::insert(&mut response, header::BLOB_CONTENT_LENGTH, &list.blob.length().to_string());
    Ok(response)
}
