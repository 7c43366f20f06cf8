//! How long the all-versions change feed looks back.

use super::error::{Parsed, invalid};
use super::members::Members;
use orrery_core::limits;
use serde_json::{Map, Value, json};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChangeFeedPolicy {
    /// 0 turns the all-versions mode off.
    pub retention_minutes: u32,
}

pub(super) fn parse(raw: Value) -> Parsed<ChangeFeedPolicy> {
    let mut members = Members::of("changeFeedPolicy", raw)?;
    let minutes = members.integer("retentionDuration")?.unwrap_or(0);
    let minutes_max = limits::CHANGE_FEED_RETENTION_MINUTES_MAX;
    let within = (0..=minutes_max).contains(&minutes).then(|| u32::try_from(minutes).ok()).flatten();
    let retention_minutes = within.ok_or_else(|| {
        invalid(format!(
            "The retentionDuration {minutes} of the changeFeedPolicy is invalid. Give minutes from 0 to \
             {minutes_max}."
        ))
    })?;
    let shown = Map::from_iter([("retentionDuration".to_owned(), json!(minutes))]);
    Ok((ChangeFeedPolicy { retention_minutes }, members.followed_by_rest(shown)))
}
