//! What verbs print: text that fits the terminal and has its colours, or JSON and nothing else.
//!
//! Whoever draws gets a [`Screen`] and gives a string, so that drawing is pure. Into a pipe there is no colour and no width;
//! `NO_COLOR`, `CLICOLOR` and `TERM=dumb` count.

mod progress;
mod table;

pub use progress::{ProgressLine, bar, share_bar};
pub use table::{Table, bytes, plain};

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use serde::Serialize;
use std::io::{self, IsTerminal as _, Write as _};

pub const HEADING: Style = Style::new().bold();
pub const GOOD: Style = AnsiColor::Green.on_default();
pub const NOTICE: Style = AnsiColor::Yellow.on_default();
pub const BAD: Style = AnsiColor::Red.on_default().bold();

/// What is drawn for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Screen {
    /// In columns; `None` where a line may have any length.
    pub width: Option<usize>,
    pub has_color: bool,
}

impl Screen {
    /// A file, or another program.
    pub const PIPE: Self = Self { width: None, has_color: false };

    pub fn of_stdout() -> Self {
        let stdout = io::stdout();
        let width = terminal_size::terminal_size_of(&stdout).map(|(width, _)| usize::from(width.0));
        let has_color = AutoStream::choice(&stdout) != ColorChoice::Never;
        Self { width: width.filter(|_| stdout.is_terminal()), has_color }
    }

    /// The text in a style, if there is colour.
    pub fn paint(&self, style: Style, text: &str) -> String {
        if self.has_color { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }
}

/// Prints text for a person. A reader that has seen enough (`| head`) is no failure.
pub fn print(text: &str) -> Result<(), String> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(format!("the answer cannot be printed: {error}"))
        }
        _ => Ok(()),
    }
}

/// Prints a value for a program.
pub fn print_json(value: &impl Serialize) -> Result<(), String> {
    let text = serde_json::to_string_pretty(value)
        .map_err(|error| format!("the answer cannot be written as JSON: {error}"))?;
    print(&format!("{text}\n"))
}

/// `orrery: ` and a sentence, on standard error.
pub fn complain(sentence: &str) {
    let stderr = io::stderr();
    let has_color = AutoStream::choice(&stderr) != ColorChoice::Never;
    let screen = Screen { width: None, has_color };
    let _ = writeln!(stderr.lock(), "{} {sentence}", screen.paint(BAD, "orrery:"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colour_is_for_a_terminal_alone() {
        assert_eq!(Screen::PIPE.paint(BAD, "bad"), "bad");
        let terminal = Screen { width: Some(80), has_color: true };
        assert_eq!(terminal.paint(GOOD, "ok"), "\u{1b}[32mok\u{1b}[0m");
    }
}
