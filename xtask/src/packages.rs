//! All packages of the repository, and what each depends on.

use std::collections::BTreeMap;

use crate::finding::Finding;
use crate::manifest::{Dependency, Manifest, Source};
use crate::paths;
use crate::tree::Tree;

#[derive(Debug)]
pub struct Package {
    /// The folder of its manifest.
    pub folder: String,
    pub manifest: Manifest,
}

impl Package {
    pub fn manifest_path(&self) -> String {
        manifest_path(&self.folder)
    }
}

/// The workspace's manifest, and every package, the excluded ones too.
#[derive(Debug)]
pub struct Packages {
    pub workspace: Manifest,
    all: BTreeMap<String, Package>,
}

impl Packages {
    pub fn read(tree: &Tree) -> Result<Self, Finding> {
        let mut all = BTreeMap::new();
        let mut workspace = Manifest::parse("").map_err(|error| Finding::new("Cargo.toml", 1, error))?;
        for (path, text) in tree.texts("toml").filter(|(path, _)| paths::name(path) == "Cargo.toml") {
            let manifest = Manifest::parse(text).map_err(|error| Finding::new(path, 1, error))?;
            let folder = paths::folder(path).to_owned();
            if folder.is_empty() {
                workspace = manifest;
            } else if manifest.package.is_some() {
                all.insert(folder.clone(), Package { folder, manifest });
            }
        }
        Ok(Self { workspace, all })
    }

    pub fn iter(&self) -> impl Iterator<Item = &Package> {
        self.all.values()
    }

    /// Those that cargo builds as one; the others have a lock file and dependencies of their own.
    pub fn members(&self) -> impl Iterator<Item = &Package> {
        let is_in =
            |folder: &str, excluded: &str| folder == excluded || paths::inside(folder, excluded).is_some();
        self.iter().filter(move |package| {
            !self.workspace.excluded.iter().any(|excluded| is_in(&package.folder, excluded))
        })
    }

    /// The package whose folder most closely surrounds a file.
    pub fn owner(&self, path: &str) -> Option<&Package> {
        let mut folder = paths::folder(path);
        while !folder.is_empty() {
            if let Some(package) = self.all.get(folder) {
                return Some(package);
            }
            folder = paths::folder(folder);
        }
        None
    }

    /// The folder a dependency lies in, when it is one of ours.
    pub fn target(&self, package: &Package, dependency: &Dependency) -> Option<String> {
        match &dependency.source {
            Source::Path(path) => paths::join(&package.folder, path),
            Source::Registry => None,
            Source::Workspace => {
                let shared = self.workspace.shared.iter().find(|shared| shared.name == dependency.name)?;
                let Source::Path(path) = &shared.source else { return None };
                paths::join("", path)
            }
        }
    }
}

fn manifest_path(folder: &str) -> String {
    if folder.is_empty() { "Cargo.toml".to_owned() } else { format!("{folder}/Cargo.toml") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packages() -> Packages {
        let root =
            "[workspace]\nexclude = [\"fuzz\"]\n[workspace.dependencies]\na = { path = \"crates/a\" }\n";
        let tree = Tree::of(&[
            ("Cargo.toml", root),
            ("crates/a/Cargo.toml", "[package]\nname = \"a\""),
            (
                "crates/b/Cargo.toml",
                "[package]\nname = \"b\"\n[dependencies]\na.workspace = true\nx = { path = \"../x\" }",
            ),
            ("fuzz/Cargo.toml", "[package]\nname = \"f\""),
        ]);
        Packages::read(&tree).expect("valid")
    }

    #[test]
    fn an_excluded_package_is_no_member() {
        let folders: Vec<_> = packages().members().map(|p| p.folder.clone()).collect();
        assert_eq!(folders, ["crates/a", "crates/b"]);
        assert_eq!(packages().iter().count(), 3);
    }

    #[test]
    fn a_file_belongs_to_the_nearest_package() {
        let packages = packages();
        let owner = |path| packages.owner(path).map(|p| p.folder.as_str());
        assert_eq!(owner("crates/a/src/x/y.rs"), Some("crates/a"));
        assert_eq!(owner("docs/x.rs"), None);
    }

    #[test]
    fn a_dependency_leads_to_its_folder_through_the_workspace_or_its_path() {
        let packages = packages();
        let b = packages.iter().find(|p| p.folder == "crates/b").expect("there");
        let targets: Vec<_> = b.manifest.dependencies.iter().map(|d| packages.target(b, d)).collect();
        assert_eq!(targets, [Some("crates/a".to_owned()), Some("crates/x".to_owned())]);
    }

    #[test]
    fn a_broken_manifest_is_named() {
        let read = Packages::read(&Tree::of(&[("a/Cargo.toml", "[")]));
        assert_eq!(read.err().map(|finding| finding.path), Some("a/Cargo.toml".to_owned()));
    }
}
