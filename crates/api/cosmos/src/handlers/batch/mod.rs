//! Batches: several operations in one request (wire guide §15).
//!
//! ```text
//! body ─ decode ─> operations ─> the store: batch (all or nothing), or bulk (each for itself)
//!                  outcomes ─ outcome ─> a JSON array, one answer an operation, in their order
//! ```

mod decode;
mod outcome;

use super::items::{body_text, directive, place};
use crate::failure::Failure;
use crate::limits;
use crate::reply::{Reply, ToValue as _};
use crate::request::Request;
use crate::service::Cosmos;
use crate::{header, session};
use orrery_document_store::{BatchOutcome, BatchRequest, partition_key};
use orrery_documents::batch::OnRefusal;
use orrery_documents::catalog::Container;
use orrery_keys::Epk;
use orrery_value::{scan_value, utf8};
use outcome::Outcome;
use std::collections::BTreeSet;
use std::sync::Arc;

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
    let (is_atomic, key) =
        (request.is_true(&header::BATCH_ATOMIC), request.header_or_refuse(&header::PARTITION_KEY)?);
    if is_atomic && key.is_none() {
        return Err(Failure::partition_key(
            "A transactional batch needs its partition key in the header x-ms-documentdb-partitionkey.",
        ));
    }
    let epk = key.map(|key| partition_key::point(container, key)).transpose()?;
    let scope = super::item_feed::scope(request, container).ok();
    let batch = BatchRequest {
        operations: &operations,
        partition: epk.as_ref(),
        scope: scope.as_ref(),
        directive: directive(request)?,
        priority: request.priority(),
    };
    let done = if is_atomic {
        cosmos.store().batch(container, &batch).await?
    } else {
        check_range(container, request)?;
        let on_refusal = match request.is_true(&header::BATCH_CONTINUE_ON_ERROR) {
            true => OnRefusal::GoOn,
            false => OnRefusal::Stop,
        };
        cosmos.store().bulk(container, &batch, on_refusal).await?
    };
    Ok(reply(cosmos, request, done, is_atomic))
}

/// A client sends operations that it believes to be in one range. If that range no longer exists, the request is
/// refused, so that the client refreshes its ranges.
fn check_range(container: &Container, request: &Request) -> Result<(), Failure> {
    let id = request.header_or_refuse(&header::PARTITION_KEY_RANGE_ID)?.filter(|id| !id.is_empty());
    match id {
        Some(id) if id.parse().ok().and_then(|id| container.ranges().get(id)).is_none() => {
            Err(Failure::range_gone(id))
        }
        _ => Ok(()),
    }
}

/// The session token of a bulk request covers every range written to.
fn reply(cosmos: &Cosmos, request: &Request, done: BatchOutcome, is_atomic: bool) -> Reply {
    let BatchOutcome { container, outcomes, partitions, lsn } = done;
    let wants_minimal = request.wants_minimal();
    let outcomes: Vec<Outcome> =
        outcomes.into_iter().map(|outcome| Outcome::of(outcome, wants_minimal)).collect();
    let start = Epk::start();
    let reply = outcome::reply(&container, &outcomes);
    let reply = reply.headers(place(cosmos, &container, partitions.first().unwrap_or(&start), lsn));
    if is_atomic || partitions.is_empty() {
        return reply;
    }
    let ranges: BTreeSet<u32> = partitions.iter().map(|epk| container.ranges().of(epk).id).collect();
    let token = |range: &u32| session::token(cosmos, &container, *range, lsn).0;
    let tokens: Vec<String> = ranges.iter().map(token).collect();
    reply.headers([(header::SESSION_TOKEN, tokens.join(",").to_value())])
}
