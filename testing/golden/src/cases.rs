//! Files of cases: lines of a keyword and its text.
//!
//! A line that starts with a space goes on with the text before it, `#` starts a comment, and empty lines say
//! nothing. What the keywords mean is for the test that reads them.

use std::fs;
use std::path::{Path, PathBuf};

/// A keyword with its text, and the lines of the file it takes up (from 0, end exclusive).
pub struct Line {
    pub keyword: String,
    pub text: String,
    pub from: usize,
    pub to: usize,
}

/// The files of a folder that end in `.extension`, in order; folders inside it are not looked into.
pub fn case_files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the folder of cases is there");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry is readable").path()).collect();
    files.retain(|file| file.extension().is_some_and(|found| found == extension));
    files.sort();
    files
}

pub fn lines(text: &str) -> Vec<Line> {
    let mut found: Vec<Line> = Vec::new();
    for (at, line) in text.lines().enumerate() {
        if line.starts_with('#') || line.trim().is_empty() {
            continue;
        }
        match found.last_mut() {
            Some(last) if line.starts_with(' ') => {
                last.text.push_str(line);
                last.to = at + 1;
            }
            _ => {
                let (keyword, text) = line.split_once(' ').unwrap_or((line, ""));
                let (keyword, text) = (keyword.to_owned(), text.trim().to_owned());
                found.push(Line { keyword, text, from: at, to: at + 1 });
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_goes_on_until_another_keyword() {
        let text = "# about\nquery  SELECT 1\n       FROM c\n\nrows\nrows   1 2\n";
        let found: Vec<_> =
            lines(text).into_iter().map(|line| (line.keyword, line.text, line.from..line.to)).collect();
        let expected = [("query", "SELECT 1       FROM c", 1..3), ("rows", "", 4..5), ("rows", "1 2", 5..6)];
        assert_eq!(found, expected.map(|(keyword, text, at)| (keyword.to_owned(), text.to_owned(), at)));
    }
}
