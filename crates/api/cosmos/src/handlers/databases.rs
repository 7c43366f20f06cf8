//! Databases: create, read, list, query by member, delete.

use super::{database, list_reply};
use crate::encode;
use crate::failure::Failure;
use crate::query::resources;
use crate::reply::Reply;
use crate::request::{Post, Request};
use crate::service::Cosmos;
use http::StatusCode;
use orrery_core::DatabaseName;
use orrery_documents::catalog::Database;
use orrery_documents::charge::Charge;
use serde_json::Value;

pub fn list(cosmos: &Cosmos, _request: &Request) -> Result<Reply, Failure> {
    let databases = all(cosmos);
    let count = databases.len();
    Ok(list_reply(&encode::feed("", "Databases", databases), count))
}

pub async fn post(cosmos: &Cosmos, request: &mut Request) -> Result<Reply, Failure> {
    match request.post() {
        Post::Query => {
            let databases = all(cosmos);
            resources::query(cosmos, request, "", "Databases", databases).await
        }
        Post::Create => create(cosmos, request).await,
        Post::QueryPlan | Post::Batch | Post::Upsert => Err(Failure::method_not_allowed()),
    }
}

fn all(cosmos: &Cosmos) -> Vec<Value> {
    cosmos.store().catalog().databases().map(|database| encode::database(database)).collect()
}

async fn create(cosmos: &Cosmos, request: &mut Request) -> Result<Reply, Failure> {
    let body = request.json_object().await?;
    let id = body.get("id").and_then(Value::as_str);
    let id = id.ok_or_else(|| {
        Failure::bad_request(
            "The input content is invalid because the required properties - 'id; ' - are missing",
        )
    })?;
    let name = DatabaseName::parse(id)?;
    let throughput = request.throughput()?;
    if throughput.is_some() && cosmos.store().is_serverless() {
        return Err(serverless("database"));
    }
    let created = cosmos.store().create_database(name, throughput).await?;
    Ok(reply(StatusCode::CREATED, &created))
}

pub fn read(cosmos: &Cosmos, _request: &Request, name: &str) -> Result<Reply, Failure> {
    Ok(reply(StatusCode::OK, &*database(cosmos, name)?))
}

pub async fn delete(cosmos: &Cosmos, request: &Request, name: &str) -> Result<Reply, Failure> {
    let name = database(cosmos, name)?.name.clone();
    cosmos.store().delete_database(name, request.preconditions()).await?;
    Ok(Reply::new(StatusCode::NO_CONTENT, Charge::metadata()))
}

/// The refusal of throughput in a serverless account.
pub(super) fn serverless(resource: &str) -> Failure {
    Failure::bad_request(format!(
        "Setting offer throughput or autopilot on {resource} is not supported for serverless accounts."
    ))
}

fn reply(status: StatusCode, database: &Database) -> Reply {
    Reply::new(status, Charge::metadata()).etag(database.etag).value(&encode::database(database))
}
