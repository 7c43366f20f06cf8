//! `/v1/advice`: what the server knows of a container and its use, or of tables and queues (`storage`); `orrery advise` makes
//! findings of it.
//!
//! It shows partition keys, ids and the texts of queries, so it is for administrators (`server`).

mod storage;

use crate::monitor::Watch;
use orrery_api_common::problem::{Kind, Problem};
use orrery_api_cosmos::{Cosmos, Failure};
use percent_encoding::percent_decode_str;
use serde_json::Value;

/// The report on what the query string names.
pub async fn of(cosmos: &Cosmos, watch: &Watch, query: Option<&str>) -> Result<Value, Problem> {
    let query = query.unwrap_or_default();
    match named(query, "service") {
        Some(service) => storage::of(watch, &service, query).await,
        None => of_container(cosmos, query).await,
    }
}

async fn of_container(cosmos: &Cosmos, query: &str) -> Result<Value, Problem> {
    let (Some(database), Some(container)) = (named(query, "database"), named(query, "container")) else {
        let sentence = "say which container, /v1/advice?database=D&container=C, or which service, \
            /v1/advice?service=table";
        return Err(Problem::new(Kind::Invalid, sentence));
    };
    let report = cosmos.store().usage_report(&database, &container).await.map_err(Failure::from)?;
    serde_json::to_value(report).map_err(|error| Problem::new(Kind::Broken, error.to_string()))
}

fn named(query: &str, name: &str) -> Option<String> {
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    let (_, value) = pairs.into_iter().find(|(known, _)| *known == name)?;
    percent_decode_str(value).decode_utf8().ok().map(|value| value.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_and_decoded() {
        let query = "database=my%20db&container=%C3%A9%26";
        assert_eq!(named(query, "database").as_deref(), Some("my db"));
        assert_eq!(named(query, "container").as_deref(), Some("é&"));
        assert_eq!(
            (named(query, "data"), named("", "database"), named("database", "database")),
            (None, None, None)
        );
        assert_eq!(named("database=%FF", "database"), None);
    }
}
