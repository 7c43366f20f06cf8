//! No source file too long to be one story, no file too big for a repository.

use crate::finding::Finding;
use crate::paths;
use crate::tree::Tree;

const SOURCE_LINES_MAX: usize = 600;
const FILE_BYTES_MAX: u64 = 1024 * 1024;
/// What people write and read; lock files and data may be long.
const SOURCE_EXTENSIONS: [&str; 6] = ["rs", "py", "js", "mjs", "ts", "sh"];

pub fn check(tree: &Tree) -> Vec<Finding> {
    let long = SOURCE_EXTENSIONS.iter().flat_map(|extension| tree.texts(extension));
    let mut found: Vec<_> = long.filter_map(|(path, text)| too_long(path, text)).collect();
    found.extend(tree.files().filter_map(|(path, file)| too_big(path, file.bytes)));
    found
}

fn too_long(path: &str, text: &str) -> Option<Finding> {
    let lines = text.lines().count();
    let sentence = format!("{lines} lines; above {SOURCE_LINES_MAX} it is more than one file");
    (lines > SOURCE_LINES_MAX).then(|| Finding::new(path, SOURCE_LINES_MAX + 1, sentence))
}

fn too_big(path: &str, bytes: u64) -> Option<Finding> {
    let sentence = format!("{} is {bytes} bytes; files above {FILE_BYTES_MAX} stay out", paths::name(path));
    (bytes > FILE_BYTES_MAX).then(|| Finding::new(path, 1, sentence))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(path: &str, text: &str) -> usize {
        check(&Tree::of(&[(path, text)])).len()
    }

    #[test]
    fn six_hundred_lines_are_the_most_for_source() {
        assert_eq!(count("a.rs", &"x\n".repeat(600)), 0);
        assert_eq!(count("a.rs", &"x\n".repeat(601)), 1);
        assert_eq!(count("a.lock", &"x\n".repeat(601)), 0);
    }

    #[test]
    fn a_megabyte_is_the_most_for_anything() {
        assert_eq!(count("a.bin", &"x".repeat(1024 * 1024)), 0);
        assert_eq!(count("a.bin", &"x".repeat(1024 * 1024 + 1)), 1);
    }
}
