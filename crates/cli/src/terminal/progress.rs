//! How far a long work has come, on one line of a terminal.

use std::time::Duration;

const BAR_CHARS: usize = 24;

/// `[######------------------] 250 of 1000, 50/s, 15 s left`
pub fn bar(done: u64, total: u64, elapsed: Duration) -> String {
    let total = total.max(done).max(1);
    let rate = done as f64 / elapsed.as_secs_f64().max(0.001);
    let left = if rate > 0.0 { (total - done) as f64 / rate } else { 0.0 };
    format!("{} {done} of {total}, {rate:.0}/s, {left:.0} s left", drawn(done as f64 / total as f64))
}

/// The same for work whose whole is known as a share only: `[######------------------] 25 %, 250 items, 50/s`
pub fn share_bar(share: f64, items: u64, elapsed: Duration) -> String {
    let rate = items as f64 / elapsed.as_secs_f64().max(0.001);
    format!("{} {:.0} %, {items} items, {rate:.0}/s", drawn(share), share.clamp(0.0, 1.0) * 100.0)
}

fn drawn(share: f64) -> String {
    let filled = (share.clamp(0.0, 1.0) * BAR_CHARS as f64) as usize;
    format!("[{}{}]", "#".repeat(filled), "-".repeat(BAR_CHARS - filled))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_tells_how_far_how_fast_and_how_long() {
        let seen = bar(250, 1000, Duration::from_secs(5));
        assert_eq!(seen, "[######------------------] 250 of 1000, 50/s, 15 s left");
        // More than there were when it began.
        assert!(bar(1200, 1000, Duration::from_secs(1)).contains("1200 of 1200"));
        assert!(bar(0, 0, Duration::ZERO).contains("0 of 1"));
        let seen = share_bar(0.25, 250, Duration::from_secs(5));
        assert_eq!(seen, "[######------------------] 25 %, 250 items, 50/s");
    }
}
