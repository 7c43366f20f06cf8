//! `cargo xtask tidy`: reads the tree once, asks every check, prints what is out of place.

use std::path::Path;

use crate::checks::{
    cases, dependencies, headers, layers, leftovers, limits, links, modules, names, seeds, sizes,
};
use crate::finding::Finding;
use crate::packages::Packages;
use crate::tree::Tree;

pub fn run(root: &Path) -> Result<(), String> {
    let tree = Tree::read(root)?;
    let mut findings = findings(&tree);
    findings.sort();
    for finding in &findings {
        println!("{finding}");
    }
    match findings.len() {
        0 => Ok(()),
        1 => Err("tidy: one thing is out of place".to_owned()),
        count => Err(format!("tidy: {count} things are out of place")),
    }
}

fn findings(tree: &Tree) -> Vec<Finding> {
    let packages = match Packages::read(tree) {
        Ok(packages) => packages,
        Err(finding) => return vec![finding],
    };
    let found = [
        layers::check(&packages),
        headers::check(tree),
        modules::check(tree, &packages),
        cases::check(tree, &packages),
        leftovers::check(tree),
        sizes::check(tree),
        dependencies::check(tree, &packages),
        limits::check(tree, &packages),
        links::check(tree),
        names::check(tree),
        seeds::check(tree),
    ];
    found.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tidy_tree_has_no_findings() {
        let tree = Tree::of(&[
            ("Cargo.toml", "[workspace]\n[workspace.dependencies]\nbytes = \"1\"\n"),
            ("docs/dependencies.md", "| crate |\n|---|\n| bytes |\n"),
            (
                "crates/base/core/Cargo.toml",
                "[package]\nname = \"core\"\n[dependencies]\nbytes.workspace = true\n",
            ),
            ("crates/base/core/src/lib.rs", "//! What it is.\n"),
        ]);
        assert_eq!(findings(&tree), []);
    }

    #[test]
    fn every_check_is_asked() {
        let tree = Tree::of(&[
            ("Cargo.toml", "[workspace]\n[workspace.dependencies]\nbytes = \"1\"\n"),
            ("README.md", "[x](gone.md)\n"),
            ("crates/odd/x/Cargo.toml", "[package]\nname = \"x\"\n"),
            ("crates/odd/x/src/lib.rs", "fn f() { dbg!(1) }\n"),
            ("crates/odd/x/src/dead.rs", ""),
            ("crates/odd/x/cases/a.case", ""),
            ("ARCHITECTURE.md", "[`gone`](crates/odd/x/src/lib.rs)\n"),
            ("long.sh", &"x\n".repeat(601)),
            ("blueprints/x.yaml", ""),
            ("crates/odd/x/src/limits.rs", "pub const PAGE_MAX: u8 = 1;\n"),
        ]);
        let found: Vec<_> = findings(&tree).into_iter().map(|f| f.path).collect();
        let expected = [
            "crates/odd/x/Cargo.toml",
            "crates/odd/x/src/lib.rs",
            "crates/odd/x/src/dead.rs",
            "crates/odd/x/src/limits.rs",
            "crates/odd/x/cases",
            "crates/odd/x/src/lib.rs",
            "long.sh",
            "Cargo.toml",
            "crates/odd/x/src/limits.rs",
            "README.md",
            "ARCHITECTURE.md",
            "docs/seeds.md",
        ];
        assert_eq!(found, expected);
    }
}
