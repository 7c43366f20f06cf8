//! `POST .../operations/partitionkeydelete`: all items of one partition go.
//!
//! The answer comes when none of those that were there is left. A client that does not wait for it, and a restart,
//! change nothing: what was begun is noted, and background work ends it.

use super::items::{place, scope};
use crate::failure::Failure;
use crate::reply::Reply;
use crate::request::{Post, Request};
use crate::service::Cosmos;
use crate::{header, partition_key};
use http::StatusCode;
use orrery_core::limits;
use orrery_document_store::{Committed, EngineError, Txn, WriteError};
use orrery_documents::catalog::Container;
use orrery_documents::charge::Charge;
use orrery_documents::expiry::Step;
use orrery_documents::purge;
use std::sync::Arc;

pub async fn run(cosmos: &Cosmos, request: &Request, container: Arc<Container>) -> Result<Reply, Failure> {
    // A request that calls itself a query was let in as one.
    if request.post() != Post::Create {
        return Err(Failure::bad_request(
            "A deletion by partition key is no query, batch or upsert; leave those headers out.",
        ));
    }
    let key = request.header_or_refuse(&header::PARTITION_KEY)?.ok_or_else(|| {
        Failure::partition_key("The partition key is missing: send the header x-ms-documentdb-partitionkey.")
    })?;
    let epk = partition_key::point(&container, key)?;
    let now = cosmos.store().env().now();
    let mut container = container;
    let mut begun = write(cosmos, &mut container, &epk, |txn, container| {
        purge::begin(txn, container, epk.as_bytes(), now, cosmos.store().next_ordinal())
    })
    .await?;
    while begun.value == Step::More {
        begun = write(cosmos, &mut container, &epk, |txn, container| {
            purge::step(txn, container, epk.as_bytes(), now)
        })
        .await?;
    }
    cosmos.usage().touched(container.number(), epk.as_bytes());
    Ok(Reply::new(StatusCode::OK, Charge::purge()).headers(place(cosmos, &container, &epk, begun.lsn)))
}

/// One transaction. If the container came to be indexed in another way meanwhile, it is made again for how it is now.
async fn write(
    cosmos: &Cosmos,
    container: &mut Arc<Container>,
    epk: &orrery_keys::Epk,
    body: impl Fn(&mut Txn<'_>, &Container) -> Result<Step, EngineError>,
) -> Result<Committed<Step>, Failure> {
    let mut tries = 0;
    loop {
        let written = cosmos.store().write(scope(container, epk), |txn| body(txn, container)).await;
        tries += 1;
        match written {
            Err(WriteError::PreconditionFailed) if tries < limits::TRANSACTION_RETRIES_MAX => {
                match cosmos.as_it_is_now(container)? {
                    Some(newer) => *container = newer,
                    None => return Err(WriteError::<EngineError>::PreconditionFailed.into()),
                }
            }
            other => return Ok(other?),
        }
    }
}
