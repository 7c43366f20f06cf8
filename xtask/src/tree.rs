//! The files of the repository, as the checks see them.
//!
//! Git says which files there are: the tracked ones and the new ones it does not ignore, so a file is checked
//! before it is committed. Without git (an unpacked archive) the folders are walked, leaving out what only
//! builds put there. Everything is read once; the checks are pure functions of what was read.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::paths;

/// Folders that a build or a tool fills; only the walk needs to know them.
const BUILT_FOLDERS: [&str; 6] = [".git", "target", "node_modules", ".venv", "__pycache__", "orrery-data"];
/// Larger files are only counted, never read.
const READ_BYTES_MAX: u64 = 4 * 1024 * 1024;

pub struct File {
    pub bytes: u64,
    /// Absent when the file is not text.
    pub text: Option<String>,
}

/// Every file, by its path from the root.
pub struct Tree {
    files: BTreeMap<String, File>,
}

impl Tree {
    pub fn read(root: &Path) -> Result<Self, String> {
        let listed = listed_by_git(root).map_or_else(|| walked(root), Ok)?;
        let mut files = BTreeMap::new();
        for path in listed {
            if let Some(file) = read_file(&root.join(&path))? {
                files.insert(path, file);
            }
        }
        Ok(Self { files })
    }

    pub fn files(&self) -> impl Iterator<Item = (&str, &File)> {
        self.files.iter().map(|(path, file)| (path.as_str(), file))
    }

    /// The text files with this extension.
    pub fn texts(&self, extension: &str) -> impl Iterator<Item = (&str, &str)> {
        self.files().filter_map(move |(path, file)| {
            let (_, found) = paths::name(path).rsplit_once('.')?;
            (found == extension).then_some((path, file.text.as_deref()?))
        })
    }

    pub fn text(&self, path: &str) -> Option<&str> {
        self.files.get(path)?.text.as_deref()
    }

    /// Whether there is a file, or a folder with a file in it, at this path.
    pub fn has(&self, path: &str) -> bool {
        let folder = format!("{path}/");
        let mut within = self.files.range(folder.clone()..);
        path.is_empty()
            || self.files.contains_key(path)
            || within.next().is_some_and(|(found, _)| found.starts_with(&folder))
    }

    #[cfg(test)]
    pub fn of(files: &[(&str, &str)]) -> Self {
        let file = |text: &str| File { bytes: text.len() as u64, text: Some(text.to_owned()) };
        Self { files: files.iter().map(|(path, text)| ((*path).to_owned(), file(text))).collect() }
    }
}

/// `None` when there is no git, or this is not a checkout. Ownership is not our concern here, so a checkout
/// made by another user is fine.
fn listed_by_git(root: &Path) -> Option<Vec<String>> {
    if !root.join(".git").exists() {
        return None;
    }
    let output = Command::new("git")
        .args(["-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root)
        .output()
        .ok()?;
    let listing = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| listing.split_terminator('\0').map(str::to_owned).collect())
}

fn walked(root: &Path) -> Result<Vec<String>, String> {
    let mut found = Vec::new();
    let mut folders = vec![String::new()];
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(root.join(&folder)).map_err(|error| format!("{folder}: {error}"))?;
        for entry in entries {
            let entry = entry.map_err(|error| format!("{folder}: {error}"))?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && !BUILT_FOLDERS.contains(&name.as_str()) => folders.push(path),
                Ok(kind) if kind.is_file() => found.push(path),
                _ => {}
            }
        }
    }
    Ok(found)
}

/// `None` for what is listed and gone (deleted, not yet committed), for links and for submodules.
fn read_file(path: &Path) -> Result<Option<File>, String> {
    let Ok(metadata) = fs::symlink_metadata(path) else { return Ok(None) };
    if !metadata.is_file() {
        return Ok(None);
    }
    if metadata.len() > READ_BYTES_MAX {
        return Ok(Some(File { bytes: metadata.len(), text: None }));
    }
    let content = fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(Some(File { bytes: metadata.len(), text: String::from_utf8(content).ok() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_has_its_files_and_their_folders_and_nothing_else() {
        let tree = Tree::of(&[("a/b/c.md", ""), ("a/b-d.md", "")]);
        for there in ["", "a", "a/b", "a/b/c.md"] {
            assert!(tree.has(there), "{there}");
        }
        for absent in ["b", "a/b/c", "a/b-"] {
            assert!(!tree.has(absent), "{absent}");
        }
    }

    #[test]
    fn texts_are_chosen_by_extension() {
        let tree = Tree::of(&[("a.rs", "x"), ("b.rst", "y"), ("rs", "z")]);
        assert_eq!(tree.texts("rs").collect::<Vec<_>>(), [("a.rs", "x")]);
    }
}
