//! How far a long work has come, on one line of a terminal.

use std::time::Duration;

const BAR_CHARS: usize = 24;

/// `[######------------------] 250 of 1000, 50/s, 15 s left`
pub fn bar(done: u64, total: u64, elapsed: Duration) -> String {
    let total = total.max(done).max(1);
    let filled = (done * BAR_CHARS as u64 / total) as usize;
    let rate = done as f64 / elapsed.as_secs_f64().max(0.001);
    let left = if rate > 0.0 { (total - done) as f64 / rate } else { 0.0 };
    let bar = format!("{}{}", "#".repeat(filled), "-".repeat(BAR_CHARS - filled));
    format!("[{bar}] {done} of {total}, {rate:.0}/s, {left:.0} s left")
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
    }
}
