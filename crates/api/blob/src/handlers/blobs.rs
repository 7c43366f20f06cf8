//! Operations on blobs: which handler does which.

use crate::answer::Answer;
use crate::call::Call;
use crate::errors::Failure;
use crate::handlers::{account, changes, copies, leases, read, writes};
use crate::operation::OnBlob;
use crate::service::Blobs;
use http::Response;
use orrery_blob_store::model::Address;

pub async fn run(
    blobs: &Blobs,
    call: &mut Call,
    address: &Address,
    does: OnBlob,
) -> Result<Response<Answer>, Failure> {
    let store = &blobs.store;
    match does {
        OnBlob::Get => read::get(blobs, call, address).await,
        OnBlob::ReadProperties => read::properties(blobs, call, address),
        OnBlob::ReadMetadata => read::metadata(blobs, call, address),
        OnBlob::ReadBlocks => read::blocks(blobs, call, address),
        OnBlob::ReadPages => read::pages(blobs, call, address),
        OnBlob::ReadInformation => Ok(account::information()),
        OnBlob::Put => writes::put(store, call, address).await,
        OnBlob::StageBlock => writes::stage_block(store, call, address).await,
        OnBlob::CommitBlocks => writes::commit_blocks(store, call, address).await,
        OnBlob::AppendBlock => writes::append_block(store, call, address).await,
        OnBlob::Seal => writes::seal(store, call, address).await,
        OnBlob::WritePages => writes::pages(store, call, address).await,
        OnBlob::PutFromUrl => copies::put_from_url(blobs, call, address).await,
        OnBlob::CopyNow => copies::copy_now(blobs, call, address).await,
        OnBlob::Copy => copies::copy(blobs, call, address).await,
        OnBlob::AbortCopy => copies::abort(store, call, address).await,
        OnBlob::StageBlockFromUrl => copies::stage_block(blobs, call, address).await,
        OnBlob::AppendBlockFromUrl => copies::append_block(blobs, call, address).await,
        OnBlob::WritePagesFromUrl => copies::pages(blobs, call, address).await,
        OnBlob::Lease => leases::on_blob(store, call, address).await,
        OnBlob::WriteMetadata => changes::metadata(store, call, address).await,
        OnBlob::WriteProperties => changes::properties(store, call, address).await,
        OnBlob::Snapshot => changes::snapshot(store, call, address).await,
        OnBlob::Delete => changes::delete(store, call, address).await,
        OnBlob::Undelete => changes::undelete(store, address).await,
        OnBlob::SetTier => changes::tier(store, call, address).await,
        OnBlob::ReadTags => changes::read_tags(store, call, address),
        OnBlob::WriteTags => changes::write_tags(store, call, address).await,
        OnBlob::SetImmutability => changes::set_immutability(store, call, address).await,
        OnBlob::DeleteImmutability => changes::delete_immutability(store, call, address).await,
        OnBlob::SetLegalHold => changes::set_legal_hold(store, call, address).await,
    }
}
