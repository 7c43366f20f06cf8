//! How far a migration has come, on one line of a terminal.

use super::world::World;
use crate::terminal::bar;
use std::io::{IsTerminal as _, Write as _};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

const EVERY: Duration = Duration::from_millis(250);

/// Shows it until the task is dropped; nothing if nobody looks.
pub fn show(world: Arc<World>, total: u64) -> Option<tokio::task::JoinHandle<()>> {
    if !std::io::stderr().is_terminal() {
        return None;
    }
    Some(tokio::spawn(async move {
        let begun = Instant::now();
        loop {
            tokio::time::sleep(EVERY).await;
            let copied = world.counts.copied.load(Ordering::Relaxed);
            let followed = world.counts.followed.load(Ordering::Relaxed);
            let line = bar(copied, total, begun.elapsed());
            let _ = write!(std::io::stderr().lock(), "\r\x1b[K{line}, {followed} changes followed");
        }
    }))
}
