//! Writes of content that is in the request: whole blobs, blocks and lists of them, appended blocks, pages (wire guide §8.3
//! to §8.5).

use crate::answer::Answer;
use crate::call::Call;
use crate::conditions::{self, lease_id, number};
use crate::errors::Failure;
use crate::header;
use crate::limits::BLOCK_LIST_BYTES_MAX;
use crate::parameters::{is_true, page_range, text};
use crate::properties::{
    crc64_text, md5_text, read_content_headers, read_immutability, read_metadata, read_tier,
};
use crate::reply;
use crate::tags;
use crate::upload::{expected, receive};
use http::{HeaderName, Response, StatusCode};
use orrery_api_storage::{StorageError, StorageRequest, xml};
use orrery_blob_store::BlobStore;
use orrery_blob_store::model::blob::BlockId;
use orrery_blob_store::model::conditions::Conditions;
use orrery_blob_store::model::limits::{
    APPEND_BYTES_MAX, BLOCK_BYTES_MAX, BLOCKS_MAX, PAGES_BYTES_MAX, PUT_BYTES_MAX,
};
use orrery_blob_store::model::operations::{
    Appended, BlockRef, BlockSource, NewPageBlob, PagesWritten, PutOptions, Written,
};
use orrery_blob_store::model::{Address, ETagMatch, Refusal};

pub const CONTENT_MD5: HeaderName = HeaderName::from_static("content-md5");

pub async fn put(store: &BlobStore, call: &mut Call, address: &Address) -> Result<Response<Answer>, Failure> {
    let name = &header::BLOB_TYPE;
    let kind =
        call.request.header(name).ok_or_else(|| StorageError::missing_header(name.as_str()))?.to_owned();
    let options = put_options(call, true)?;
    let written = match kind.as_str() {
        "BlockBlob" => {
            created(call, store.check_write(address, &options.conditions))?;
            let uploaded = receive(store, call, PUT_BYTES_MAX).await?;
            let crc64 = uploaded.crc64();
            let written = created(call, store.put_blob(address, uploaded, options).await)?;
            let mut response = put_answer(&written);
            reply::insert(&mut response, header::CONTENT_CRC64, &crc64_text(crc64));
            return Ok(response);
        }
        "AppendBlob" => created(call, store.put_append_blob(address, options).await)?,
        "PageBlob" => {
            let length = number(&call.request, &header::BLOB_CONTENT_LENGTH)?
                .ok_or_else(|| StorageError::missing_header(header::BLOB_CONTENT_LENGTH.as_str()))?;
            let sequence = number(&call.request, &header::BLOB_SEQUENCE_NUMBER)?.unwrap_or(0);
            created(call, store.put_page_blob(address, NewPageBlob { length, sequence }, options).await)?
        }
        other => return Err(StorageError::invalid_header(name.as_str(), other).into()),
    };
    Ok(put_answer(&written))
}

fn put_answer(written: &Written) -> Response<Answer> {
    let mut response = reply::written(StatusCode::CREATED, written.modified, written.version);
    if let Some(md5) = written.content_md5 {
        reply::insert(&mut response, CONTENT_MD5, &md5_text(md5));
    }
    response
}

/// What a write of a whole blob gives it beside its content.
pub fn put_options(call: &Call, of_content: bool) -> Result<PutOptions, Failure> {
    let request = &call.request;
    let name = &header::TAGS;
    let tags = request.header(name).map(|text| tags::of_header(name.as_str(), text)).transpose()?;
    Ok(PutOptions {
        headers: read_content_headers(request, of_content)?,
        metadata: read_metadata(request)?,
        tags: tags.unwrap_or_default(),
        tier: read_tier(request)?,
        immutability: read_immutability(request)?,
        legal_hold: is_true(request, &header::LEGAL_HOLD),
        copy: None,
        conditions: create_conditions(call)?,
    })
}

/// Whoever may only create a blob writes on condition that there is none.
pub fn create_conditions(call: &Call) -> Result<Conditions, Failure> {
    let mut conditions = conditions::of_blob(&call.request)?;
    if call.creates_only {
        conditions.if_none_match = Some(ETagMatch::Any);
    }
    Ok(conditions)
}

/// To somebody who may only create it, a blob that is there is forbidden.
pub fn created<T>(call: &Call, outcome: Result<T, orrery_blob_store::Error>) -> Result<T, Failure> {
    match outcome {
        Err(orrery_blob_store::Error::Refused(Refusal::BlobAlreadyExists)) if call.creates_only => {
            Err(StorageError::permission_mismatch().into())
        }
        outcome => Ok(outcome?),
    }
}

pub async fn stage_block(
    store: &BlobStore,
    call: &mut Call,
    address: &Address,
) -> Result<Response<Answer>, Failure> {
    let id = block_id(&call.request)?;
    let lease = lease_id(&call.request, &header::LEASE_ID)?;
    let says_md5 = expected(&call.request)?.md5.is_some();
    let uploaded = receive(store, call, BLOCK_BYTES_MAX).await?;
    let hashes = (says_md5.then(|| uploaded.md5()), uploaded.crc64());
    store.stage_block(address, id, uploaded, lease).await?;
    Ok(staged(hashes))
}

/// The MD5 is told to those who sent one, the CRC64 to the others.
pub fn staged((md5, crc64): (Option<[u8; 16]>, u64)) -> Response<Answer> {
    let mut response = reply::empty(StatusCode::CREATED);
    insert_hashes(&mut response, md5, crc64);
    reply::insert(&mut response, header::REQUEST_SERVER_ENCRYPTED, "true");
    response
}

fn insert_hashes(response: &mut Response<Answer>, md5: Option<[u8; 16]>, crc64: u64) {
    match md5 {
        Some(md5) => reply::insert(response, CONTENT_MD5, &md5_text(md5)),
        None => reply::insert(response, header::CONTENT_CRC64, &crc64_text(crc64)),
    }
}

pub fn block_id(request: &StorageRequest) -> Result<BlockId, Failure> {
    const NAME: &str = "blockid";
    let given = text(request, NAME).ok_or_else(|| StorageError::missing_query(NAME))?;
    let refused = |error| StorageError::invalid_query(NAME, &given, format!("{error}."));
    BlockId::parse(&given).map_err(|error| refused(error).into())
}

pub async fn commit_blocks(
    store: &BlobStore,
    call: &mut Call,
    address: &Address,
) -> Result<Response<Answer>, Failure> {
    let body = call.document(BLOCK_LIST_BYTES_MAX).await?;
    check_document(&call.request, &body)?;
    let blocks = block_list(&body)?;
    // Here the headers of the request are those of its XML.
    let options = put_options(call, false)?;
    let written = created(call, store.commit_block_list(address, blocks, options).await)?;
    Ok(reply::written(StatusCode::CREATED, written.modified, written.version))
}

/// The document of blocks may come with a hash, as content does.
fn check_document(request: &StorageRequest, body: &[u8]) -> Result<(), Failure> {
    use md5::{Digest, Md5};
    let expected = expected(request)?;
    if expected.md5.is_some_and(|md5| <[u8; 16]>::from(Md5::digest(body)) != md5) {
        return Err(Refusal::Md5Mismatch.into());
    }
    if expected.crc64.is_some_and(|crc64| orrery_blob_store::Crc64::of(body) != crc64) {
        return Err(Refusal::Crc64Mismatch.into());
    }
    Ok(())
}

fn block_list(body: &[u8]) -> Result<Vec<BlockRef>, Failure> {
    let root = xml::read(body)?;
    root.named("BlockList")?;
    if root.children.len() > BLOCKS_MAX {
        return Err(Refusal::BlockListTooLong.into());
    }
    let block = |element: &xml::Element| {
        let from = match element.name.as_str() {
            "Committed" => BlockSource::Committed,
            "Uncommitted" => BlockSource::Uncommitted,
            "Latest" => BlockSource::Latest,
            other => {
                let sentence = format!("the element '{other}' is not Committed, Uncommitted or Latest");
                return Err(Failure::from(StorageError::invalid_xml(sentence)));
            }
        };
        let id = BlockId::parse(element.text.trim()).map_err(|_| Refusal::InvalidBlockList)?;
        Ok(BlockRef { id, from })
    };
    root.children.iter().map(block).collect()
}

pub async fn append_block(
    store: &BlobStore,
    call: &mut Call,
    address: &Address,
) -> Result<Response<Answer>, Failure> {
    let conditions = conditions::of_append(&call.request)?;
    let says_md5 = expected(&call.request)?.md5.is_some();
    let uploaded = receive(store, call, APPEND_BYTES_MAX).await?;
    let hashes = (says_md5.then(|| uploaded.md5()), uploaded.crc64());
    let appended = store.append_block(address, uploaded, conditions).await?;
    Ok(append_answer(&appended, hashes))
}

pub fn append_answer(appended: &Appended, (md5, crc64): (Option<[u8; 16]>, u64)) -> Response<Answer> {
    let written = &appended.written;
    let mut response = reply::written(StatusCode::CREATED, written.modified, written.version);
    insert_hashes(&mut response, md5, crc64);
    reply::insert(&mut response, header::APPEND_OFFSET, &appended.offset.to_string());
    reply::insert(&mut response, header::COMMITTED_BLOCK_COUNT, &appended.blocks.to_string());
    response
}

pub async fn seal(store: &BlobStore, call: &Call, address: &Address) -> Result<Response<Answer>, Failure> {
    let written = store.seal(address, conditions::of_append(&call.request)?).await?;
    let mut response = reply::changed(StatusCode::OK, written.modified, written.version);
    reply::insert(&mut response, header::BLOB_SEALED, "true");
    Ok(response)
}

pub async fn pages(
    store: &BlobStore,
    call: &mut Call,
    address: &Address,
) -> Result<Response<Answer>, Failure> {
    let name = &header::PAGE_WRITE;
    let range = page_range(&call.request)?;
    let conditions = conditions::of_pages(&call.request)?;
    let write = call.request.header(name).ok_or_else(|| StorageError::missing_header(name.as_str()))?;
    match write.to_ascii_lowercase().as_str() {
        "clear" => {
            let written = store.clear_pages(address, range, conditions).await?;
            Ok(pages_answer(&written))
        }
        "update" => {
            let says_md5 = expected(&call.request)?.md5.is_some();
            let uploaded = receive(store, call, PAGES_BYTES_MAX).await?;
            if uploaded.length() != range.length() {
                return Err(Refusal::InvalidPageRange.into());
            }
            let (md5, crc64) = (says_md5.then(|| uploaded.md5()), uploaded.crc64());
            let written = store.put_pages(address, range.start, uploaded, conditions).await?;
            let mut response = pages_answer(&written);
            insert_hashes(&mut response, md5, crc64);
            Ok(response)
        }
        _ => Err(StorageError::invalid_header(name.as_str(), write).into()),
    }
}

pub fn pages_answer(pages: &PagesWritten) -> Response<Answer> {
    let mut response = reply::written(StatusCode::CREATED, pages.written.modified, pages.written.version);
    reply::insert(&mut response, header::BLOB_SEQUENCE_NUMBER, &pages.sequence.to_string());
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_list_is_read_as_clients_write_it() {
        let read = |body: &str| {
            let blocks = block_list(body.as_bytes()).map_err(|Failure(error)| error.code)?;
            Ok::<_, &str>(
                blocks.iter().map(|block| format!("{:?} {}", block.from, block.id)).collect::<Vec<_>>(),
            )
        };
        let pretty = "<?xml version=\"1.0\"?>\n<BlockList>\n\t<Uncommitted>QUFBQQ==</Uncommitted>\n\t<Latest>QkJCQg==</Latest>\n</BlockList>";
        assert_eq!(read(pretty), Ok(vec!["Uncommitted QUFBQQ==".to_owned(), "Latest QkJCQg==".to_owned()]));
        assert_eq!(read("<BlockList/>"), Ok(Vec::new()));
        assert_eq!(read("<BlockList><Other>QUFBQQ==</Other></BlockList>"), Err("InvalidXmlDocument"));
        assert_eq!(read("<BlockList><Latest>?</Latest></BlockList>"), Err("InvalidBlockList"));
        let long = format!("<BlockList>{}</BlockList>", "<Latest>QUFBQQ==</Latest>".repeat(BLOCKS_MAX + 1));
        assert_eq!(read(&long), Err("BlockListTooLong"));
    }
}
