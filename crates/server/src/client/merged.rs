//! A query over several partitions that the server leaves to its client: the plan, the ranges, and the rows merged.
//!
//! A server of ours merges itself, because [`Call::query`] asks for that; Azure does not.

use super::{Answer, Call, Remote, allowed, elements, header, not_understood};
use bytes::Bytes;
use orrery_query::plan::distributed::Distributed;
use orrery_query::plan::distributed::merge::{FEATURES, Merge, Next, is_left_to_client};
use orrery_value::{Value, utf8};
use serde_json::Value as Json;

/// Whether the server refuses a query because its ranges are to be merged here.
pub fn is_needed(answer: &Answer) -> bool {
    let substatus = header(answer, "x-ms-substatus").and_then(|text| text.parse().ok()).unwrap_or_default();
    is_left_to_client(answer.status.as_u16(), substatus, &answer.refusal())
}

pub struct Merged<'a> {
    remote: &'a Remote,
    database: &'a str,
    container: &'a str,
    /// The query and its parameters; a range gets another text.
    body: Value,
    ranges: Vec<String>,
    merge: Merge,
    pub pages: u64,
    /// Request units.
    pub charge: f64,
}

impl<'a> Merged<'a> {
    pub async fn begin(
        remote: &'a Remote,
        database: &'a str,
        container: &'a str,
        body: &Bytes,
    ) -> Result<Self, String> {
        let call = Call::new(http::Method::POST, &["dbs", database, "colls", container, "docs"])
            .header("content-type", "application/query+json".to_owned())
            .header("x-ms-cosmos-is-query-plan-request", "True".to_owned())
            .header("x-ms-cosmos-query-version", "1.4".to_owned())
            .header("x-ms-cosmos-supported-query-features", FEATURES.to_owned())
            .body(body.clone());
        let answer = allowed(remote.call(&call).await?, &[200])?;
        let (plan, wanted) = Distributed::read(&value(&answer.body)?).map_err(|error| error.to_string())?;
        let all = ranges(remote, database, container).await?;
        let is_wanted =
            |(_, min, max): &&(String, String, String)| wanted.iter().any(|it| it.overlaps(min, max));
        let mut found: Vec<String> = all.iter().filter(is_wanted).map(|(id, ..)| id.clone()).collect();
        if found.is_empty() {
            // Some range must say what there is of nothing.
            found.extend(all.first().map(|(id, ..)| id.clone()));
        }
        let body = value(body)?;
        let Value::String(text) = body.member("query") else { return Err(not_understood()) };
        let merge = Merge::new(&plan, text, found.len());
        Ok(Self {
            remote,
            database,
            container,
            ranges: found,
            merge,
            pages: 0,
            charge: charge(&answer),
            body,
        })
    }

    pub async fn next(&mut self) -> Result<Option<Value>, String> {
        loop {
            match self.merge.next().map_err(|error| error.to_string())? {
                Next::Row(row) => return Ok(Some(row)),
                Next::End => return Ok(None),
                Next::Fetch { range, text, continuation } => {
                    let (rows, next) = self.fetch(range, &text, continuation).await?;
                    self.merge.give(rows, next);
                }
            }
        }
    }

    async fn fetch(
        &mut self,
        range: usize,
        text: &str,
        continuation: Option<String>,
    ) -> Result<(Vec<Value>, Option<String>), String> {
        let parameters = self.body.member("parameters").clone();
        let body =
            Value::Object(vec![("query".to_owned(), text.into()), ("parameters".to_owned(), parameters)]);
        let call = Call::query(self.database, self.container, body.to_json())
            .header("x-ms-documentdb-partitionkeyrangeid", self.ranges[range].clone())
            .header_if("x-ms-continuation", continuation);
        let answer = self.remote.call(&call).await?;
        if answer.status.as_u16() == 410 {
            return Err("the container's partitions were split during the query; ask again".to_owned());
        }
        let answer = allowed(answer, &[200])?;
        self.pages += 1;
        self.charge += charge(&answer);
        let rows = elements(&answer)?.into_iter().map(|row| Value::parse(row).map_err(|_| not_understood()));
        Ok((rows.collect::<Result<_, _>>()?, header(&answer, "x-ms-continuation")))
    }
}

/// The ranges that were not split: id and bounds, in order.
async fn ranges(
    remote: &Remote,
    database: &str,
    container: &str,
) -> Result<Vec<(String, String, String)>, String> {
    let call = Call::get(&["dbs", database, "colls", container, "pkranges"]);
    let body = allowed(remote.call(&call).await?, &[200])?.json()?;
    let list = body["PartitionKeyRanges"].as_array().ok_or_else(not_understood)?;
    let text = |value: &Json| value.as_str().map(str::to_owned);
    let parents: Vec<&Json> = list.iter().filter_map(|range| range["parents"].as_array()).flatten().collect();
    let leaves = list.iter().filter(|range| !parents.contains(&&range["id"]));
    let read = |range: &Json| {
        Some((text(&range["id"])?, text(&range["minInclusive"])?, text(&range["maxExclusive"])?))
    };
    let mut ranges = leaves.map(read).collect::<Option<Vec<_>>>().ok_or_else(not_understood)?;
    ranges.sort_by(|a, b| a.1.cmp(&b.1));
    Ok(ranges)
}

fn value(body: &Bytes) -> Result<Value, String> {
    let text = utf8(body).map_err(|_| not_understood())?;
    Value::parse(text).map_err(|_| not_understood())
}

fn charge(answer: &Answer) -> f64 {
    header(answer, "x-ms-request-charge").and_then(|charge| charge.parse().ok()).unwrap_or_default()
}
