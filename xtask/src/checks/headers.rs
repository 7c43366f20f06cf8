//! Every crate root, and every file longer than a page, says at its top what it is.

use crate::finding::Finding;
use crate::paths;
use crate::tree::Tree;

/// A file up to this long explains itself.
const LINES_WITHOUT_HEADER_MAX: usize = 40;
const ROOTS: [&str; 2] = ["lib.rs", "main.rs"];

pub fn check(tree: &Tree) -> Vec<Finding> {
    let lacking = tree.texts("rs").filter(|(path, text)| wants_header(path, text) && !has_header(text));
    lacking
        .map(|(path, _)| Finding::new(path, 1, "opens without a `//!` header that says what it is"))
        .collect()
}

fn wants_header(path: &str, text: &str) -> bool {
    ROOTS.contains(&paths::name(path)) || text.lines().count() > LINES_WITHOUT_HEADER_MAX
}

fn has_header(text: &str) -> bool {
    text.lines().find(|line| !line.trim().is_empty()).is_some_and(|line| line.starts_with("//!"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lacks(path: &str, text: &str) -> bool {
        !check(&Tree::of(&[(path, text)])).is_empty()
    }

    #[test]
    fn a_root_wants_a_header_however_short() {
        assert!(lacks("a/src/lib.rs", "mod x;\n"));
        assert!(lacks("a/src/main.rs", ""));
        assert!(!lacks("a/src/lib.rs", "//! What it is.\n"));
    }

    #[test]
    fn another_file_wants_one_above_forty_lines() {
        assert!(!lacks("a/src/x.rs", &"x\n".repeat(40)));
        assert!(lacks("a/src/x.rs", &"x\n".repeat(41)));
        assert!(!lacks("a/src/x.rs", &format!("//! What it is.\n{}", "x\n".repeat(41))));
    }

    #[test]
    fn the_header_comes_before_anything_else() {
        assert!(lacks("a/src/lib.rs", "mod x;\n//! Too late.\n"));
        assert!(lacks("a/src/lib.rs", "// Not a header.\n"));
    }
}
