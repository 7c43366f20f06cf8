//! Limits live with their crates: somebody holds to each constant of a `src/limits.rs`, and those of `base/core` are
//! needed by several crates, or by `base/core` itself.

use std::collections::{BTreeMap, BTreeSet};

use crate::code::Code;
use crate::finding::{Finding, line_at};
use crate::packages::Packages;
use crate::paths;
use crate::tree::Tree;

const SHARED: &str = "crates/base/core";

pub fn check(tree: &Tree, packages: &Packages) -> Vec<Finding> {
    let users = users(tree, packages);
    let files = tree.texts("rs").filter(|(path, _)| path.ends_with("/src/limits.rs"));
    files.flat_map(|(path, text)| check_file(path, text, &users)).collect()
}

fn check_file(path: &str, text: &str, users: &BTreeMap<String, BTreeSet<String>>) -> Vec<Finding> {
    let is_shared = paths::inside(path, SHARED).is_some();
    let found = constants(text).into_iter().filter_map(|(offset, name)| {
        let of: Vec<&String> = users.get(&name).into_iter().flatten().collect();
        let sentence = match of.as_slice() {
            [] => format!("nobody holds to `{name}`"),
            [one] if is_shared && *one != SHARED => format!("only {one} needs `{name}`: it lives there"),
            _ => return None,
        };
        Some(Finding::new(path, line_at(text, offset), sentence))
    });
    found.collect()
}

/// The constants that a file declares, each with the offset of its name.
fn constants(text: &str) -> Vec<(usize, String)> {
    let code = Code::read(text);
    let tokens = code.tokens();
    let pairs = tokens.windows(2).filter(|pair| pair[0].1 == "const");
    pairs.map(|pair| (pair[1].0, pair[1].1.to_owned())).collect()
}

/// The packages that name each word in capitals, other than where it is declared.
fn users(tree: &Tree, packages: &Packages) -> BTreeMap<String, BTreeSet<String>> {
    let mut users: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (path, text) in tree.texts("rs") {
        let Some(owner) = packages.owner(path) else { continue };
        let code = Code::read(text);
        let mut before = "";
        for (_, word) in code.tokens() {
            if before != "const" && is_constant(word) {
                users.entry(word.to_owned()).or_default().insert(owner.folder.clone());
            }
            before = word;
        }
    }
    users
}

fn is_constant(word: &str) -> bool {
    word.contains('_') && word.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sentences(limits: (&str, &str), sources: &[(&str, &str)]) -> Vec<String> {
        let mut files = vec![
            ("Cargo.toml", "[workspace]\n"),
            ("crates/base/core/Cargo.toml", "[package]\nname = \"core\"\n"),
            ("crates/a/x/Cargo.toml", "[package]\nname = \"x\"\n"),
            ("crates/a/y/Cargo.toml", "[package]\nname = \"y\"\n"),
            limits,
        ];
        files.extend(sources);
        let tree = Tree::of(&files);
        let packages = Packages::read(&tree).expect("the manifests are well-formed");
        check(&tree, &packages).into_iter().map(|finding| finding.to_string()).collect()
    }

    const USES: &str = "fn f() { take(limits::PAGE_MAX) }\n";
    const ONE: &str = "//! Limits.\n\npub const PAGE_MAX: usize = 1;\n";

    #[test]
    fn a_limit_that_nobody_holds_to_is_found() {
        let own = ("crates/a/x/src/limits.rs", ONE);
        assert_eq!(sentences(own, &[]), ["crates/a/x/src/limits.rs:3: nobody holds to `PAGE_MAX`"]);
        assert_eq!(
            sentences(own, &[("crates/a/x/src/a.rs", "// PAGE_MAX\nconst PAGE_MAX: u8 = 1;\n")]).len(),
            1
        );
        assert_eq!(sentences(own, &[("crates/a/x/src/a.rs", USES)]), [""; 0]);
    }

    #[test]
    fn a_shared_limit_that_one_crate_needs_is_found() {
        let shared = ("crates/base/core/src/limits.rs", ONE);
        let (x, y) = (("crates/a/x/src/a.rs", USES), ("crates/a/y/tests/a.rs", USES));
        let expected = "crates/base/core/src/limits.rs:3: only crates/a/x needs `PAGE_MAX`: it lives there";
        assert_eq!(sentences(shared, &[x]), [expected]);
        assert_eq!(sentences(shared, &[x, y]), [""; 0]);
        assert_eq!(sentences(shared, &[("crates/base/core/src/a.rs", USES)]), [""; 0]);
        let derived = "pub const PAGE_MAX: usize = 1;\npub const ALL_MAX: usize = PAGE_MAX;\n";
        let uses_all = "fn f() { take(limits::ALL_MAX) }\n";
        let all = [("crates/a/x/src/a.rs", uses_all), ("crates/a/y/src/a.rs", uses_all)];
        assert_eq!(sentences(("crates/base/core/src/limits.rs", derived), &all), [""; 0]);
    }
}
