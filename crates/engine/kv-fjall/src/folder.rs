//! The data folder: created, recognised, and locked against a second process.

use crate::limits;
use crate::promise;
use orrery_kv::{Error, Purpose};
use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The version of everything that is stored in a folder. Raised when older builds would misread
/// what this one writes.
pub const FORMAT_VERSION: u32 = 7;
/// The oldest format that this build reads.
const FORMAT_VERSION_MIN: u32 = 2;
/// The first format with two copies of the acknowledgement note.
const FORMAT_VERSION_TWO_NOTES: u32 = 6;
const FORMAT_PREFIX: &str = "orrery data folder, format ";

/// A data folder that this process holds.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    /// The format of the folder when it was opened.
    format: u32,
    /// The lock lasts as long as the open file.
    _lock: File,
}

#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    #[error("the data folder {0} is in use by another orrery process; stop that one or give another --data")]
    Locked(PathBuf),
    #[error(
        "the data folder {path} has format {found}, and this build reads up to format {FORMAT_VERSION}; use a newer orrery"
    )]
    Newer { path: PathBuf, found: u32 },
    #[error(
        "the data folder {path} has format {found} of an orrery before indexes, and this build reads formats {FORMAT_VERSION_MIN} to {FORMAT_VERSION}; copy its items over with that orrery, or give another --data"
    )]
    Older { path: PathBuf, found: u32 },
    #[error("{0} has files in it but is not an orrery data folder; give an empty or new folder as --data")]
    Foreign(PathBuf),
    #[error("the data folder {path} cannot be used: {error}")]
    Io { path: PathBuf, error: io::Error },
}

impl Folder {
    /// Opens the folder, creating it if it is missing.
    pub fn open(path: &Path) -> Result<Self, FolderError> {
        let io = |error| FolderError::Io { path: path.to_owned(), error };
        fs::create_dir_all(path).map_err(io)?;
        let lock = take_lock(path)?;
        let format = match fs::read_to_string(path.join("FORMAT")) {
            Ok(text) => check_format(path, &text)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                refuse_foreign(path)?;
                // A folder that says it has two notes has them, whenever the process ends.
                let found = promise::newest(&promise::read_copies(path).map_err(io)?);
                promise::make_copies(path, found.unwrap_or_default()).map_err(io)?;
                write_format(path).map_err(io)?;
                FORMAT_VERSION
            }
            // Bytes that are not text.
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                return Err(FolderError::Foreign(path.to_owned()));
            }
            Err(error) => return Err(io(error)),
        };
        Ok(Self { path: path.to_owned(), format, _lock: lock })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the folder had two copies of the acknowledgement note when it was created or marked.
    pub fn has_two_notes(&self) -> bool {
        self.format >= FORMAT_VERSION_TWO_NOTES
    }

    /// Marks the folder with this build's format. To be called before the first row is written and
    /// after both copies of the note exist.
    pub fn mark(&self) -> Result<(), FolderError> {
        let io = |error| FolderError::Io { path: self.path.clone(), error };
        let format = fs::read_to_string(self.path.join("FORMAT")).map_err(io)?;
        if format.trim_end() == format!("{FORMAT_PREFIX}{FORMAT_VERSION}") {
            return Ok(());
        }
        write_format(&self.path).map_err(io)
    }
}

/// The disk of a folder, part of which is kept in reserve.
#[derive(Clone, Debug)]
pub(crate) struct Disk {
    pub path: PathBuf,
    pub reserve_bytes: u64,
}

impl Disk {
    /// Refuses what would use the reserve. Writes that make room may use all of it but the last
    /// share.
    pub fn check_room(&self, bytes: u64, purpose: Purpose) -> Result<(), Error> {
        let kept = match purpose {
            Purpose::Store => self.reserve_bytes,
            Purpose::MakeRoom => self.reserve_bytes / limits::DISK_FREE_LAST_SHARE,
        };
        let stat = rustix::fs::statvfs(&self.path).map_err(|error| Error::Unavailable(error.to_string()))?;
        let free = stat.f_bavail.saturating_mul(stat.f_frsize);
        if free >= kept.saturating_add(bytes) {
            return Ok(());
        }
        let (free, kept) = (free >> 20, kept >> 20);
        Err(Error::Full(match purpose {
            Purpose::Store => format!(
                "the disk has {free} MiB free and {kept} MiB are kept in reserve; make room (deletes are still accepted)"
            ),
            Purpose::MakeRoom => format!(
                "the disk has {free} MiB free and the last {kept} MiB of the reserve are kept from deletes too; make room outside \
                 the data folder"
            ),
        }))
    }
}

fn take_lock(path: &Path) -> Result<File, FolderError> {
    let io = |error| FolderError::Io { path: path.to_owned(), error };
    let file =
        File::options().create(true).truncate(false).write(true).open(path.join("lock")).map_err(io)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(FolderError::Locked(path.to_owned())),
        Err(TryLockError::Error(error)) => Err(io(error)),
    }
}

fn check_format(path: &Path, text: &str) -> Result<u32, FolderError> {
    let version = text.strip_prefix(FORMAT_PREFIX).and_then(|rest| rest.trim().parse::<u32>().ok());
    match version {
        None => Err(FolderError::Foreign(path.to_owned())),
        Some(found) if found > FORMAT_VERSION => Err(FolderError::Newer { path: path.to_owned(), found }),
        Some(found) if found < FORMAT_VERSION_MIN => Err(FolderError::Older { path: path.to_owned(), found }),
        Some(found) => Ok(found),
    }
}

/// A folder without our mark must be empty, so that we never write into someone's home.
fn refuse_foreign(path: &Path) -> Result<(), FolderError> {
    let io = |error| FolderError::Io { path: path.to_owned(), error };
    for entry in fs::read_dir(path).map_err(io)? {
        // Left by an earlier start that was interrupted.
        let name = entry.map_err(io)?.file_name();
        let is_note =
            promise::NAMES.iter().any(|note| name.to_str().is_some_and(|name| name.starts_with(note)));
        if name != "lock" && name != "FORMAT.new" && !is_note {
            return Err(FolderError::Foreign(path.to_owned()));
        }
    }
    Ok(())
}

fn write_format(path: &Path) -> io::Result<()> {
    let mut file = File::create(path.join("FORMAT.new"))?;
    writeln!(file, "{FORMAT_PREFIX}{FORMAT_VERSION}")?;
    file.sync_all()?;
    fs::rename(path.join("FORMAT.new"), path.join("FORMAT"))?;
    File::open(path)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_taken_once() {
        let place = tempfile::tempdir().expect("a folder");
        let first = Folder::open(&place.path().join("data")).expect("taken");
        let second = Folder::open(&place.path().join("data"));
        assert!(matches!(second, Err(FolderError::Locked(_))), "{second:?}");
        drop(first);
        Folder::open(&place.path().join("data")).expect("free again");
    }

    #[test]
    fn another_format_is_refused_with_a_sentence() {
        let place = tempfile::tempdir().expect("a folder");
        drop(Folder::open(place.path()).expect("made"));
        for (format, expected) in [(FORMAT_VERSION + 1, "use a newer orrery"), (1, "before indexes")] {
            fs::write(place.path().join("FORMAT"), format!("{FORMAT_PREFIX}{format}\n")).expect("written");
            let error = Folder::open(place.path()).expect_err("refused").to_string();
            assert!(error.contains(&format!("has format {format}")) && error.contains(expected), "{error}");
        }
    }

    #[test]
    fn a_folder_of_the_format_before_is_taken_and_is_of_this_one_when_it_is_marked() {
        let place = tempfile::tempdir().expect("a folder");
        drop(Folder::open(place.path()).expect("made"));
        let read = || fs::read_to_string(place.path().join("FORMAT")).expect("read");
        let before = format!("{FORMAT_PREFIX}{FORMAT_VERSION_MIN}\n");
        fs::write(place.path().join("FORMAT"), &before).expect("written");
        let folder = Folder::open(place.path()).expect("taken");
        assert_eq!(read(), before, "who only looks changes nothing");
        folder.mark().expect("marked");
        assert_eq!(read(), format!("{FORMAT_PREFIX}{FORMAT_VERSION}\n"));
    }

    #[test]
    fn a_start_that_was_stopped_halfway_is_begun_again() {
        let place = tempfile::tempdir().expect("a folder");
        fs::write(place.path().join("FORMAT.new"), "orr").expect("written");
        Folder::open(place.path()).expect("made");
    }

    #[test]
    fn somebody_elses_folder_is_left_alone() {
        let place = tempfile::tempdir().expect("a folder");
        fs::write(place.path().join("thesis.txt"), "mine").expect("written");
        assert!(matches!(Folder::open(place.path()), Err(FolderError::Foreign(_))));
    }
}
