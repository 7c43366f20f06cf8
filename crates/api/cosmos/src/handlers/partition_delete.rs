//! `POST .../operations/partitionkeydelete`: deletes all items of one partition.

use super::items::place;
use crate::failure::Failure;
use crate::header;
use crate::reply::Reply;
use crate::request::{Post, Request};
use crate::service::Cosmos;
use http::StatusCode;
use orrery_document_store::{Charged as _, PartitionKeyError, partition_key};
use orrery_documents::catalog::Container;
use std::sync::Arc;

pub async fn run(cosmos: &Cosmos, request: &Request, container: Arc<Container>) -> Result<Reply, Failure> {
    // A request marked as a query was authorized as one.
    if request.post() != Post::Create {
        return Err(Failure::bad_request(
            "A deletion by partition key is no query, batch or upsert; leave those headers out.",
        ));
    }
    let key = request.header_or_refuse(&header::PARTITION_KEY)?.ok_or(PartitionKeyError::Missing)?;
    let epk = partition_key::point(&container, key)?;
    let deleted = cosmos.store().delete_partition(&container, &epk, request.priority()).await?;
    let place = place(cosmos, &container, &epk, deleted.lsn);
    Ok(Reply::new(StatusCode::OK, deleted.charge()).headers(place))
}
