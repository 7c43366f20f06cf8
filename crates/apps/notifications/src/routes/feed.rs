//! The live feed of a user's in-app centre: an entry as it is now whenever it is new, grown, read or dismissed.

use super::visible;
use crate::service::{Notifications, ServiceError};
use orrery_kit::service::{BoxFuture, Feed, FeedPage, LiveFeed};
use tokio::sync::watch;

struct CentreFeed {
    service: Notifications,
    user: String,
    signal: watch::Receiver<u64>,
}

/// From the cursor on, or from now.
pub async fn live_feed(
    service: &Notifications,
    user: &str,
    cursor: Option<&str>,
) -> Result<LiveFeed, ServiceError> {
    // Before the cursor is read, so that no change falls between the two.
    let signal = service.watch(user);
    let cursor = match cursor {
        Some(cursor) => cursor.to_owned(),
        None => service.now_cursor(user).await?,
    };
    let feed = CentreFeed { service: service.clone(), user: user.to_owned(), signal };
    Ok(LiveFeed { event: "notification", cursor, feed: Box::new(feed) })
}

impl Feed for CentreFeed {
    fn page<'a>(&'a mut self, cursor: &'a str) -> BoxFuture<'a, Result<FeedPage, ServiceError>> {
        Box::pin(async move {
            let page = self.service.changes(&self.user, Some(cursor)).await?;
            let items = page.items.into_iter().map(visible).collect();
            Ok(FeedPage { items, cursor: page.cursor, has_more: page.has_more })
        })
    }

    fn changed(&mut self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            // The sender lives as long as the service, which this feed holds.
            drop(self.signal.changed().await);
        })
    }
}
