//! The dispatcher beside the ports.
//!
//! A server that nobody asks for notifications stays as empty as it was: nothing is made, and nothing is looked for, until
//! the containers are there or the first request comes.

use super::Notify;
use orrery_api_common::Stop;
use orrery_notifications::dispatch;
use std::time::Duration;

/// How often it is looked whether the containers are there, and how long a store that does not answer is left alone.
const LOOK_EVERY: Duration = Duration::from_secs(1);

pub async fn run(notify: &Notify, stop: &Stop) {
    while !stop.is_stopped() && !notify.notifications.is_ensured() {
        if notify.has_containers() {
            match notify.notifications.ensure().await {
                Ok(()) => break,
                Err(error) => tracing::warn!(%error, "notifications wait for their store"),
            }
        }
        tokio::select! {
            () = tokio::time::sleep(LOOK_EVERY) => {}
            () = stop.stopped() => return,
        }
    }
    dispatch::run(&notify.notifications, stop.stopped()).await;
}
