//! Operations on queues as such.

use crate::call::Call;
use crate::encode::{self, ListHead};
use crate::errors::Failure;
use crate::header::APPROXIMATE_MESSAGES_COUNT;
use crate::operation::OnQueue;
use crate::parameters::{number, text};
use crate::reply;
use http::{Response, StatusCode};
use orrery_api_common::Body;
use orrery_api_storage::limits::DOCUMENT_BYTES_MAX;
use orrery_api_storage::{access_policies, metadata};
use orrery_catalog::storage::ServiceKind;
use orrery_queue_store::limits::QUEUES_PER_PAGE_MAX;
use orrery_queue_store::{Creation, ListQueues, Metadata, OutOfRange, QueueId, QueueStore};

pub fn list(store: &QueueStore, call: &Call) -> Result<Response<Body>, Failure> {
    let request = &call.request;
    let results_max = number(request, "maxresults", page_size)?.unwrap_or(QUEUES_PER_PAGE_MAX);
    let head = ListHead {
        endpoint: format!("{}/", request.base_url()),
        prefix: text(request, "prefix"),
        marker: text(request, "marker"),
        results_max,
        with_metadata: text(request, "include").split(',').any(|part| part.trim() == "metadata"),
    };
    let page = store.list_queues(&ListQueues {
        account: request.account.clone(),
        prefix: head.prefix.clone(),
        marker: head.marker.clone(),
        count_max: results_max,
    });
    Ok(reply::xml(StatusCode::OK, encode::queues(&head, &page)))
}

fn page_size(value: i64) -> Result<usize, OutOfRange> {
    let max = QUEUES_PER_PAGE_MAX as i64;
    if (1..=max).contains(&value) { Ok(value as usize) } else { Err(OutOfRange { value, min: 1, max }) }
}

pub async fn run(
    store: &QueueStore,
    call: &mut Call,
    id: &QueueId,
    does: OnQueue,
) -> Result<Response<Body>, Failure> {
    match does {
        OnQueue::Create => {
            let created = store.create_queue(id, metadata_of(call)?).await?;
            Ok(reply::empty(match created {
                Creation::New => StatusCode::CREATED,
                Creation::Existing => StatusCode::NO_CONTENT,
            }))
        }
        OnQueue::Delete => {
            store.delete_queue(id).await?;
            Ok(reply::empty(StatusCode::NO_CONTENT))
        }
        OnQueue::ReadMetadata => read_metadata(store, id),
        OnQueue::WriteMetadata => {
            store.set_metadata(id, metadata_of(call)?).await?;
            Ok(reply::empty(StatusCode::NO_CONTENT))
        }
        OnQueue::ReadPolicies => {
            let queue = store.queue(id)?;
            Ok(reply::xml(StatusCode::OK, access_policies::write(&queue.policies)))
        }
        OnQueue::WritePolicies => {
            let body = call.body(DOCUMENT_BYTES_MAX).await?;
            let policies = access_policies::read(ServiceKind::Queue, &body)?;
            store.set_policies(id, policies).await?;
            Ok(reply::empty(StatusCode::NO_CONTENT))
        }
    }
}

fn read_metadata(store: &QueueStore, id: &QueueId) -> Result<Response<Body>, Failure> {
    let (queue, count) = (store.queue(id)?, store.approximate_count(id)?);
    let mut response = reply::empty(StatusCode::OK);
    reply::insert(&mut response, APPROXIMATE_MESSAGES_COUNT, &count.to_string());
    metadata::write(&mut response, queue.metadata.iter());
    Ok(response)
}

fn metadata_of(call: &Call) -> Result<Metadata, Failure> {
    Ok(Metadata::new(metadata::read(&call.request.head)?)?)
}
