//! Files with secrets: written atomically, and readable by their owner only.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// Writes the file, replacing an existing one.
pub fn replace(path: &Path, text: &[u8]) -> io::Result<()> {
    let new = path.with_extension("new");
    write(&new, text)?;
    fs::rename(&new, path)?;
    sync_folder(path)
}

/// Writes the file unless it exists; of concurrent processes the first wins, and all see its
/// content.
pub fn create(path: &Path, text: &[u8]) -> io::Result<()> {
    let new = path.with_extension(format!("{}.new", std::process::id()));
    write(&new, text)?;
    let linked = fs::hard_link(&new, path);
    fs::remove_file(&new)?;
    match linked {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => sync_folder(path),
    }
}

/// Reads a record of keys from the file's text, which has its version in the member `v`; the error is a sentence.
pub fn read_record<T: DeserializeOwned>(path: &Path, text: &[u8], version: u32) -> Result<T, String> {
    #[derive(Deserialize)]
    struct Versioned {
        v: u32,
    }
    let broken = |error: serde_json::Error| damaged(path, &error.to_string());
    let Versioned { v } = serde_json::from_slice(text).map_err(broken)?;
    if v != version {
        return Err(format!("{} has version {v}, and this build reads {version}", path.display()));
    }
    serde_json::from_slice(text).map_err(broken)
}

pub fn damaged(path: &Path, why: &str) -> String {
    format!("{} is damaged ({why}); restore it, or remove it to have new keys made", path.display())
}

fn write(path: &Path, text: &[u8]) -> io::Result<()> {
    let mut file = fs::OpenOptions::new().create(true).truncate(true).write(true).mode(0o600).open(path)?;
    file.write_all(text)?;
    file.sync_all()
}

fn sync_folder(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), |folder| fs::File::open(folder)?.sync_all())
}
