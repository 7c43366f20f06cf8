//! Each dependency has its row in the table, and each row its dependency.

use std::collections::BTreeMap;

use crate::finding::Finding;
use crate::manifest::Source;
use crate::packages::Packages;
use crate::tree::Tree;

const TABLE: &str = "docs/dependencies.md";

pub fn check(tree: &Tree, packages: &Packages) -> Vec<Finding> {
    let used = used(packages);
    let rows = rows(tree.text(TABLE).unwrap_or_default());
    let without_row = used
        .iter()
        .filter(|(name, _)| !rows.contains_key(*name))
        .map(|(name, (path, line))| Finding::new(path, *line, format!("`{name}` has no row in {TABLE}")));
    let without_use = rows
        .iter()
        .filter(|(name, _)| !used.contains_key(*name))
        .map(|(name, line)| Finding::new(TABLE, *line, format!("no manifest of the workspace has `{name}`")));
    without_row.chain(without_use).collect()
}

/// Other people's code that the workspace names, with the first place that does.
fn used(packages: &Packages) -> BTreeMap<String, (String, usize)> {
    let shared = packages.workspace.shared.iter().map(|dependency| ("Cargo.toml".to_owned(), dependency));
    let own = packages.members().flat_map(|package| {
        package.manifest.dependencies.iter().map(|dependency| (package.manifest_path(), dependency))
    });
    let mut used = BTreeMap::new();
    for (path, dependency) in
        shared.chain(own).filter(|(_, dependency)| dependency.source == Source::Registry)
    {
        used.entry(dependency.name.clone()).or_insert((path, dependency.line));
    }
    used
}

/// The first cell of each row of a table, without its back-ticks; header and rule are no rows.
fn rows(text: &str) -> BTreeMap<String, usize> {
    let lines: Vec<&str> = text.lines().collect();
    let is_rule = |line: &str| line.starts_with('|') && line.chars().all(|c| "|-: ".contains(c));
    let mut rows = BTreeMap::new();
    for (index, line) in lines.iter().enumerate() {
        let is_header = lines.get(index + 1).is_some_and(|next| is_rule(next));
        if line.starts_with('|') && !is_rule(line) && !is_header {
            let cell = line.split('|').nth(1).unwrap_or_default();
            rows.insert(cell.trim().trim_matches('`').to_owned(), index + 1);
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sentences(table: &str) -> Vec<String> {
        let tree = Tree::of(&[
            (
                "Cargo.toml",
                "[workspace]\nexclude = [\"fuzz\"]\n[workspace.dependencies]\nours = { path = \"o\" }\nbytes = \"1\"\n",
            ),
            (
                "a/Cargo.toml",
                "[package]\nname = \"a\"\n[dependencies]\nbytes.workspace = true\nrare = \"2\"\n",
            ),
            ("fuzz/Cargo.toml", "[package]\nname = \"f\"\n[dependencies]\nlibfuzzer = \"0\"\n"),
            (TABLE, table),
        ]);
        let packages = Packages::read(&tree).expect("valid");
        check(&tree, &packages).into_iter().map(|finding| finding.to_string()).collect()
    }

    #[test]
    fn every_dependency_wants_a_row_wherever_it_is_declared() {
        assert_eq!(
            sentences("words about bytes and rare"),
            [
                "Cargo.toml:5: `bytes` has no row in docs/dependencies.md",
                "a/Cargo.toml:5: `rare` has no row in docs/dependencies.md"
            ]
        );
    }

    #[test]
    fn a_row_that_outlived_its_dependency_is_found() {
        let table = "| crate | why |\n|---|---|\n| `bytes` | x |\n| rare | y |\n| gone | z |\n";
        assert_eq!(sentences(table), ["docs/dependencies.md:5: no manifest of the workspace has `gone`"]);
    }
}
