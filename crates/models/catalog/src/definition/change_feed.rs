//! Retention of the all-versions change feed, and whether it shows replaced versions.

use super::members::Members;
use super::members::{Parsed, invalid};
use crate::limits;
use serde_json::{Map, Value, json};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChangeFeedPolicy {
    /// 0 disables the all-versions mode.
    pub retention_minutes: u32,
    /// Whether a replace shows the previous version of the item. A delete always does.
    pub pre_images: bool,
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
    let pre_images = members.boolean("preImages")?;
    let mut shown = Map::from_iter([("retentionDuration".to_owned(), json!(minutes))]);
    shown.extend(pre_images.map(|value| ("preImages".to_owned(), json!(value))));
    let policy = ChangeFeedPolicy { retention_minutes, pre_images: pre_images.unwrap_or(false) };
    Ok((policy, members.followed_by_rest(shown)))
}
