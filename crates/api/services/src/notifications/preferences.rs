//! The settings of a user.

use super::{Within, tagged};
use crate::asked::Asked;
use crate::problem::Problem;
use crate::reply::Reply;

pub async fn show(within: &Within<'_>, asked: &Asked) -> Result<Reply, Problem> {
    Ok(tagged(within.notifications.preferences(asked.named("user")).await?))
}

pub async fn put(within: &Within<'_>, asked: &Asked) -> Result<Reply, Problem> {
    let (user, if_match) = (asked.named("user"), asked.if_match.as_deref());
    Ok(tagged(within.notifications.put_preferences(user, &asked.json()?, if_match).await?))
}

pub async fn patch(within: &Within<'_>, asked: &Asked) -> Result<Reply, Problem> {
    let (user, if_match) = (asked.named("user"), asked.if_match.as_deref());
    Ok(tagged(within.notifications.patch_preferences(user, &asked.json()?, if_match).await?))
}
