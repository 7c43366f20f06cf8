//! Erasure, statistics, jobs.

use super::Within;
use crate::asked::Asked;
use crate::problem::Problem;
use crate::reply::Reply;
use serde_json::{Value, json};
use std::time::Duration;

const DAY: Duration = Duration::from_secs(86_400);
const DAYS_DEFAULT: u64 = 90;
const DAYS_MAX: u64 = 36_500;

pub async fn erase(within: &Within<'_>, asked: &Asked) -> Result<Reply, Problem> {
    Ok(Reply::ok(within.notifications.erase(asked.named("user")).await?))
}

pub async fn stats(within: &Within<'_>, _: &Asked) -> Result<Reply, Problem> {
    Ok(Reply::ok(within.notifications.stats().await?))
}

pub async fn jobs(within: &Within<'_>, _: &Asked) -> Result<Reply, Problem> {
    Ok(Reply::ok(within.notifications.jobs().await?))
}

pub async fn purge_devices(within: &Within<'_>, asked: &Asked) -> Result<Reply, Problem> {
    let days = match asked.json_if_any()?.get("olderThanDays") {
        None | Some(Value::Null) => DAYS_DEFAULT,
        Some(given) => given.as_u64().filter(|days| *days <= DAYS_MAX).ok_or_else(|| {
            Problem::invalid("olderThanDays", format!("it is a number of days from 0 to {DAYS_MAX}"))
        })?,
    };
    let purged = within.notifications.purge_devices(DAY.saturating_mul(days as u32)).await?;
    Ok(Reply::ok(json!({ "purged": purged })))
}
