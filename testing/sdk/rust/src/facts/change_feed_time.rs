//! The change feed over time, on a server whose clock moves only when told to.

use super::change_feed::{changes, fill, ids, options};
use super::{Outcome, facts};
use crate::check::refused;
use crate::cosmos::Cosmos;
use azure_data_cosmos::FeedScope;
use azure_data_cosmos::options::{ChangeFeedMode, ChangeFeedStartFrom};

const DAY: u64 = 24 * 60 * 60;

facts! { Manual:
    "change_feed.retention" => a_continuation_older_than_the_retention_is_refused,
}

async fn a_continuation_older_than_the_retention_is_refused(cosmos: Cosmos) -> Outcome {
    let container = cosmos.container().await?;
    let everything = FeedScope::full_container;
    let all = || options().with_mode(ChangeFeedMode::AllVersionsAndDeletes);
    let now = || ChangeFeedStartFrom::Now;
    let (_, token) = changes(&container, everything(), now(), all(), 1).await?;
    fill(&container, 0..1).await?;
    cosmos.server.advance(6 * DAY)?;
    let resumed = || all().with_continuation_token(token.clone());
    assert_eq!(ids(&changes(&container, everything(), now(), resumed(), 1).await?.0), ["i00"]);
    cosmos.server.advance(2 * DAY)?;
    assert_eq!(refused(changes(&container, everything(), now(), resumed(), 1).await), 400);
    let latest = changes(&container, everything(), ChangeFeedStartFrom::Beginning, options(), 1).await?;
    assert_eq!(ids(&latest.0), ["i00"]);
    Ok(())
}
