//! A stop signal for many waiters.
//!
//! Clones share one switch. It goes from running to stopped once and never back, so a late waiter still sees
//! it.

use std::sync::Arc;
use tokio::sync::watch;

/// A cheap handle, to stop or to wait for the stop.
#[derive(Clone, Debug)]
pub struct Stop(Arc<watch::Sender<bool>>);

impl Stop {
    pub fn new() -> Self {
        Self(Arc::new(watch::Sender::new(false)))
    }

    /// Signals all waiters, present and future. Idempotent.
    pub fn stop(&self) {
        self.0.send_replace(true);
    }

    pub fn is_stopped(&self) -> bool {
        *self.0.borrow()
    }

    /// Returns once stopped; at once if that has already happened.
    pub async fn stopped(&self) {
        let mut switch = self.0.subscribe();
        // An error means that the sender is gone, and `self` holds it.
        let _ = switch.wait_for(|stopped| *stopped).await;
    }
}

impl Default for Stop {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_stop_reaches_those_who_wait_and_those_who_come_late() {
        let stop = Stop::new();
        let early = tokio::spawn({
            let stop = stop.clone();
            async move { stop.stopped().await }
        });
        tokio::task::yield_now().await;
        assert!(!stop.is_stopped() && !early.is_finished());
        stop.clone().stop();
        early.await.expect("the waiter returns");
        stop.stopped().await;
        assert!(stop.is_stopped());
    }
}
