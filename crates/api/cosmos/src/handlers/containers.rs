//! Containers: create, read, replace, list, query by member, delete.

use super::{container, list_reply};
use crate::failure::Failure;
use crate::limits;
use crate::query::resources;
use crate::reply::Reply;
use crate::request::{Post, Request};
use crate::service::Cosmos;
use crate::{encode, header, session};
use http::StatusCode;
use orrery_api_common::percent;
use orrery_core::Lsn;
use orrery_core::limits::ITEM_BYTES_MAX;
use orrery_documents::catalog::Container;
use orrery_documents::charge::Charge;
use orrery_documents::definition::{ContainerDefinition, PartitionKeyDefinition};
use orrery_documents::index;
use orrery_documents::item::{self, Statistics};
use serde_json::Value;
use std::sync::Arc;

/// The partition key definition in a container's body.
const PARTITION_KEY: &str = "partitionKey";

pub fn list(cosmos: &Cosmos, request: &Request, owner: &str) -> Result<Reply, Failure> {
    let (rid, containers) = all(cosmos, request, owner)?;
    let count = containers.len();
    Ok(list_reply(&encode::feed(&rid, "DocumentCollections", containers), count))
}

pub async fn post(cosmos: &Cosmos, request: &mut Request, owner: &str) -> Result<Reply, Failure> {
    match request.post() {
        Post::Query => {
            let (rid, containers) = all(cosmos, request, owner)?;
            resources::query(cosmos, request, &rid, "DocumentCollections", containers).await
        }
        Post::Create => create(cosmos, request, owner).await,
        Post::QueryPlan | Post::Batch | Post::Upsert => Err(Failure::method_not_allowed()),
    }
}

/// The database's resource id, and its containers.
fn all(cosmos: &Cosmos, request: &Request, owner: &str) -> Result<(String, Vec<Value>), Failure> {
    let database = super::owner(cosmos, owner)?;
    let catalog = cosmos.store().catalog();
    let containers = catalog.containers(database.rid).map(|container| shown(request, container));
    Ok((database.rid.to_string(), containers.collect()))
}

async fn create(cosmos: &Cosmos, request: &mut Request, owner: &str) -> Result<Reply, Failure> {
    let owner = super::owner(cosmos, owner)?.name.clone();
    let mut body = request.json_object().await?;
    if request.is_before_partition_keys() && body.get(PARTITION_KEY).is_none_or(Value::is_null) {
        body.insert(PARTITION_KEY.to_owned(), PartitionKeyDefinition::system());
    }
    let definition = ContainerDefinition::parse(body)?;
    let throughput = request.throughput()?;
    if throughput.is_some() && cosmos.store().is_serverless() {
        return Err(super::databases::serverless("container"));
    }
    let created = cosmos.store().create_container(owner, definition, throughput).await?;
    reply(cosmos, request, StatusCode::CREATED, &created.value, created.lsn)
}

pub async fn read(cosmos: &Cosmos, request: &Request, owner: &str, name: &str) -> Result<Reply, Failure> {
    let container = container(cosmos, owner, name)?;
    let lsn = cosmos.store().durable_lsn();
    let (quota, statistics) =
        (request.is_true(&header::POPULATE_QUOTA), request.is_true(&header::POPULATE_STATISTICS));
    if !quota && !statistics {
        return reply(cosmos, request, StatusCode::OK, &container, lsn);
    }
    let counts = count(cosmos, &container).await?;
    let mut reply = reply(cosmos, request, StatusCode::OK, &container, lsn)?;
    if quota {
        let total = |of: fn(&Statistics) -> u64| counts.iter().map(of).sum::<u64>();
        let (items, kilobytes) = (total(|range| range.items), total(|range| range.bytes).div_ceil(1024));
        let usage = format!(
            "documentSize={kilobytes};documentsSize={kilobytes};documentsCount={items};collectionSize={kilobytes};"
        );
        let most = container.ranges().leaves().len() as u64 * limits::RANGE_KILOBYTES;
        let item = ITEM_BYTES_MAX / 1024;
        let quota =
            format!("documentSize={item};documentsSize={most};documentsCount=-1;collectionSize={most};");
        reply = reply.header(header::RESOURCE_QUOTA, quota).header(header::RESOURCE_USAGE, usage);
    }
    if statistics {
        let mut body = shown(request, &container);
        body["statistics"] = counts.iter().map(encode::statistics).collect();
        reply = reply.value(&body);
    }
    Ok(reply)
}

/// Counts on a blocking thread: it reads up to a page's budget of rows of every range.
async fn count(cosmos: &Cosmos, container: &Arc<Container>) -> Result<Vec<Statistics>, Failure> {
    let (snapshot, container, now) =
        (cosmos.store().snapshot(), container.clone(), cosmos.store().env().now());
    Ok(orrery_document_store::on_a_thread(move || item::statistics(&*snapshot, &container, now)).await??)
}

pub async fn replace(
    cosmos: &Cosmos,
    request: &mut Request,
    owner: &str,
    name: &str,
) -> Result<Reply, Failure> {
    let container = container(cosmos, owner, name)?;
    let (owner, name) = (container.database().clone(), container.definition().name().clone());
    let (body, conditions) = (request.json_object().await?, request.preconditions());
    let replaced = cosmos.store().replace_container(owner, name, body, conditions).await?;
    reply(cosmos, request, StatusCode::OK, &replaced.value, replaced.lsn)
}

pub async fn delete(cosmos: &Cosmos, request: &Request, owner: &str, name: &str) -> Result<Reply, Failure> {
    let container = container(cosmos, owner, name)?;
    let (owner, name) = (container.database().clone(), container.definition().name().clone());
    cosmos.store().delete_container(owner, name, request.preconditions()).await?;
    Ok(Reply::new(StatusCode::NO_CONTENT, Charge::metadata()))
}

/// A container in the client's protocol version: one from before partition keys shows none where
/// there is none.
fn shown(request: &Request, container: &Container) -> Value {
    let mut shown = encode::container(container);
    if request.is_before_partition_keys()
        && container.definition().partition_key().system_key()
        && let Value::Object(members) = &mut shown
    {
        members.shift_remove(PARTITION_KEY);
    }
    shown
}

fn reply(
    cosmos: &Cosmos,
    request: &Request,
    status: StatusCode,
    container: &Container,
    lsn: Lsn,
) -> Result<Reply, Failure> {
    let owner = format!("dbs/{}", container.database());
    let progress = index::progress(&*cosmos.store().snapshot(), container)?;
    Ok(Reply::new(status, Charge::metadata())
        .etag(container.etag())
        .header(header::ALT_CONTENT_PATH, percent::encode_uri(&owner))
        .header(header::CONTENT_PATH, container.rid().database.to_string())
        .header(header::INDEX_PROGRESS, progress.to_string())
        .header(header::SESSION_TOKEN, session::tokens(cosmos, container, container.ranges().leaves(), lsn))
        .value(&shown(request, container)))
}
