//! How far a long work has come, on one line of a terminal.

use std::io::{self, IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

const BAR_CHARS: usize = 24;
const DRAW_EVERY: Duration = Duration::from_millis(100);
/// Back to the beginning of the line, and empty from there.
const CLEAR: &str = "\r\u{1b}[2K";

/// A line of standard error that is drawn over and over. Where standard error is no terminal nothing is.
pub struct ProgressLine {
    is_shown: bool,
    drawn: Option<Instant>,
}

impl ProgressLine {
    pub fn of_stderr() -> Self {
        Self { is_shown: io::stderr().is_terminal(), drawn: None }
    }

    /// One that stays away: something else is written to the terminal.
    pub fn hidden() -> Self {
        Self { is_shown: false, drawn: None }
    }

    pub fn is_shown(&self) -> bool {
        self.is_shown
    }

    /// Draws it, unless that was a moment ago.
    pub fn draw(&mut self, line: impl FnOnce() -> String) {
        if self.is_shown && self.drawn.is_none_or(|at| at.elapsed() > DRAW_EVERY) {
            self.drawn = Some(Instant::now());
            self.write(&format!("{CLEAR}{}", line()));
        }
    }

    /// Makes room for a sentence, or for nothing.
    pub fn clear(&mut self) {
        if self.is_shown && self.drawn.take().is_some() {
            self.write(CLEAR);
        }
    }

    /// Draws it a last time, and leaves it there.
    pub fn end(self, line: &str) {
        if self.is_shown {
            self.write(&format!("{CLEAR}{line}\n"));
        }
    }

    /// Nobody may be reading it.
    fn write(&self, text: &str) {
        let mut out = io::stderr().lock();
        let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    }
}

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
