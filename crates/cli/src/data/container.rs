//! A container for the data verbs: its definition, its items by id, by page and in bulk.

use super::location::Location;
use crate::client::{AccountFlags, Answer, Call, Remote, allowed, bulk, elements, not_understood};
use crate::limits;
use bytes::Bytes;
use http::Method;
use orrery_protocol::ascii_json;
use orrery_value::{Value, raw};
use serde_json::{Value as Json, json};
use std::sync::Arc;

/// An account whose requests wait for throughput, and for nothing else.
pub async fn connect(flags: &AccountFlags) -> Result<Arc<Remote>, String> {
    let env = orrery_core::Env::system().map_err(|error| error.to_string())?;
    Remote::at_once(flags.account()?, env).await.map(Arc::new)
}

/// Variant for long work, which also waits for an unreachable server.
pub async fn connect_for_long(flags: &AccountFlags) -> Result<Arc<Remote>, String> {
    Remote::open(flags.account()?).await.map(Arc::new)
}

pub struct Container {
    remote: Arc<Remote>,
    pub database: String,
    pub name: String,
    /// The member names along each partition key path.
    key_paths: Vec<Vec<String>>,
}

/// An item's id and the partition that it lies in, as the header spells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemAddress {
    pub id: String,
    pub partition_key: String,
}

impl Container {
    pub async fn open(remote: &Arc<Remote>, database: &str, name: &str) -> Result<Self, String> {
        let answer = remote.call(&Call::get(&["dbs", database, "colls", name])).await?;
        if answer.status == 404 {
            return Err(format!(
                "there is no container {database}/{name}; orrery ls {database} lists those that are there"
            ));
        }
        Ok(Self {
            remote: remote.clone(),
            database: database.to_owned(),
            name: name.to_owned(),
            key_paths: key_paths(&answer.json()?)?,
        })
    }

    /// The text of the partition key header for an item: an empty object for each missing part.
    pub fn partition_key_of(&self, item: &str) -> String {
        let part = |path: &Vec<String>| raw::at_path(item, path).unwrap_or("{}").trim();
        let parts: Vec<&str> = self.key_paths.iter().map(part).collect();
        ascii_json(&format!("[{}]", parts.join(",")))
    }

    /// Finds the only item with an id, in all partitions unless one is given.
    pub async fn find(&self, id: &str, partition_key: Option<&str>) -> Result<Bytes, String> {
        if let Some(partition_key) = partition_key {
            let address = ItemAddress { id: id.to_owned(), partition_key: partition_key.to_owned() };
            let answer = self.remote.call(&self.on_item(Method::GET, &address)).await?;
            if answer.status == 404 {
                return Err(self.no_item(id));
            }
            return allowed(answer, &[200]).map(|answer| answer.body);
        }
        let body = json!({"query": "SELECT * FROM c WHERE c.id = @id", "parameters": [{"name": "@id", "value": id}]});
        let mut found = self.query(&body).await?;
        match found.len() {
            0 => Err(self.no_item(id)),
            1 => Ok(found.remove(0).into()),
            count => {
                let keys: Vec<String> = found.iter().map(|item| self.partition_key_of(item)).collect();
                Err(format!(
                    "{count} partitions have an item '{id}'; say which with --partition-key: {}",
                    keys.join(" ")
                ))
            }
        }
    }

    fn no_item(&self, id: &str) -> String {
        format!("there is no item '{id}' in {}/{}", self.database, self.name)
    }

    /// All rows of a small query.
    async fn query(&self, body: &Json) -> Result<Vec<String>, String> {
        let (mut rows, mut continuation) = (Vec::new(), None);
        loop {
            let call = Call::query(&self.database, &self.name, body.to_string());
            let answer = self.remote.call(&call.after(continuation.take())).await?;
            let answer = allowed(answer, &[200])?;
            rows.extend(elements(&answer)?.into_iter().map(str::to_owned));
            continuation = answer.continuation();
            if continuation.is_none() {
                return Ok(rows);
            }
        }
    }

    /// One page of all items, and where the next one begins.
    pub async fn page(
        &self,
        continuation: Option<String>,
        items_max: usize,
    ) -> Result<(Vec<String>, Option<String>), String> {
        let call = Call::items(Method::GET, &self.database, &self.name)
            .header("x-ms-max-item-count", items_max.to_string())
            .after(continuation);
        let answer = allowed(self.remote.call(&call).await?, &[200])?;
        let items = elements(&answer)?.into_iter().map(str::to_owned).collect();
        Ok((items, answer.continuation()))
    }

    pub async fn count(&self) -> Result<u64, String> {
        let call = Call::new(Method::GET, &["dbs", &self.database, "colls", &self.name])
            .header("x-ms-documentdb-populatequotainfo", "True".to_owned());
        let answer = allowed(self.remote.call(&call).await?, &[200])?;
        let usage = answer.header("x-ms-resource-usage").unwrap_or_default();
        Ok(documents_count(usage).unwrap_or_default())
    }

    pub async fn upsert(&self, item: &str) -> Result<(), String> {
        allowed(self.write_one(Operation::Upsert, item).await?, &[200, 201]).map(drop)
    }

    async fn write_one(&self, operation: Operation, item: &str) -> Result<Answer, String> {
        let is_upsert = (operation == Operation::Upsert).then(|| "true".to_owned());
        let call = self
            .on_items()
            .partition(self.partition_key_of(item))
            .header_if("x-ms-documentdb-is-upsert", is_upsert)
            .body(item.to_owned());
        self.remote.call(&call).await
    }

    fn on_items(&self) -> Call {
        Call::items(Method::POST, &self.database, &self.name).header("prefer", "return=minimal")
    }

    pub async fn delete(&self, address: &ItemAddress) -> Result<(), String> {
        let answer = self.remote.call(&self.on_item(Method::DELETE, address)).await?;
        if answer.status == 404 {
            return Err(self.no_item(&address.id));
        }
        allowed(answer, &[204]).map(drop)
    }

    fn on_item(&self, verb: Method, address: &ItemAddress) -> Call {
        Call::item(verb, &self.database, &self.name, &address.id).partition(address.partition_key.clone())
    }

    /// Writes each item independently; returns their outcomes in order. A single item is sent as a request of its own,
    /// since a batch may be no larger than an item.
    pub async fn write_many(&self, operation: Operation, items: &[&str]) -> Result<Vec<Outcome>, String> {
        if let [item] = items {
            return Ok(vec![Outcome::of(&self.write_one(operation, item).await?)]);
        }
        let operations = items.iter().map(|item| {
            let key = Value::from(self.partition_key_of(item).as_str()).to_json();
            let verb = operation.name();
            format!("{{\"operationType\":\"{verb}\",\"partitionKey\":{key},\"resourceBody\":{item}}}")
        });
        let operations: Vec<String> = operations.collect();
        let answers = bulk(&self.remote, &self.database, &self.name, &operations).await?;
        Ok(answers.iter().map(Outcome::read).collect())
    }
}

/// What a write does with an existing item: replaces it, or is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    Upsert,
    Create,
}

impl Operation {
    fn name(self) -> &'static str {
        match self {
            Self::Upsert => "Upsert",
            Self::Create => "Create",
        }
    }
}

/// The outcome of one write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    pub status: u64,
    pub message: String,
    pub retry_after_ms: Option<u64>,
}

impl Outcome {
    /// Of a request of its own.
    fn of(answer: &Answer) -> Self {
        let message = if answer.status.is_success() { String::new() } else { answer.refusal() };
        Self { status: u64::from(answer.status.as_u16()), message, retry_after_ms: None }
    }

    /// Of one answer in a batch.
    fn read(answer: &Json) -> Self {
        let message = answer["message"].as_str().or(answer["resourceBody"]["message"].as_str());
        Self {
            status: answer["statusCode"].as_u64().unwrap_or_default(),
            message: message.unwrap_or_default().to_owned(),
            retry_after_ms: answer["retryAfterMilliseconds"].as_u64(),
        }
    }

    /// Why the write failed, for a person.
    pub fn sentence(&self) -> String {
        let message = self.message.split("\r\nActivityId:").next().unwrap_or_default();
        if message.is_empty() { format!("the server answers {}", self.status) } else { message.to_owned() }
    }

    /// Whether the error is transient.
    pub fn passes(&self) -> bool {
        matches!(self.status, 408 | 429 | 449 | 503)
    }
}

/// The names of the account's databases, or of a database's containers.
pub async fn names(remote: &Remote, location: &Location) -> Result<Vec<Json>, String> {
    let (path, member): (Vec<&str>, &str) = match location {
        Location::Account => (vec!["dbs"], "Databases"),
        Location::Database { database } => (vec!["dbs", database, "colls"], "DocumentCollections"),
        other => return Err(format!("'{other}' has no list of names")),
    };
    let found = remote.list(&path, member).await?;
    let found = found.map_err(|refused| match refused.status.as_u16() {
        404 => format!("there is no database {location}; orrery ls lists those that are there"),
        _ => refused.refusal(),
    })?;
    Ok(found.into_iter().map(Json::Object).collect())
}

/// Creates the database and the container if missing.
pub async fn create(remote: &Remote, database: &str, container: &str, path: &str) -> Result<(), String> {
    let paths: Vec<&str> = path.split(',').map(str::trim).collect();
    let kind = if paths.len() == 1 { "Hash" } else { "MultiHash" };
    let call = Call::new(Method::POST, &["dbs"]).body(json!({"id": database}).to_string());
    allowed(remote.call(&call).await?, &[201, 409])?;
    let definition = json!({"id": container, "partitionKey": {"paths": paths, "kind": kind, "version": 2}});
    let call = Call::new(Method::POST, &["dbs", database, "colls"]).body(definition.to_string());
    allowed(remote.call(&call).await?, &[201, 409]).map(drop)
}

/// `functions=0;…;documentsCount=12;…`
fn documents_count(usage: &str) -> Option<u64> {
    usage.split(';').find_map(|part| part.strip_prefix("documentsCount=")).and_then(|n| n.parse().ok())
}

fn key_paths(definition: &Json) -> Result<Vec<Vec<String>>, String> {
    let paths = definition["partitionKey"]["paths"].as_array().ok_or_else(not_understood)?;
    let path = |path: &Json| {
        let names = orrery_documents::definition::PropertyPath::parse(path.as_str().unwrap_or_default());
        names.map(|path| path.segments().to_vec()).map_err(|_| not_understood())
    };
    paths.iter().map(path).collect()
}

/// Items a page of a listing or an export asks for.
pub const PAGE_ITEMS: usize = limits::MIGRATION_PAGE_ITEMS_MAX;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_items_is_read_from_the_usage_header() {
        assert_eq!(documents_count("functions=0;documentsCount=12;collectionSize=3"), Some(12));
        assert_eq!(documents_count("functions=0"), None);
    }

    #[test]
    fn a_write_that_failed_for_now_is_tried_again() {
        let read = |status: u64| Outcome::read(&json!({"statusCode": status, "retryAfterMilliseconds": 5}));
        assert!(read(429).passes() && !read(400).passes() && !read(201).passes());
        assert_eq!(read(429).retry_after_ms, Some(5));
    }
}
