//! A database of a server: its containers, items one by one or in bulk, and pages of them.

use super::{Answer, Call, Merged, Remote, allowed, bulk, elements, is_left_to_client, not_understood};
use crate::limits;
use bytes::Bytes;
use http::Method;
use orrery_client::Range;
use orrery_migration::{Container, ItemKey, Path};
use orrery_value::{Value, utf8};
use serde_json::{Value as Json, json};
use std::time::Duration;

/// One database of the server.
#[derive(Clone, Copy)]
pub struct Database<'a> {
    pub remote: &'a Remote,
    pub name: &'a str,
}

/// An item as it is stored, and the tag of that version.
#[derive(Clone, Debug)]
pub struct Stored {
    pub item: Value,
    pub etag: String,
}

/// What became of a write that had a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Written {
    Done,
    /// The item is not as it was, or there is one, or there is none.
    Changed,
    /// The container does not take such an item.
    Refused(String),
}

impl Database<'_> {
    pub async fn make(&self) -> Result<(), String> {
        let call = Call::new(Method::POST, &["dbs"]).body(json!({"id": self.name}).to_string());
        allowed(self.remote.call(&call).await?, &[201, 409]).map(drop)
    }

    /// Drops it, if it is there.
    pub async fn drop_all(&self) -> Result<(), String> {
        let call = Call::new(Method::DELETE, &["dbs", self.name]);
        allowed(self.remote.call(&call).await?, &[204, 404]).map(drop)
    }

    /// Makes the container if it is not there; one that is there must have the same partition key.
    pub async fn make_container(&self, container: &Container) -> Result<(), String> {
        let call =
            Call::new(Method::POST, &["dbs", self.name, "colls"]).body(container.definition.to_string());
        if allowed(self.remote.call(&call).await?, &[201, 409])?.status == 201 {
            return Ok(());
        }
        let found = self.definition(&container.name).await?.unwrap_or_default();
        let paths = found["partitionKey"]["paths"].as_array().cloned().unwrap_or_default();
        let paths: Option<Vec<Path>> = paths.iter().map(|path| Path::parse(path.as_str()?).ok()).collect();
        if paths.as_ref() != Some(&container.key) {
            return Err(format!(
                "the container '{}' of '{}' is there with another partition key; migrate to a container of another name",
                container.name, self.name
            ));
        }
        Ok(())
    }

    pub async fn definition(&self, container: &str) -> Result<Option<Json>, String> {
        let call = Call::get(&["dbs", self.name, "colls", container]);
        let answer = allowed(self.remote.call(&call).await?, &[200, 404])?;
        Ok((answer.status == 200).then(|| serde_json::from_slice(&answer.body).unwrap_or_default()))
    }

    pub async fn drop_container(&self, container: &str) -> Result<(), String> {
        let call = Call::new(Method::DELETE, &["dbs", self.name, "colls", container]);
        allowed(self.remote.call(&call).await?, &[204, 404]).map(drop)
    }

    /// The ranges of a container: the id of each, and those of the ranges that it was part of.
    pub async fn ranges(&self, container: &str) -> Result<Vec<(String, Vec<String>)>, String> {
        let answer = allowed(self.remote.call(&Call::ranges(self.name, container)).await?, &[200])?;
        let ranges = Range::read(&answer).map_err(|_| not_understood())?;
        Ok(ranges.into_iter().map(|range| (range.id, range.parents)).collect())
    }

    pub async fn count(&self, container: &str) -> Result<u64, String> {
        let rows = self.query(container, None, json!({"query": "SELECT VALUE COUNT(1) FROM c"})).await?;
        let number = |row: &Value| row.to_json().parse::<f64>().ok();
        Ok(rows.iter().filter_map(number).sum::<f64>() as u64)
    }

    pub async fn read(&self, key: &ItemKey) -> Result<Option<Stored>, String> {
        let Some(body) = self.fetch(key).await? else { return Ok(None) };
        let text = utf8(&body).map_err(|_| not_understood())?;
        stored(Value::parse(text).map_err(|_| not_understood())?).map(Some)
    }

    /// The item as it came.
    pub async fn fetch(&self, key: &ItemKey) -> Result<Option<Bytes>, String> {
        let answer = self.remote.call(&self.on_item(Method::GET, key)).await?;
        let answer = allowed(answer, &[200, 404])?;
        Ok((answer.status == 200).then_some(answer.body))
    }

    pub async fn create(&self, key: &ItemKey, item: &Value) -> Result<Written, String> {
        let call = self.on_items(Method::POST, &key.container);
        self.write(call.partition(key.partition.clone()).body(item.to_json())).await
    }

    pub async fn upsert(&self, key: &ItemKey, item: &Value) -> Result<Written, String> {
        self.upsert_text(key, item.to_json().into()).await
    }

    pub async fn upsert_text(&self, key: &ItemKey, body: Bytes) -> Result<Written, String> {
        let call = self.on_items(Method::POST, &key.container);
        let call = call.partition(key.partition.clone());
        self.write(call.header("x-ms-documentdb-is-upsert", "true".to_owned()).body(body)).await
    }

    pub async fn replace(&self, key: &ItemKey, item: &Value, etag: &str) -> Result<Written, String> {
        let call = self.on_item(Method::PUT, key).header("if-match", etag.to_owned());
        self.write(call.body(item.to_json())).await
    }

    pub async fn delete(&self, key: &ItemKey, etag: &str) -> Result<Written, String> {
        self.write(self.on_item(Method::DELETE, key).header("if-match", etag.to_owned())).await
    }

    async fn write(&self, call: Call) -> Result<Written, String> {
        let call = call.header("prefer", "return=minimal".to_owned());
        let answer = allowed(self.remote.call(&call).await?, &[200, 201, 204, 400, 404, 409, 412, 413])?;
        Ok(match answer.status.as_u16() {
            400 | 413 => Written::Refused(answer.refusal()),
            404 | 409 | 412 => Written::Changed,
            _ => Written::Done,
        })
    }

    /// Creates items of one container, each for itself; says which are there now because of this. The others may be
    /// there already, or cannot be: to be looked at one by one.
    pub async fn create_many(
        &self,
        container: &str,
        items: &[(ItemKey, Value)],
    ) -> Result<Vec<bool>, String> {
        let mut is_made = vec![false; items.len()];
        let mut open: Vec<usize> = (0..items.len()).collect();
        for _ in 0..limits::MIGRATION_TRIES_MAX {
            let operations = open.iter().map(|at| {
                let (key, item) = &items[*at];
                let partition = Value::from(key.partition.as_str()).to_json();
                format!(
                    "{{\"operationType\":\"Create\",\"partitionKey\":{partition},\"resourceBody\":{}}}",
                    item.to_json()
                )
            });
            let operations: Vec<String> = operations.collect();
            let answers = bulk(self.remote, self.name, container, &operations).await?;
            let wait = answers.iter().filter_map(|one| one["retryAfterMilliseconds"].as_u64()).max();
            let wait = Duration::from_millis(wait.unwrap_or(10).max(1));
            let statuses = answers.iter().map(|one| one["statusCode"].as_u64().unwrap_or_default());
            let of = open.iter().copied().zip(statuses);
            let (late, ended): (Vec<_>, Vec<_>) =
                of.partition(|(_, status)| matches!(status, 429 | 449 | 408));
            ended.iter().for_each(|(at, status)| is_made[*at] = *status == 201);
            open = late.into_iter().map(|(at, _)| at).collect();
            if open.is_empty() {
                break;
            }
            tokio::time::sleep(wait).await;
        }
        Ok(is_made)
    }

    /// Rows of all pages.
    pub async fn query(
        &self,
        container: &str,
        partition: Option<&str>,
        body: Json,
    ) -> Result<Vec<Value>, String> {
        let body = body.to_string();
        let (mut rows, mut continuation) = (Vec::new(), None);
        loop {
            let call = self.on_query(container, partition, limits::MIGRATION_PAGE_ITEMS_MAX, &body);
            let answer = self.remote.call(&call.after(continuation.take())).await?;
            if is_left_to_client(&answer) {
                return self.merged(container, body.into()).await;
            }
            let answer = allowed(answer, &[200])?;
            rows.extend(documents(&answer)?);
            if rows.len() > limits::MIGRATION_CHILDREN_MAX {
                return Err(too_many());
            }
            continuation = answer.continuation();
            if continuation.is_none() {
                return Ok(rows);
            }
        }
    }

    /// Rows of all ranges, merged here.
    async fn merged(&self, container: &str, body: Bytes) -> Result<Vec<Value>, String> {
        let mut merged = Merged::begin(self.remote, self.name, container, &body).await?;
        let mut rows = Vec::new();
        while let Some(row) = merged.next().await? {
            rows.push(row);
            if rows.len() > limits::MIGRATION_CHILDREN_MAX {
                return Err(too_many());
            }
        }
        Ok(rows)
    }

    /// How many rows the first page has.
    pub async fn ask(
        &self,
        container: &str,
        partition: Option<&str>,
        body: &str,
        rows_max: usize,
    ) -> Result<usize, String> {
        let answer = self.remote.call(&self.on_query(container, partition, rows_max, body)).await?;
        if is_left_to_client(&answer) {
            let rows = self.merged(container, body.to_owned().into()).await?;
            return Ok(rows.len().min(rows_max));
        }
        elements(&allowed(answer, &[200])?).map(|rows| rows.len())
    }

    fn on_query(&self, container: &str, partition: Option<&str>, rows_max: usize, body: &str) -> Call {
        Call::query(self.name, container, body.to_owned())
            .header("x-ms-max-item-count", rows_max.to_string())
            .header_if("x-ms-documentdb-partitionkey", partition.map(str::to_owned))
    }

    /// All items of a container, page by page.
    pub fn pages<'p>(&'p self, container: &'p str) -> Pages<'p> {
        Pages { database: self, container, next: Next::First }
    }

    pub fn on_items(&self, verb: Method, container: &str) -> Call {
        Call::items(verb, self.name, container)
    }

    pub fn on_item(&self, verb: Method, key: &ItemKey) -> Call {
        Call::item(verb, self.name, &key.container, &key.id).partition(key.partition.clone())
    }
}

pub struct Pages<'a> {
    database: &'a Database<'a>,
    container: &'a str,
    next: Next,
}

enum Next {
    First,
    After(String),
    Nothing,
}

impl Pages<'_> {
    pub async fn next(&mut self) -> Result<Option<Vec<Value>>, String> {
        let mut call = self.database.on_items(Method::GET, self.container);
        call.headers.push(("x-ms-max-item-count", limits::MIGRATION_PAGE_ITEMS_MAX.to_string()));
        match &self.next {
            Next::First => {}
            Next::After(token) => call.headers.push(("x-ms-continuation", token.clone())),
            Next::Nothing => return Ok(None),
        }
        let answer = allowed(self.database.remote.call(&call).await?, &[200])?;
        self.next = answer.continuation().map_or(Next::Nothing, Next::After);
        documents(&answer).map(Some)
    }
}

fn too_many() -> String {
    format!("an item has more than {} parts", limits::MIGRATION_CHILDREN_MAX)
}

pub fn stored(item: Value) -> Result<Stored, String> {
    match item.member("_etag") {
        Value::String(etag) => Ok(Stored { etag: etag.clone(), item }),
        _ => Err(not_understood()),
    }
}

fn documents(answer: &Answer) -> Result<Vec<Value>, String> {
    elements(answer)?.into_iter().map(|text| Value::parse(text).map_err(|_| not_understood())).collect()
}
