//! Golden files are read by a test: a folder of `*.case` that no test names shows nothing.
//!
//! A test names a folder with a string: the folder itself, one above it (it walks), or a file in it, from the
//! root of its package or of the repository.

use std::collections::BTreeSet;

use crate::code::Code;
use crate::finding::Finding;
use crate::packages::Packages;
use crate::paths;
use crate::tree::Tree;

pub fn check(tree: &Tree, packages: &Packages) -> Vec<Finding> {
    let folders: BTreeSet<&str> = tree.texts("case").map(|(path, _)| paths::folder(path)).collect();
    if folders.is_empty() {
        return Vec::new();
    }
    let named = named_by_tests(tree, packages);
    let unread = folders.into_iter().filter(|folder| !named.iter().any(|name| reads(name, folder)));
    unread.map(|folder| Finding::new(folder, 1, "no test names this folder of cases")).collect()
}

/// Every string in a test that has `cases` as a part of a path, seen from the root of the repository.
fn named_by_tests(tree: &Tree, packages: &Packages) -> BTreeSet<String> {
    let mut named = BTreeSet::new();
    for (path, text) in tree.texts("rs").filter(|(path, text)| holds_tests(path, text)) {
        let folder = packages.owner(path).map_or("", |package| package.folder.as_str());
        let literals = Code::read(text).literals;
        let literals = literals.iter().filter(|literal| literal.text.split('/').any(|part| part == "cases"));
        for literal in literals {
            named.extend(paths::join("", &literal.text));
            named.extend(paths::join(folder, &literal.text));
        }
    }
    named
}

fn holds_tests(path: &str, text: &str) -> bool {
    text.contains("#[test]") || text.contains("::test]") || path.split('/').any(|part| part == "tests")
}

/// Whether a test that names this reads the folder.
fn reads(name: &str, folder: &str) -> bool {
    name == folder || paths::inside(folder, name).is_some() || paths::inside(name, folder).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unread(test: &str) -> Vec<String> {
        let tree = Tree::of(&[
            ("q/Cargo.toml", "[package]\nname = \"q\""),
            ("q/cases/lex/a.case", ""),
            ("q/cases/plan/b.case", ""),
            ("q/tests/golden.rs", test),
        ]);
        let packages = Packages::read(&tree).expect("valid");
        check(&tree, &packages).into_iter().map(|finding| finding.path).collect()
    }

    #[test]
    fn a_folder_no_test_names_is_found() {
        assert_eq!(unread("fn f() { run(\"cases/lex\") }"), ["q/cases/plan"]);
        assert_eq!(unread("// cases/lex, cases/plan"), ["q/cases/lex", "q/cases/plan"]);
        assert_eq!(unread("fn f() { run(\"cases/le\") }"), ["q/cases/lex", "q/cases/plan"]);
    }

    #[test]
    fn a_test_that_names_the_folder_above_walks_it() {
        assert_eq!(unread("run(\"cases\")"), [""; 0]);
        assert_eq!(unread("run(concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/cases\"))"), [""; 0]);
        assert_eq!(unread("run(\"q/cases\")"), [""; 0]);
    }

    #[test]
    fn a_test_that_names_a_file_reads_its_folder() {
        assert_eq!(unread("run(\"cases/lex/a.case\"); run(\"cases/plan/b.case\")"), [""; 0]);
    }
}
