//! Named queries: found by blueprint and name, filled in, and asked of a server.

use super::files;
use crate::client::{Account, Call};
use http::StatusCode;
use orrery_blueprint::{Blueprint, NamedQuery, Variables};
use orrery_core::Timestamp;
use orrery_protocol::ascii_json;
use percent_encoding::percent_decode_str;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A named query with its values.
pub struct Named {
    pub database: String,
    pub container: String,
    pub sql: String,
    /// By name, with its `@`.
    pub parameters: Vec<(String, Value)>,
    /// An array in ASCII, as the header has it.
    pub partition_key: Option<String>,
}

impl Named {
    pub fn new(
        blueprint: &Blueprint,
        query: &NamedQuery,
        given: &BTreeMap<String, String>,
    ) -> Result<Self, String> {
        let bound = query.bind(given).map_err(|error| error.to_string())?;
        let key = (!bound.partition_key.is_empty())
            .then(|| ascii_json(&Value::Array(bound.partition_key).to_string()));
        Ok(Self {
            database: blueprint.database_name().to_owned(),
            container: query.container.clone(),
            sql: bound.sql,
            parameters: bound.parameters,
            partition_key: key,
        })
    }
}

/// The query of a blueprint that is built in or in a file, for the command line.
pub fn find_query(word: &str, name: &str, given: &[(String, String)]) -> Result<Named, String> {
    let found = files::blueprints(&[word.to_owned()], &Variables::default())?;
    let [blueprint] = found.as_slice() else {
        return Err(format!("'{word}' is more than one blueprint; name one"));
    };
    let query = blueprint.query(name).ok_or_else(|| blueprint.unknown_query(name))?;
    Named::new(blueprint, query, &given.iter().cloned().collect())
}

/// One page.
pub struct Page<'p> {
    pub continuation: Option<&'p str>,
    pub rows_max: Option<&'p str>,
}

/// Rows, charge, use of indexes and where to go on; or the status and the sentence of the refusal.
pub async fn ask(
    account: &Account,
    now: Timestamp,
    named: &Named,
    page: &Page<'_>,
) -> Result<Value, (StatusCode, String)> {
    let unreachable = |sentence: String| (StatusCode::SERVICE_UNAVAILABLE, sentence);
    let parameters = named.parameters.iter().map(|(name, value)| json!({"name": name, "value": value}));
    let body = json!({"query": named.sql, "parameters": parameters.collect::<Vec<_>>()}).to_string();
    let call = Call::query(&named.database, &named.container, body)
        .header("x-ms-cosmos-populateindexmetrics-v2", "True".to_owned())
        .header_if("x-ms-documentdb-partitionkey", named.partition_key.clone())
        .after(page.continuation.map(str::to_owned))
        .header_if("x-ms-max-item-count", page.rows_max.map(str::to_owned));
    let request = call.request(account, now).map_err(|sentence| (StatusCode::BAD_REQUEST, sentence))?;
    let connection = account.connect().await.map_err(unreachable)?;
    let answer = connection.exchange(request).await.map_err(unreachable)?;
    if !answer.status.is_success() {
        return Err((answer.status, answer.refusal()));
    }
    let mut body: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    let charge = answer.header("x-ms-request-charge").map(|_| answer.charge());
    Ok(json!({
        "count": body["_count"].take(),
        "rows": body["Documents"].take(),
        "charge": charge,
        "index": answer.header("x-ms-cosmos-index-utilization").map(index_use),
        "continuation": answer.continuation(),
    }))
}

/// The index metrics of a reply, in fewer words: single paths, and composite ones as lists of their parts.
pub fn index_use(header: &str) -> Value {
    let text = percent_decode_str(header).decode_utf8_lossy();
    let metrics: Value = serde_json::from_str(&text).unwrap_or_default();
    let list = |side: &str, kind: &str, member: &str| -> Value {
        let entries = metrics[side][kind].as_array().into_iter().flatten();
        entries.map(|entry| entry[member].clone()).collect()
    };
    let side = |side: &str| json!({"single": list(side, "SingleIndexes", "IndexSpec"), "composite": list(side, "CompositeIndexes", "IndexSpecs")});
    json!({"utilized": side("Utilized"), "potential": side("Potential")})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn index_metrics_are_told_in_fewer_words() {
        let header = "%7B%22Utilized%22%3A%7B%22SingleIndexes%22%3A%5B%7B%22IndexSpec%22%3A%22%2Fa%2F%3F%22%7D%5D%2C\
                      %22CompositeIndexes%22%3A%5B%7B%22IndexSpecs%22%3A%5B%22%2Fa%20ASC%22%5D%7D%5D%7D%7D";
        let expected = json!({
            "utilized": {"single": ["/a/?"], "composite": [["/a ASC"]]},
            "potential": {"single": [], "composite": []},
        });
        assert_eq!(index_use(header), expected);
    }
}
