//! The devices of a user. What a device is reached by goes in and never comes out.

use super::{Within, shown, tagged};
use crate::asked::Asked;
use crate::problem::Problem;
use crate::reply::Reply;
use http::StatusCode;
use serde_json::{Value, json};

pub async fn list(within: &Within<'_>, asked: &Asked) -> Result<Reply, Problem> {
    let devices = within.notifications.devices(asked.named("user")).await?;
    let devices: Vec<Value> = devices.iter().map(|device| shown(&device.value)).collect();
    Ok(Reply::ok(json!({ "items": devices, "continuation": null })))
}

pub async fn register(within: &Within<'_>, asked: &Asked) -> Result<Reply, Problem> {
    let device = within.notifications.register(asked.named("user"), &asked.json()?).await?;
    Ok(Reply { status: StatusCode::CREATED, ..tagged(device) })
}

pub async fn patch(within: &Within<'_>, asked: &Asked) -> Result<Reply, Problem> {
    let (user, device, if_match) = (asked.named("user"), asked.named("device"), asked.if_match.as_deref());
    Ok(tagged(within.notifications.patch_device(user, device, &asked.json_if_any()?, if_match).await?))
}

pub async fn revoke(within: &Within<'_>, asked: &Asked) -> Result<Reply, Problem> {
    Ok(tagged(within.notifications.revoke(asked.named("user"), asked.named("device")).await?))
}
