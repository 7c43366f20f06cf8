//! The progress of an import, in a small file beside its source, so that a second run resumes there.
//!
//! The file identifies the source by size and modification time, and the target. If either differs, the import starts
//! at the first record: the writes are upserts (or creates that leave existing items alone), so a record that is sent
//! twice does no harm.

use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checkpoint {
    version: u32,
    pub source_bytes: u64,
    pub source_changed_ms: u64,
    pub target: String,
    /// All records before this one are done.
    pub records_done: u64,
    pub written: u64,
    pub skipped: u64,
    pub rejected: u64,
}

const VERSION: u32 = 1;

impl Checkpoint {
    pub fn of(source: &Path, target: &str) -> Result<Self, String> {
        let unread = |error: std::io::Error| format!("{} cannot be read: {error}", source.display());
        let metadata = std::fs::metadata(source).map_err(unread)?;
        let changed = metadata.modified().map_err(unread)?;
        let changed = changed.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        Ok(Self {
            version: VERSION,
            source_bytes: metadata.len(),
            source_changed_ms: u64::try_from(changed.as_millis()).unwrap_or(u64::MAX),
            target: target.to_owned(),
            records_done: 0,
            written: 0,
            skipped: 0,
            rejected: 0,
        })
    }

    /// Where an earlier run of the same import stopped, or the beginning.
    pub fn resumed(self, source: &Path) -> Self {
        let found =
            std::fs::read(path(source)).ok().and_then(|text| serde_json::from_slice::<Self>(&text).ok());
        found.filter(|found| found.is_of(&self)).unwrap_or(self)
    }

    fn is_of(&self, other: &Self) -> bool {
        let of = |one: &Self| (one.version, one.source_bytes, one.source_changed_ms, one.target.clone());
        of(self) == of(other)
    }

    /// Written to a file of its own first, so that a crash leaves the old one or the new one.
    pub fn save(&self, source: &Path) -> Result<(), String> {
        let (path, text) = (path(source), serde_json::to_vec(self).unwrap_or_default());
        let fresh = path.with_extension("new");
        std::fs::write(&fresh, text).and_then(|()| std::fs::rename(&fresh, &path)).map_err(|error| {
            format!("{} cannot be written: {error}; --no-resume does without", path.display())
        })
    }

    pub fn remove(source: &Path) {
        // A missing file counts as removed; a leftover one is only used by the same import of the same file.
        let _ = std::fs::remove_file(path(source));
    }
}

/// `planets.jsonl.orrery-import`
fn path(source: &Path) -> PathBuf {
    let mut name = source.as_os_str().to_owned();
    name.push(".orrery-import");
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_import_goes_on_only_where_source_and_target_are_the_same() {
        let folder = tempfile::tempdir().expect("a folder");
        let source = folder.path().join("a.jsonl");
        std::fs::write(&source, "{}\n").expect("a file");
        let begun = Checkpoint::of(&source, "http://a db/c").expect("a checkpoint");
        assert_eq!(begun.clone().resumed(&source).records_done, 0);
        Checkpoint { records_done: 7, ..begun.clone() }.save(&source).expect("saved");
        assert_eq!(begun.clone().resumed(&source).records_done, 7);
        let elsewhere = Checkpoint::of(&source, "http://b db/c").expect("a checkpoint");
        assert_eq!(elsewhere.resumed(&source).records_done, 0);
        std::fs::write(&source, "{}\n{}\n").expect("a file");
        let changed = Checkpoint::of(&source, "http://a db/c").expect("a checkpoint");
        assert_eq!(changed.resumed(&source).records_done, 0);
        Checkpoint::remove(&source);
        assert_eq!(begun.resumed(&source).records_done, 0);
    }
}
