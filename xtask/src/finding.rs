//! One thing out of place: where, and a sentence.

use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    pub path: String,
    pub line: usize,
    pub sentence: String,
}

impl Finding {
    pub fn new(path: &str, line: usize, sentence: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, sentence: sentence.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.sentence)
    }
}

/// The line, counted from one, that holds the byte at `offset`.
pub fn line_at(text: &str, offset: usize) -> usize {
    1 + text.bytes().take(offset).filter(|byte| *byte == b'\n').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_count_from_one_and_a_newline_belongs_to_the_line_it_ends() {
        assert_eq!(line_at("a\nb\n", 0), 1);
        assert_eq!(line_at("a\nb\n", 1), 1);
        assert_eq!(line_at("a\nb\n", 2), 2);
    }

    #[test]
    fn a_finding_prints_as_an_editor_can_jump_to() {
        assert_eq!(Finding::new("a/b.rs", 7, "is odd").to_string(), "a/b.rs:7: is odd");
    }
}
