//! The acknowledgement note: the last acknowledged commit, outside the engine's files, in two
//! copies with a checksum each.
//!
//! Both copies are made and synced before the folder says that it has them, and are overwritten in
//! place after every group of commits, without a sync. Their 24 bytes lie in one sector, so a power
//! cut leaves an older note and never half of one. A copy that is missing or fails its checksum is
//! therefore damage. The newer of two whole copies counts; without any, nobody can tell whether the
//! journal still has everything that was acknowledged, and the folder is refused.

use orrery_core::LogLimiter;
use orrery_kv::{Error, Tip};
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Instant;

/// Files of the copies.
pub const NAMES: [&str; 2] = ["promised", "promised-copy"];

/// One copy as it was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoteCopy {
    Whole(Tip),
    Missing,
    Damaged,
}

impl fmt::Display for NoteCopy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(tip) => write!(f, "says that commit {} was acknowledged", tip.lsn),
            Self::Missing => f.write_str("is missing"),
            Self::Damaged => f.write_str("is damaged: its checksum does not match"),
        }
    }
}

/// Both copies of a folder, with their file names.
pub fn read_copies(folder: &Path) -> io::Result<[(&'static str, NoteCopy); 2]> {
    let [first, second] = NAMES;
    Ok([(first, read_copy(&folder.join(first))?), (second, read_copy(&folder.join(second))?)])
}

/// The newest whole copy.
pub fn newest(copies: &[(&str, NoteCopy)]) -> Option<Tip> {
    let whole = copies.iter().filter_map(|(_, copy)| match copy {
        NoteCopy::Whole(tip) => Some(*tip),
        NoteCopy::Missing | NoteCopy::Damaged => None,
    });
    whole.max_by_key(|tip| tip.lsn)
}

fn read_copy(path: &Path) -> io::Result<NoteCopy> {
    match fs::read(path) {
        Ok(bytes) => Ok(Tip::from_bytes(&bytes).map_or(NoteCopy::Damaged, NoteCopy::Whole)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(NoteCopy::Missing),
        Err(error) => Err(error),
    }
}

/// Writes both copies so that a power cut afterwards does not take them away.
pub fn make_copies(folder: &Path, tip: Tip) -> io::Result<()> {
    for name in NAMES {
        let (path, new) = (folder.join(name), folder.join(format!("{name}.new")));
        let mut file = File::create(&new)?;
        file.write_all(&tip.to_bytes())?;
        file.sync_all()?;
        fs::rename(new, path)?;
    }
    File::open(folder)?.sync_all()
}

pub struct Promises {
    folder: PathBuf,
    found: [(&'static str, NoteCopy); 2],
    /// Opened when the first note is written: opening a folder changes nothing.
    files: OnceLock<[File; 2]>,
    complaints: LogLimiter,
}

impl Promises {
    /// `has_two`: whether the folder's format has two copies.
    pub fn open(folder: &Path, has_two: bool, accept_loss: bool) -> Result<Self, Error> {
        let unreadable = |error| Error::Unavailable(format!("the note of promises cannot be read: {error}"));
        let copies = read_copies(folder).map_err(unreadable)?;
        let promises = Self {
            folder: folder.to_owned(),
            found: copies,
            files: OnceLock::new(),
            complaints: LogLimiter::new(),
        };
        if !has_two || accept_loss {
            return Ok(promises);
        }
        if promises.newest().is_none() {
            let [(first, one), (second, other)] = copies;
            return Err(Error::Corrupt(format!(
                "the file {first} {one} and {second} {other}, so nobody can tell whether acknowledged writes are missing; \
                 restore a backup, or start with --accept-loss to go on with what is there"
            )));
        }
        for (name, copy) in copies.iter().filter(|(_, copy)| !matches!(copy, NoteCopy::Whole(_))) {
            tracing::warn!(
                "the file {name} {copy}; the other copy counts, and both are made anew with the next write"
            );
        }
        Ok(promises)
    }

    /// The newest note found when the folder was opened.
    pub fn newest(&self) -> Option<Tip> {
        newest(&self.found)
    }

    /// Ensures that both copies are whole. To be called before the first write.
    pub fn prepare(&self) -> io::Result<&[File; 2]> {
        if let Some(files) = self.files.get() {
            return Ok(files);
        }
        if !self.found.iter().all(|(_, copy)| matches!(copy, NoteCopy::Whole(_))) {
            make_copies(&self.folder, self.newest().unwrap_or_default())?;
        }
        let open = |name| File::options().write(true).open(self.folder.join(name));
        let files = [open(NAMES[0])?, open(NAMES[1])?];
        Ok(self.files.get_or_init(|| files))
    }

    pub fn note(&self, tip: Tip) {
        let written = self
            .prepare()
            .and_then(|files| files.iter().try_for_each(|file| file.write_all_at(&tip.to_bytes(), 0)));
        if let Err(error) = written
            && self.complaints.admit(Instant::now()).is_some()
        {
            tracing::warn!(%error, "the note of promises could not be written; a cut journal might go unnoticed");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use orrery_core::Lsn;

    fn tip(lsn: u64) -> Tip {
        Tip::default().next(Lsn(lsn), &[lsn])
    }

    /// A folder whose copies note commits 7 and 8, changed by `harm`.
    fn opened(harm: impl Fn(&Path)) -> (tempfile::TempDir, Result<Promises, Error>) {
        let place = tempfile::tempdir().expect("a folder");
        make_copies(place.path(), tip(7)).expect("made");
        fs::write(place.path().join(NAMES[1]), tip(8).to_bytes()).expect("written");
        harm(place.path());
        let promises = Promises::open(place.path(), true, false);
        (place, promises)
    }

    fn flip(folder: &Path, name: &str) {
        let mut bytes = fs::read(folder.join(name)).expect("read");
        bytes[3] ^= 1;
        fs::write(folder.join(name), bytes).expect("written");
    }

    #[test]
    fn the_newer_of_two_whole_copies_counts() {
        let (_place, promises) = opened(|_| {});
        assert_eq!(promises.expect("opened").newest(), Some(tip(8)));
    }

    #[test]
    fn one_damaged_copy_leaves_the_other_and_is_made_anew_with_the_first_write() {
        for (name, left) in [(NAMES[0], 8), (NAMES[1], 7)] {
            let (place, promises) = opened(|folder| flip(folder, name));
            let promises = promises.expect("opened");
            assert_eq!(promises.newest(), Some(tip(left)));
            assert_eq!(
                read_copy(&place.path().join(name)).expect("read"),
                NoteCopy::Damaged,
                "looking changes nothing"
            );
            promises.prepare().expect("prepared");
            let copies = read_copies(place.path()).expect("read").map(|(_, copy)| copy);
            assert_eq!(copies, [NoteCopy::Whole(tip(left)); 2]);
        }
    }

    #[test]
    fn a_folder_without_a_whole_copy_is_refused() {
        for harm in [
            |folder: &Path, name: &str| flip(folder, name),
            |folder: &Path, name: &str| {
                fs::remove_file(folder.join(name)).expect("removed");
            },
        ] {
            let both = |folder: &Path| NAMES.iter().for_each(|name| harm(folder, name));
            let (place, promises) = opened(both);
            let error = promises.err().expect("refused").to_string();
            assert!(error.contains("--accept-loss"), "{error}");
            let accepted = Promises::open(place.path(), true, true).expect("opened");
            accepted.note(tip(9));
            let copies = read_copies(place.path()).expect("read").map(|(_, copy)| copy);
            assert_eq!(copies, [NoteCopy::Whole(tip(9)); 2]);
        }
    }

    #[test]
    fn a_folder_of_a_format_before_may_have_one_copy_or_none() {
        let place = tempfile::tempdir().expect("a folder");
        let promises = Promises::open(place.path(), false, false).expect("opened");
        assert_eq!(promises.newest(), None);
        fs::write(place.path().join(NAMES[0]), tip(5).to_bytes()).expect("written");
        let promises = Promises::open(place.path(), false, false).expect("opened");
        assert_eq!(promises.newest(), Some(tip(5)));
        promises.prepare().expect("prepared");
        assert_eq!(read_copy(&place.path().join(NAMES[1])).expect("read"), NoteCopy::Whole(tip(5)));
    }
}
