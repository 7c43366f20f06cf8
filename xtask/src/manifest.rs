//! One `Cargo.toml`, reduced to what the checks ask of it.

use toml::de::{DeTable, DeValue};

use crate::finding::line_at;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Part of what is built: ordinary and build dependencies.
    Normal,
    /// Only tests see it.
    Dev,
}

/// Where a dependency comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// `name.workspace = true`: the workspace's manifest knows.
    Workspace,
    /// A folder, relative to the manifest.
    Path(String),
    /// Someone else's code.
    Registry,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dependency {
    pub name: String,
    pub line: usize,
    pub kind: Kind,
    pub source: Source,
}

#[derive(Debug)]
pub struct Manifest {
    /// Absent in the workspace's own manifest.
    pub package: Option<String>,
    pub dependencies: Vec<Dependency>,
    /// `[workspace.dependencies]`.
    pub shared: Vec<Dependency>,
    /// Folders that `[workspace]` excludes.
    pub excluded: Vec<String>,
    /// Sources of targets that the manifest names itself.
    pub targets: Vec<String>,
}

impl Manifest {
    pub fn parse(text: &str) -> Result<Self, String> {
        let document = DeTable::parse(text).map_err(|error| error.message().to_owned())?;
        let root = document.get_ref();
        let workspace = table(root, "workspace");
        Ok(Self {
            package: table(root, "package").and_then(|package| string(package, "name")),
            dependencies: every_dependency(text, root),
            shared: workspace.map(|it| listed(text, it, "dependencies", Kind::Normal)).unwrap_or_default(),
            excluded: workspace.map(excluded).unwrap_or_default(),
            targets: targets(root),
        })
    }
}

/// The dependencies of all kinds, those for one platform included.
fn every_dependency(text: &str, root: &DeTable) -> Vec<Dependency> {
    let mut found = by_kind(text, root);
    let platforms = table(root, "target").into_iter().flat_map(|targets| targets.values());
    for platform in platforms.filter_map(|value| value.get_ref().as_table()) {
        found.extend(by_kind(text, platform));
    }
    found
}

fn by_kind(text: &str, owner: &DeTable) -> Vec<Dependency> {
    let mut found = listed(text, owner, "dependencies", Kind::Normal);
    found.extend(listed(text, owner, "build-dependencies", Kind::Normal));
    found.extend(listed(text, owner, "dev-dependencies", Kind::Dev));
    found
}

fn listed(text: &str, owner: &DeTable, section: &str, kind: Kind) -> Vec<Dependency> {
    let entries = table(owner, section).into_iter().flat_map(|entries| entries.iter());
    let read = entries.map(|(key, value)| Dependency {
        name: key.get_ref().to_string(),
        line: line_at(text, key.span().start),
        kind,
        source: source(value.get_ref()),
    });
    read.collect()
}

fn source(value: &DeValue) -> Source {
    let Some(fields) = value.as_table() else { return Source::Registry };
    if let Some(path) = string(fields, "path") {
        return Source::Path(path);
    }
    let shared = fields.get("workspace").and_then(|value| value.get_ref().as_bool());
    if shared == Some(true) { Source::Workspace } else { Source::Registry }
}

fn excluded(workspace: &DeTable) -> Vec<String> {
    let folders = workspace.get("exclude").and_then(|value| value.get_ref().as_array());
    let folders = folders.into_iter().flat_map(|folders| folders.iter());
    folders.filter_map(|folder| folder.get_ref().as_str().map(str::to_owned)).collect()
}

fn targets(root: &DeTable) -> Vec<String> {
    let mut found: Vec<String> = table(root, "lib").and_then(|lib| string(lib, "path")).into_iter().collect();
    found.extend(table(root, "package").and_then(|package| string(package, "build")));
    for section in ["bin", "test", "bench", "example"] {
        let entries = root.get(section).and_then(|value| value.get_ref().as_array());
        let entries = entries.into_iter().flat_map(|entries| entries.iter());
        found.extend(entries.filter_map(|entry| string(entry.get_ref().as_table()?, "path")));
    }
    found
}

fn table<'a, 'i>(owner: &'a DeTable<'i>, key: &str) -> Option<&'a DeTable<'i>> {
    owner.get(key)?.get_ref().as_table()
}

fn string(owner: &DeTable, key: &str) -> Option<String> {
    owner.get(key)?.get_ref().as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(dependencies: &[Dependency]) -> Vec<(&str, usize, Kind, &Source)> {
        dependencies.iter().map(|d| (d.name.as_str(), d.line, d.kind, &d.source)).collect()
    }

    #[test]
    fn dependencies_are_found_in_every_way_to_write_them() {
        let text = "[package]\nname = \"p\"\n[dependencies]\na.workspace = true\nb = { path = \"../b\" }\nc = \"1\"\n\
                    [dev-dependencies.d]\nversion = \"1\"\n[target.'cfg(unix)'.dependencies]\ne = \"1\"\n\
                    [build-dependencies]\nf = \"1\"\n";
        let manifest = Manifest::parse(text).expect("valid");
        let path = Source::Path("../b".to_owned());
        assert_eq!(
            names(&manifest.dependencies),
            [
                ("a", 4, Kind::Normal, &Source::Workspace),
                ("b", 5, Kind::Normal, &path),
                ("c", 6, Kind::Normal, &Source::Registry),
                ("f", 12, Kind::Normal, &Source::Registry),
                ("d", 7, Kind::Dev, &Source::Registry),
                ("e", 10, Kind::Normal, &Source::Registry),
            ]
        );
        assert_eq!(manifest.package.as_deref(), Some("p"));
    }

    #[test]
    fn a_workspace_shares_dependencies_and_excludes_folders() {
        let text = "[workspace]\nexclude = [\"fuzz\"]\n[workspace.dependencies]\na = { path = \"x/a\" }\nb = \"1\"\n";
        let manifest = Manifest::parse(text).expect("valid");
        assert_eq!(manifest.package, None);
        assert_eq!(manifest.excluded, ["fuzz"]);
        let shared: Vec<_> = manifest.shared.iter().map(|d| (d.name.as_str(), d.line)).collect();
        assert_eq!(shared, [("a", 4), ("b", 5)]);
    }

    #[test]
    fn targets_that_name_their_source_are_listed() {
        let text =
            "[lib]\npath = \"a.rs\"\n[[bin]]\nname = \"b\"\npath = \"b.rs\"\n[[test]]\nname = \"no path\"\n";
        assert_eq!(Manifest::parse(text).expect("valid").targets, ["a.rs", "b.rs"]);
    }

    #[test]
    fn what_is_not_toml_is_refused() {
        assert!(Manifest::parse("[package").is_err());
    }
}
