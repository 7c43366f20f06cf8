//! Tables and their entities.
//!
//! ```text
//! entity       entities as they are sent and found, writes, queries, pages
//! json         entities as JSON, and back
//! batch        several writes of one partition in one request
//! ```

mod batch;
mod entity;
mod json;

pub use entity::{
    Continuation, Entity, EntityPage, EntityQuery, EntityWrite, FoundEntity, TableList, TableListQuery,
};
pub use json::{parse_entity, print_entity};
pub use orrery_tables::{DateTime, EdmType, Guid, Ticks, Value};

use super::call::{Call, Repeat};
use super::endpoint::Endpoint;
use super::error::{Refusal, StorageError};
use crate::answer::Answer;
use crate::call::segment;
use http::Method;
use http::header::{ACCEPT, ETAG, IF_MATCH};
use orrery_value::raw;

const JSON: &str = "application/json";
const MINIMAL: &str = "application/json;odata=minimalmetadata";

/// The tables of an account. A cheap handle.
///
/// The versions of entities are opaque texts: `*` stands for any.
#[derive(Clone)]
pub struct Tables(Endpoint);

impl Tables {
    pub fn new(endpoint: Endpoint) -> Self {
        Self(endpoint)
    }

    pub fn endpoint(&self) -> &Endpoint {
        &self.0
    }

    pub async fn create(&self, table: &str) -> Result<(), StorageError> {
        let mut body = b"{\"TableName\":".to_vec();
        raw::escape_into(table, &mut body);
        body.push(b'}');
        let call = write(Method::POST, "/Tables").header("prefer", "return-no-content").body(JSON, body);
        self.0.send(&call.repeat(Repeat::Safe)).await.map(drop)
    }

    pub async fn delete(&self, table: &str) -> Result<(), StorageError> {
        let call = write(Method::DELETE, format!("/Tables({})", quoted(table)));
        self.0.send(&call).await.map(drop)
    }

    pub async fn list(&self, query: &TableListQuery) -> Result<TableList, StorageError> {
        let call = read("/Tables")
            .parameter_if("$filter", query.filter.as_ref())
            .parameter_if("$top", query.top)
            .parameter_if("NextTableName", query.from.as_ref());
        let answer = self.0.send(&call).await?;
        let tables = json::table_names(&answer.body)?;
        Ok(TableList { tables, next: header(&answer, "x-ms-continuation-nexttablename") })
    }

    /// The entity of a key; all of its properties, or those that are named.
    pub async fn get(
        &self,
        table: &str,
        partition_key: &str,
        row_key: &str,
        select: &[String],
    ) -> Result<FoundEntity, StorageError> {
        let call = read(entity_path(table, partition_key, row_key));
        let call = call.parameter_if("$select", selected(select));
        let answer = self.0.send(&call).await?;
        let mut found = json::read_entity(&answer.body)?;
        found.etag = found.etag.or_else(|| header(&answer, ETAG.as_str()));
        Ok(found)
    }

    /// One page; it may be empty and go on.
    pub async fn query(&self, table: &str, query: &EntityQuery) -> Result<EntityPage, StorageError> {
        let from = query.from.as_ref();
        let call = read(format!("/{}()", segment(table)))
            .parameter_if("$filter", query.filter.as_ref())
            .parameter_if("$select", selected(&query.select))
            .parameter_if("$top", query.top)
            .parameter_if("NextPartitionKey", from.map(|from| &from.partition_key))
            .parameter_if("NextRowKey", from.and_then(|from| from.row_key.as_ref()));
        let answer = self.0.send(&call).await?;
        let next = header(&answer, "x-ms-continuation-nextpartitionkey").map(|partition_key| Continuation {
            partition_key,
            row_key: header(&answer, "x-ms-continuation-nextrowkey"),
        });
        Ok(EntityPage { entities: json::read_entities(&answer.body)?, next })
    }

    /// Gives the version that it made; none after a delete.
    pub async fn write(&self, table: &str, write: &EntityWrite) -> Result<Option<String>, StorageError> {
        let answer = self.0.send(&write_call(table, write)).await?;
        Ok(header(&answer, ETAG.as_str()))
    }

    /// All of the writes or none, in one partition; the version that each made. A refusal says which of them is to blame.
    pub async fn transact(
        &self,
        table: &str,
        writes: &[EntityWrite],
    ) -> Result<Vec<Option<String>>, StorageError> {
        if writes.is_empty() {
            return Ok(Vec::new());
        }
        let id = self.0.env().guid();
        let (content_type, body) = batch::write(&id, &self.0.url(), table, writes);
        let is_safe = writes.iter().any(|write| repeat(write) == Repeat::Safe);
        let call = write_of_batch(&content_type, body);
        let answer = self.0.send(&call.repeat(if is_safe { Repeat::Safe } else { Repeat::Unsafe })).await?;
        let content_type = answer.header("content-type").unwrap_or_default();
        let parts = batch::read(content_type, &answer.body)?;
        if let Some(refused) = parts.iter().find(|part| !(200..300).contains(&part.status)) {
            return Err(blamed(refused).into());
        }
        if parts.len() != writes.len() {
            let sentence = format!("{} parts answer {} writes", parts.len(), writes.len());
            return Err(StorageError::NotUnderstood(sentence));
        }
        Ok(parts.into_iter().map(|part| part.etag).collect())
    }
}

fn read(path: impl Into<String>) -> Call {
    Call::new(Method::GET, path).header(ACCEPT.as_str(), MINIMAL).header("dataserviceversion", "3.0;NetFx")
}

fn write(verb: Method, path: impl Into<String>) -> Call {
    Call::new(verb, path).header(ACCEPT.as_str(), MINIMAL).header("dataserviceversion", "3.0;NetFx")
}

fn write_of_batch(content_type: &str, body: Vec<u8>) -> Call {
    write(Method::POST, "/$batch").header("maxdataserviceversion", "3.0;NetFx").body(content_type, body)
}

/// What another run of a write would be refused as, because of the first, may be sent again.
fn repeat(write: &EntityWrite) -> Repeat {
    match write {
        EntityWrite::Insert(_) => Repeat::Safe,
        EntityWrite::Merge { if_match, .. }
        | EntityWrite::Replace { if_match, .. }
        | EntityWrite::Delete { if_match, .. }
            if if_match != "*" =>
        {
            Repeat::Safe
        }
        _ => Repeat::Unsafe,
    }
}

fn write_call(table: &str, write: &EntityWrite) -> Call {
    let (verb, path) = (verb(write), path_of(table, write));
    let mut call = self::write(verb, path).repeat(repeat(write));
    if let Some(if_match) = write.if_match() {
        call = call.header(IF_MATCH.as_str(), if_match);
    }
    match write.entity() {
        None => call,
        Some(entity) => call.header("prefer", "return-no-content").body(JSON, json::write_entity(entity)),
    }
}

fn verb(write: &EntityWrite) -> Method {
    match write {
        EntityWrite::Insert(_) => Method::POST,
        EntityWrite::InsertOrMerge(_) | EntityWrite::Merge { .. } => Method::PATCH,
        EntityWrite::InsertOrReplace(_) | EntityWrite::Replace { .. } => Method::PUT,
        EntityWrite::Delete { .. } => Method::DELETE,
    }
}

fn path_of(table: &str, write: &EntityWrite) -> String {
    match write {
        EntityWrite::Insert(_) => format!("/{}", segment(table)),
        _ => {
            let (partition_key, row_key) = write.key();
            entity_path(table, partition_key, row_key)
        }
    }
}

fn entity_path(table: &str, partition_key: &str, row_key: &str) -> String {
    format!("/{}(PartitionKey={},RowKey={})", segment(table), quoted(partition_key), quoted(row_key))
}

/// A text between quotes in a path, its own quotes doubled.
fn quoted(text: &str) -> String {
    format!("'{}'", segment(&text.replace('\'', "''")))
}

fn selected(names: &[String]) -> Option<String> {
    (!names.is_empty()).then(|| names.join(","))
}

fn header(answer: &Answer, name: &str) -> Option<String> {
    answer.header(name).map(str::to_owned)
}

/// The message of a transaction's refusal begins with the number of the write.
fn blamed(part: &batch::Part) -> Refusal {
    let refusal = Refusal::read(part.status, None, &part.body);
    let numbered =
        refusal.message.split_once(':').and_then(|(index, rest)| Some((index.parse().ok()?, rest)));
    match numbered {
        Some((index, rest)) => Refusal { index: Some(index), message: rest.to_owned(), ..refusal },
        None => refusal,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_quoted_once_and_encoded_once() {
        assert_eq!(entity_path("t", "o'clock/%", ""), "/t(PartitionKey='o%27%27clock%2F%25',RowKey='')");
    }

    #[test]
    fn what_would_be_refused_the_second_time_may_be_repeated() {
        let entity = Entity::new("p", "r");
        let if_match = |tag: &str| EntityWrite::Replace { entity: entity.clone(), if_match: tag.to_owned() };
        assert_eq!(repeat(&EntityWrite::Insert(entity.clone())), Repeat::Safe);
        assert_eq!(repeat(&if_match("W/\"1\"")), Repeat::Safe);
        assert_eq!(repeat(&if_match("*")), Repeat::Unsafe);
        assert_eq!(repeat(&EntityWrite::InsertOrReplace(entity.clone())), Repeat::Unsafe);
    }

    #[test]
    fn the_write_to_blame_is_told_by_its_number() {
        let body = br#"{"odata.error":{"code":"EntityAlreadyExists","message":{"lang":"en-US","value":"7:It exists.\nRequestId:1"}}}"#;
        let part = batch::Part { status: 409, etag: None, body: body.to_vec() };
        let refusal = blamed(&part);
        assert_eq!((refusal.index, refusal.message.as_str()), (Some(7), "It exists."));
    }
}
