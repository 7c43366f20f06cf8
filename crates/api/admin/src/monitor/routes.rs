//! `/metrics`, `/v1/alerts`, `/v1/top` and `/v1/cost` of the services port.
//!
//! They show partition keys and texts of queries, so they are for administrators (`caller`); a scraper sends a read-only key.

use super::{Watch, prometheus};
use crate::Said;
use orrery_api_common::problem::{Kind, Problem};
use serde_json::json;

pub fn has(path: &str) -> bool {
    ["/metrics", "/v1/alerts", "/v1/top", "/v1/cost"].contains(&path)
}

pub async fn answer(watch: &Watch, path: &str, query: Option<&str>) -> Result<Said, Problem> {
    let (watch, path) = (watch.clone(), path.to_owned());
    let month = query.unwrap_or_default().split('&').find_map(|pair| pair.strip_prefix("month="));
    let month = month.map(str::to_owned);
    // A sample may write and read many rows.
    let work = move || match path.as_str() {
        "/metrics" => {
            let text = prometheus::write(&watch.families(true));
            Ok(Said::Text { kind: prometheus::CONTENT_TYPE, text })
        }
        "/v1/alerts" => Ok(Said::Json(json!({ "now_ms": watch.now().millis(), "alerts": watch.alerts() }))),
        "/v1/top" => shown(&watch.top()),
        _ => shown(&watch.cost(month.as_deref())?),
    };
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| Err(broken(error.to_string())))
}

fn shown(value: &impl serde::Serialize) -> Result<Said, Problem> {
    serde_json::to_value(value).map(Said::Json).map_err(|error| broken(error.to_string()))
}

fn broken(why: String) -> Problem {
    Problem::new(Kind::Broken, why)
}
