//! Which blueprints are meant: by the name of one that is built in, by a file, or by a folder of files.

use orrery_blueprint::limits;
use orrery_blueprint::{Blueprint, Source, Variables, built_in, built_in_names, read};
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

/// What these words mean; `all` is every one that is built in.
pub fn blueprints(words: &[String], variables: &Variables) -> Result<Vec<Blueprint>, String> {
    let mut sources = Vec::new();
    for word in words {
        add(word, &mut sources)?;
    }
    let found = read(&sources, variables).map_err(|trouble| trouble.to_string())?;
    for (number, one) in found.iter().enumerate() {
        if found[..number].iter().any(|before| before.name == one.name) {
            return Err(format!("the blueprint '{}' is given twice", one.name));
        }
    }
    Ok(found)
}

fn add(word: &str, sources: &mut Vec<Source>) -> Result<(), String> {
    if word == "all" {
        sources.extend(built_in_names().filter_map(built_in));
        return Ok(());
    }
    if let Some(source) = built_in(word) {
        sources.push(source);
        return Ok(());
    }
    let path = Path::new(word);
    if path.is_dir() {
        return add_folder(path, sources);
    }
    if !path.exists() {
        let names = built_in_names().collect::<Vec<_>>().join(", ");
        return Err(format!("'{word}' is no file, and no blueprint that is built in; those are {names}"));
    }
    sources.push(source(path)?);
    Ok(())
}

/// The files of a Terraform module, or else every YAML file.
fn add_folder(folder: &Path, sources: &mut Vec<Source>) -> Result<(), String> {
    let unread = |error: std::io::Error| format!("{} cannot be read: {error}", folder.display());
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(unread)? {
        paths.push(entry.map_err(unread)?.path());
    }
    paths.sort();
    let of = |wanted: &[&str]| -> Vec<&PathBuf> {
        let is_wanted =
            |path: &&PathBuf| path.extension().is_some_and(|end| wanted.iter().any(|one| end == *one));
        paths.iter().filter(is_wanted).collect()
    };
    let mut found = of(&["tf"]);
    if found.is_empty() {
        found = of(&["yaml", "yml"]);
    }
    if found.is_empty() {
        return Err(format!("{} has no .tf and no .yaml file", folder.display()));
    }
    if found.len() > limits::BLUEPRINT_FILES_MAX {
        return Err(format!("{} has more than {} files", folder.display(), limits::BLUEPRINT_FILES_MAX));
    }
    for path in found {
        sources.push(source(path)?);
    }
    Ok(())
}

/// One byte more than is taken is enough to refuse it.
fn source(path: &Path) -> Result<Source, String> {
    let unread = |error: std::io::Error| format!("{} cannot be read: {error}", path.display());
    let mut bytes = Vec::new();
    let file = fs::File::open(path).map_err(unread)?;
    file.take(limits::BLUEPRINT_BYTES_MAX as u64 + 1).read_to_end(&mut bytes).map_err(unread)?;
    let text = String::from_utf8(bytes).map_err(|_| format!("{} is not UTF-8 text", path.display()))?;
    Ok(Source { name: path.display().to_string(), text })
}
