//! Dead files: a `.rs` file that no `mod` declaration reaches is compiled by nobody.
//!
//! Each package's roots are the files cargo finds by itself (`src/lib.rs`, `tests/*.rs`, …) and those its
//! manifest names; from there the declarations are followed, `#[path]` and inline modules included. Files
//! pulled in by `include!` are not followed.

use std::collections::BTreeSet;

use crate::code::Code;
use crate::finding::Finding;
use crate::packages::{Package, Packages};
use crate::paths;
use crate::tree::Tree;

pub fn check(tree: &Tree, packages: &Packages) -> Vec<Finding> {
    let reached = reached(tree, packages);
    let dead = tree.texts("rs").filter(|(path, _)| !reached.contains(*path));
    dead.map(|(path, _)| match packages.owner(path) {
        Some(_) => Finding::new(path, 1, "no `mod` declaration reaches this file"),
        None => Finding::new(path, 1, "this file belongs to no package"),
    })
    .collect()
}

fn reached(tree: &Tree, packages: &Packages) -> BTreeSet<String> {
    let roots = tree.texts("rs").map(|(path, _)| path.to_owned());
    let mut waiting: Vec<(String, Home)> = roots
        .filter(|path| packages.owner(path).is_some_and(|package| is_root(package, path)))
        .map(|path| (path, Home::Root))
        .collect();
    let mut reached = BTreeSet::new();
    while let Some((path, home)) = waiting.pop() {
        let Some(text) = tree.text(&path) else { continue };
        if reached.insert(path.clone()) {
            waiting.extend(declared(text).iter().flat_map(|module| module.files(&path, home)));
        }
    }
    reached
}

fn is_root(package: &Package, path: &str) -> bool {
    let named = package.manifest.targets.iter().filter_map(|target| paths::join(&package.folder, target));
    let within = paths::inside(path, &package.folder).unwrap_or(path);
    let parts: Vec<&str> = within.split('/').collect();
    let found = matches!(
        parts.as_slice(),
        ["build.rs"]
            | ["src", "lib.rs" | "main.rs"]
            | ["src", "bin", _]
            | ["src", "bin", _, "main.rs"]
            | ["tests" | "benches" | "examples", _]
            | ["tests" | "benches" | "examples", _, "main.rs"]
    );
    found || named.into_iter().any(|target| target == path)
}

/// Where a file's own modules lie.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Home {
    /// Beside it: crate roots and `mod.rs`.
    Root,
    /// In the folder of its name.
    Named,
}

/// One `mod name;`.
#[derive(Debug, PartialEq, Eq)]
struct Declared {
    name: String,
    /// The inline modules around it, outermost first.
    around: Vec<String>,
    /// What `#[path = "…"]` says.
    path: Option<String>,
}

impl Declared {
    /// The files that may hold this module, declared in `file`; at most one of them is there.
    fn files(&self, file: &str, home: Home) -> Vec<(String, Home)> {
        let beside = paths::folder(file);
        let stem = paths::name(file).trim_end_matches(".rs");
        let own = if home == Home::Root { beside.to_owned() } else { format!("{beside}/{stem}") };
        let folder = self.around.iter().fold(own, |folder, name| format!("{folder}/{name}"));
        if let Some(path) = &self.path {
            let from = if self.around.is_empty() { beside } else { &folder };
            return paths::join(from, path).map(|path| (path, Home::Root)).into_iter().collect();
        }
        let named =
            [(format!("{}.rs", self.name), Home::Named), (format!("{}/mod.rs", self.name), Home::Root)];
        named.into_iter().filter_map(|(name, home)| Some((paths::join(&folder, &name)?, home))).collect()
    }
}

fn declared(text: &str) -> Vec<Declared> {
    let code = Code::read(text);
    let tokens = code.tokens();
    let mut found = Vec::new();
    let mut braces: Vec<Option<&str>> = Vec::new();
    let mut path = None;
    for (index, (offset, token)) in tokens.iter().enumerate() {
        let word = |back: usize| index.checked_sub(back).map_or("", |at| tokens[at].1);
        match *token {
            "=" if word(1) == "path" && matches!(word(2), "[" | "," | "(") => {
                path = code.literal_after(*offset).map(|literal| literal.text.clone());
            }
            ";" if word(2) == "mod" => {
                let around = braces.iter().flatten().map(|name| (*name).to_owned()).collect();
                found.push(Declared { name: word(1).to_owned(), around, path: path.take() });
            }
            "{" => braces.push((word(2) == "mod").then(|| word(1))),
            "}" => drop(braces.pop()),
            ";" => path = None,
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dead(manifest: &str, files: &[(&str, &str)]) -> Vec<String> {
        let manifest = format!("[package]\nname = \"p\"\n{manifest}");
        let mut all = vec![("p/Cargo.toml", manifest.as_str())];
        all.extend(files);
        let tree = Tree::of(&all);
        let packages = Packages::read(&tree).expect("valid");
        check(&tree, &packages).into_iter().map(|finding| finding.path).collect()
    }

    fn all_alive(files: &[(&str, &str)]) {
        assert_eq!(dead("", files), [""; 0]);
    }

    #[test]
    fn an_undeclared_file_is_dead_and_so_is_what_only_it_declares() {
        let files =
            [("p/src/lib.rs", "mod a;"), ("p/src/a.rs", ""), ("p/src/b.rs", "mod c;"), ("p/src/b/c.rs", "")];
        assert_eq!(dead("", &files), ["p/src/b.rs", "p/src/b/c.rs"]);
    }

    #[test]
    fn a_declaration_in_a_comment_or_a_string_reaches_nothing() {
        let files = [("p/src/lib.rs", "// mod a;\nconst A: &str = \"mod a;\";"), ("p/src/a.rs", "")];
        assert_eq!(dead("", &files), ["p/src/a.rs"]);
    }

    #[test]
    fn modules_lie_beside_roots_and_in_the_folder_of_other_files() {
        all_alive(&[
            ("p/src/lib.rs", "pub mod a; pub(crate) mod d;"),
            ("p/src/a.rs", "mod b;"),
            ("p/src/a/b.rs", ""),
            ("p/src/d/mod.rs", "#[cfg(test)] mod e;"),
            ("p/src/d/e.rs", ""),
        ]);
    }

    #[test]
    fn inline_modules_are_folders() {
        all_alive(&[
            ("p/src/lib.rs", "mod a { fn f() { } mod b; } mod c;"),
            ("p/src/a/b.rs", ""),
            ("p/src/c.rs", ""),
        ]);
        let files = [("p/src/lib.rs", "mod a { } mod b;"), ("p/src/a/b.rs", "")];
        assert_eq!(dead("", &files), ["p/src/a/b.rs"]);
    }

    #[test]
    fn a_path_attribute_is_followed_from_the_folder_of_its_file() {
        all_alive(&[
            ("p/src/lib.rs", "mod a;"),
            ("p/src/a.rs", "#[path = \"x/y.rs\"]\nmod b;"),
            ("p/src/x/y.rs", ""),
        ]);
        let files =
            [("p/src/lib.rs", "#[path = \"x.rs\"] mod b; mod c;"), ("p/src/x.rs", ""), ("p/src/c.rs", "")];
        all_alive(&files);
    }

    #[test]
    fn cargo_finds_tests_binaries_and_what_the_manifest_names() {
        all_alive(&[
            ("p/build.rs", ""),
            ("p/src/bin/a.rs", ""),
            ("p/tests/t.rs", "mod common;"),
            ("p/tests/common/mod.rs", ""),
            ("p/tests/u/main.rs", "mod v;"),
            ("p/tests/u/v.rs", ""),
        ]);
        assert_eq!(dead("", &[("p/fuzz_targets/x.rs", "")]), ["p/fuzz_targets/x.rs"]);
        assert_eq!(
            dead("[[bin]]\nname = \"x\"\npath = \"fuzz_targets/x.rs\"", &[("p/fuzz_targets/x.rs", "")]),
            [""; 0]
        );
    }

    #[test]
    fn a_file_outside_every_package_is_dead() {
        assert_eq!(dead("", &[("docs/x.rs", "")]), ["docs/x.rs"]);
    }
}
