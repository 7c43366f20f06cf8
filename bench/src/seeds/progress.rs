//! How far a long load is: one line that is written over on a terminal, else a line for every tenth.

use std::io::{IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

/// How often a terminal sees a new line.
const REDRAW: Duration = Duration::from_millis(200);
const BAR_CELLS: u64 = 30;

pub struct Progress {
    title: String,
    total: u64,
    done: u64,
    began: Instant,
    drawn: Instant,
    tenths: u64,
    on_terminal: bool,
}

impl Progress {
    pub fn new(title: String, total: u64) -> Self {
        let now = Instant::now();
        let on_terminal = std::io::stderr().is_terminal();
        Self { title, total: total.max(1), done: 0, began: now, drawn: now, tenths: 0, on_terminal }
    }

    pub fn add(&mut self, count: u64) {
        self.done += count;
        if self.on_terminal && (self.drawn.elapsed() >= REDRAW || self.done >= self.total) {
            self.drawn = Instant::now();
            eprint!("\r{}", self.line());
            // A line that stays in the buffer is a line not seen, and nothing worse.
            let _ = std::io::stderr().flush();
        }
        let tenths = self.done * 10 / self.total;
        if !self.on_terminal && tenths > self.tenths {
            self.tenths = tenths;
            eprintln!("{}", self.line());
        }
    }

    fn line(&self) -> String {
        let rate = self.done as f64 / self.began.elapsed().as_secs_f64().max(f64::MIN_POSITIVE);
        line(&self.title, self.done, self.total, rate)
    }
}

impl Drop for Progress {
    /// What follows begins on a line of its own.
    fn drop(&mut self) {
        if self.on_terminal {
            eprintln!();
        }
    }
}

fn line(title: &str, done: u64, total: u64, rate: f64) -> String {
    let cells = (done * BAR_CELLS / total).min(BAR_CELLS) as usize;
    let bar = format!("{}{}", "#".repeat(cells), ".".repeat(BAR_CELLS as usize - cells));
    format!("{title:32} [{bar}] {:3} %  {done} of {total}, {rate:.0}/s", done * 100 / total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_tells_the_part_and_the_rate() {
        let half = line("orrery, growth_3m", 1500, 3000, 250.4);
        assert!(half.starts_with("orrery, growth_3m"), "{half}");
        assert!(half.ends_with("[###############...............]  50 %  1500 of 3000, 250/s"), "{half}");
        assert!(line("", 7, 3, 0.0).contains("[##############################]"));
    }
}
