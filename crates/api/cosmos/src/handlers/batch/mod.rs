//! Batches: several operations in one request (wire guide §15).
//!
//! ```text
//! body ─ decode ─> steps ─┬─ atomic   one transaction of one partition: all or nothing
//!                         └─ bulk     a transaction for each partition, all under way at once
//!                 outcomes ─ outcome ─> a JSON array, one answer an operation, in their order
//! ```

mod atomic;
mod bulk;
mod decode;
mod join;
mod outcome;

use super::items::body_text;
use crate::failure::Failure;
use crate::header;
use crate::reply::Reply;
use crate::request::Request;
use crate::service::Cosmos;
use orrery_core::limits;
use orrery_documents::catalog::Container;
use orrery_documents::item::Directive;
use orrery_value::{scan_value, utf8};
use std::sync::Arc;

/// What holds for all operations of a batch.
struct Asked<'a> {
    cosmos: &'a Cosmos,
    container: &'a Arc<Container>,
    directive: Directive,
    wants_minimal: bool,
}

pub async fn post(
    cosmos: &Cosmos,
    request: &mut Request,
    container: &Arc<Container>,
) -> Result<Reply, Failure> {
    let body = body_text(request).await?;
    if body.len() > limits::BATCH_BYTES_MAX {
        let max = limits::BATCH_BYTES_MAX;
        return Err(Failure::request_too_large(&format!("the largest batch is {max} bytes")));
    }
    let invalid = |error| Failure::bad_request(format!("The body of the batch is not JSON: {error}."));
    scan_value(&body).map_err(invalid)?;
    let operations = decode::operations(utf8(&body).map_err(invalid)?)?;
    let (directive, wants_minimal) = (super::items::directive(request)?, request.wants_minimal());
    let asked = Asked { cosmos, container, directive, wants_minimal };
    if request.is_true(&header::BATCH_ATOMIC) {
        atomic::run(&asked, request, &operations).await
    } else {
        bulk::run(&asked, request, &operations).await
    }
}
