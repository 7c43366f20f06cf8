//! Server-sent events: live changes of a service's feed.
//!
//! ```text
//! event: ready            where the stream begins, so that a client that hears nothing else can resume too
//! event: <the feed's>     a record as it is now
//! : still here            a comment now and then, so that no proxy between gives up
//! ```
//!
//! `id` is a cursor of the feed. A client that reconnects with `Last-Event-ID` continues after it, and gets the events
//! of an incomplete batch again. A record that changes twice between two pages is sent once, in its latest version.

use crate::body::ServiceBody;
use crate::{errors, limits};
use bytes::Bytes;
use orrery_api_common::Stop;
use orrery_api_common::problem::{Kind, Problem};
use orrery_kit::service::{Feed, FeedPage, LiveFeed, ServiceError};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::time::{Instant, sleep, sleep_until};

/// Pieces buffered for a slow reader; then the stream waits too.
const PIECES_MAX: usize = 16;
/// Changes by another server appear at the next poll.
const POLL_EVERY: Duration = Duration::from_secs(1);
const HEARTBEAT_EVERY: Duration = Duration::from_secs(limits::SERVICE_HEARTBEAT_SECONDS);

/// The streams of a server.
#[derive(Clone)]
pub struct Streams {
    room: Arc<Semaphore>,
    stop: Stop,
}

impl Streams {
    pub fn new(stop: Stop) -> Self {
        Self { room: Arc::new(Semaphore::new(limits::SERVICE_STREAMS_MAX)), stop }
    }

    pub async fn open(&self, live: LiveFeed) -> Result<ServiceBody, Problem> {
        let Ok(permit) = self.room.clone().try_acquire_owned() else {
            let detail =
                format!("{} streams are open, which is all that there are", limits::SERVICE_STREAMS_MAX);
            return Err(Problem::new(Kind::Unavailable, detail).after(HEARTBEAT_EVERY));
        };
        let LiveFeed { event, cursor, mut feed } = live;
        // The first page shows whether the cursor is valid, while the response can still refuse it.
        let first = feed.page(&cursor).await.map_err(errors::of_service)?;
        let (sender, receiver) = mpsc::channel(PIECES_MAX);
        let stream = Stream { event, feed, cursor, sender, _permit: permit };
        tokio::spawn(stream.run(self.stop.clone(), first));
        Ok(ServiceBody::Pieces(receiver))
    }
}

struct Stream {
    event: &'static str,
    feed: Box<dyn Feed>,
    cursor: String,
    sender: mpsc::Sender<Bytes>,
    _permit: OwnedSemaphorePermit,
}

impl Stream {
    /// Until the reader leaves or the server stops.
    async fn run(mut self, stop: Stop, first: FeedPage) {
        if !self.send(format!("retry: 2000\n{}", frame("ready", Some(&self.cursor), "{}"))).await {
            return;
        }
        if !self.tell(first).await || !self.poll().await {
            return;
        }
        let mut heartbeat = Instant::now() + HEARTBEAT_EVERY;
        loop {
            tokio::select! {
                () = stop.stopped() => return,
                () = self.sender.closed() => return,
                () = sleep_until(heartbeat) => {
                    heartbeat = Instant::now() + HEARTBEAT_EVERY;
                    if !self.send(": still here\n\n".to_owned()).await {
                        return;
                    }
                    continue;
                }
                () = self.feed.changed() => {}
                () = sleep(POLL_EVERY) => {}
            }
            if !self.poll().await {
                return;
            }
        }
    }

    /// Sends all available events. Returns whether to continue.
    async fn poll(&mut self) -> bool {
        loop {
            match self.feed.page(&self.cursor).await {
                Ok(page) => {
                    let has_more = page.has_more;
                    if !self.tell(page).await {
                        return false;
                    }
                    if !has_more {
                        return true;
                    }
                }
                // The store will recover, or the reader reconnects and gets the reason.
                Err(ServiceError::Busy { .. } | ServiceError::Unavailable(_)) => return true,
                Err(error) => {
                    tracing::warn!(%error, "a live stream ends");
                    return false;
                }
            }
        }
    }

    async fn tell(&mut self, page: FeedPage) -> bool {
        let last = page.items.len().saturating_sub(1);
        for (at, item) in page.items.into_iter().enumerate() {
            let id = (at == last).then_some(page.cursor.as_str());
            if !self.send(frame(self.event, id, &item.to_string())).await {
                return false;
            }
        }
        self.cursor = page.cursor;
        true
    }

    async fn send(&self, text: String) -> bool {
        self.sender.send(Bytes::from(text)).await.is_ok()
    }
}

/// JSON in one line needs no splitting.
fn frame(event: &str, id: Option<&str>, data: &str) -> String {
    let id = id.map(|id| format!("id: {id}\n")).unwrap_or_default();
    format!("{id}event: {event}\ndata: {data}\n\n")
}
