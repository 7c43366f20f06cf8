//! Server-sent events: what changes at a user's notifications, as it changes.
//!
//! ```text
//! event: ready            where the stream begins, so that who hears nothing else can resume too
//! event: notification     an entry as it is now: new, grown, read or dismissed
//! : still here            a comment now and then, which keeps what lies between from giving up
//! ```
//!
//! `id` is a place in the change feed. A client that comes back with `Last-Event-ID` goes on behind it; what it had got of
//! a batch without an id it gets again. An entry that changes twice between two looks is told once, as it is then.

use crate::body::ServiceBody;
use crate::notifications::visible;
use crate::problem::{Kind, Problem};
use bytes::Bytes;
use orrery_api_common::Stop;
use orrery_core::limits;
use orrery_notifications::service::{Notifications, ServiceError};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::time::{Instant, sleep, sleep_until};

/// Pieces that wait for a slow reader; then the stream waits too.
const PIECES_MAX: usize = 16;
/// Changes that another server made show at the next look.
const LOOK_EVERY: Duration = Duration::from_secs(1);
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

    pub async fn open(
        &self,
        notifications: Notifications,
        user: &str,
        last: Option<&str>,
    ) -> Result<ServiceBody, Problem> {
        let Ok(permit) = self.room.clone().try_acquire_owned() else {
            let detail =
                format!("{} streams are open, which is all that there are", limits::SERVICE_STREAMS_MAX);
            return Err(Problem::new(Kind::Unavailable, detail).after(HEARTBEAT_EVERY));
        };
        // A place that is none is told before the stream begins.
        let cursor = match last {
            Some(last) => last.to_owned(),
            None => notifications.now_cursor(user).await?,
        };
        let first = notifications.changes(user, Some(&cursor)).await?;
        let (sender, receiver) = mpsc::channel(PIECES_MAX);
        let stream = Stream { notifications, user: user.to_owned(), cursor, sender, _permit: permit };
        tokio::spawn(stream.run(self.stop.clone(), first.items, first.cursor));
        Ok(ServiceBody::Pieces(receiver))
    }
}

struct Stream {
    notifications: Notifications,
    user: String,
    cursor: String,
    sender: mpsc::Sender<Bytes>,
    _permit: OwnedSemaphorePermit,
}

impl Stream {
    /// Until the reader leaves or the server stops.
    async fn run(mut self, stop: Stop, first: Vec<Value>, next: String) {
        let mut changed = self.notifications.watch(&self.user);
        if !self.send(format!("retry: 2000\n{}", frame("ready", Some(&self.cursor), "{}"))).await {
            return;
        }
        if !self.tell(first, next).await || !self.look().await {
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
                _ = changed.changed() => {}
                () = sleep(LOOK_EVERY) => {}
            }
            if !self.look().await {
                return;
            }
        }
    }

    /// Tells all that there is. Whether to go on.
    async fn look(&mut self) -> bool {
        loop {
            match self.notifications.changes(&self.user, Some(&self.cursor)).await {
                Ok(streamed) => {
                    if !self.tell(streamed.items, streamed.cursor).await {
                        return false;
                    }
                    if !streamed.has_more {
                        return true;
                    }
                }
                // The store will be back, or the reader comes back to hear why not.
                Err(ServiceError::Busy { .. } | ServiceError::Unavailable(_)) => return true,
                Err(error) => {
                    tracing::warn!(%error, "a live stream ends");
                    return false;
                }
            }
        }
    }

    async fn tell(&mut self, items: Vec<Value>, next: String) -> bool {
        let last = items.len().saturating_sub(1);
        for (at, item) in items.into_iter().map(visible).enumerate() {
            let id = (at == last).then_some(next.as_str());
            if !self.send(frame("notification", id, &item.to_string())).await {
                return false;
            }
        }
        self.cursor = next;
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
