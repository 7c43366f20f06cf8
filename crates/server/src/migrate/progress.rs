//! How far a migration has come, on one line of a terminal.

use super::world::World;
use std::io::{IsTerminal as _, Write as _};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

const EVERY: Duration = Duration::from_millis(250);
const BAR_CHARS: usize = 24;

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
            let line = line(copied, total, followed, begun.elapsed());
            let _ = write!(std::io::stderr().lock(), "\r\x1b[K{line}");
        }
    }))
}

fn line(copied: u64, total: u64, followed: u64, elapsed: Duration) -> String {
    let total = total.max(copied).max(1);
    let done = (copied * BAR_CHARS as u64 / total) as usize;
    let rate = copied as f64 / elapsed.as_secs_f64().max(0.001);
    let left = if rate > 0.0 { (total - copied) as f64 / rate } else { 0.0 };
    let bar = format!("{}{}", "#".repeat(done), "-".repeat(BAR_CHARS - done));
    format!("[{bar}] {copied} of {total}, {rate:.0}/s, {left:.0} s left, {followed} changes followed")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_tells_how_far_how_fast_and_how_long() {
        let seen = line(250, 1000, 3, Duration::from_secs(5));
        assert_eq!(seen, "[######------------------] 250 of 1000, 50/s, 15 s left, 3 changes followed");
        // More than there were when it began.
        assert!(line(1200, 1000, 0, Duration::from_secs(1)).contains("1200 of 1200"));
        assert!(line(0, 0, 0, Duration::ZERO).contains("0 of 1"));
    }
}
