//! `PATCH .../docs/{id}` (wire guide §14).

use super::items::{body_text, checked, directive, noted, scope, target, write_reply};
use crate::failure::Failure;
use crate::query::condition::ConditionHost;
use crate::reply::Reply;
use crate::request::Request;
use crate::service::Cosmos;
use orrery_document_store::Txn;
use orrery_documents::catalog::Container;
use orrery_documents::item::{self, Change, Directive, ItemError};
use orrery_documents::patch::PatchRequest;
use orrery_value::{scan_value, utf8};

/// Whatever the content type says: SDKs send three different ones, or none.
pub async fn patch(
    cosmos: &Cosmos,
    request: &mut Request,
    container: &Container,
    id: &str,
) -> Result<Reply, Failure> {
    let body = body_text(request).await?;
    let target = target(request, container, id)?;
    let invalid = |error| Failure::bad_request(format!("The body is not JSON: {error}."));
    scan_value(&body).map_err(invalid)?;
    let change = change(container, utf8(&body).map_err(invalid)?, directive(request)?)?;
    let (conditions, stamp) = (request.preconditions(), cosmos.stamp());
    let write = |txn: &mut Txn<'_>| {
        let host = ConditionHost::new(cosmos.store().env(), stamp.now);
        item::patch(txn, container, &target, &change, conditions, stamp, &host)
    };
    let written = cosmos.store().write(scope(container, &target.epk), write).await;
    let written = checked(cosmos, container, &target.epk, written)?;
    noted(cosmos, container, &target.epk, &target.id, &written.value);
    Ok(write_reply(cosmos, request, container, &target.epk, &written.value, written.lsn))
}

/// A patch from text that was scanned.
pub(super) fn change(container: &Container, text: &str, directive: Directive) -> Result<Change, Failure> {
    let request = PatchRequest::parse(text).map_err(ItemError::from)?;
    Ok(Change::new(container, request, directive)?)
}
