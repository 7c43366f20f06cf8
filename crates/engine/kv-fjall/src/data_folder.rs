//! The data folder before anything is in it: made for its owner alone, and removed again if the start fails.

use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

const OWNER_ONLY: u32 = 0o700;
const OTHERS: u32 = 0o077;

/// A folder that this start may have made. Dropped before [`keep`](Self::keep), it takes what was made with it.
pub struct DataFolder {
    /// The folders that were not there, the outermost first.
    made: Vec<PathBuf>,
}

impl DataFolder {
    /// Makes the folder unless it is there.
    pub fn prepare(path: &Path) -> Result<Self, String> {
        let missing: Vec<&Path> = path
            .ancestors()
            .filter(|part| !part.as_os_str().is_empty())
            .take_while(|part| !part.exists())
            .collect();
        let mut folder = Self { made: Vec::new() };
        for part in missing.into_iter().rev() {
            match DirBuilder::new().mode(OWNER_ONLY).create(part) {
                Ok(()) => folder.made.push(part.to_owned()),
                // Somebody else made it meanwhile, and it is theirs to remove.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(format!("the folder {} cannot be made: {error}", part.display())),
            }
        }
        Ok(folder)
    }

    /// The start went well; the folder stays.
    pub fn keep(mut self) {
        self.made.clear();
    }
}

impl Drop for DataFolder {
    fn drop(&mut self) {
        // What is in the innermost is this start's own. The others may have come to be used since.
        let Some(folder) = self.made.pop() else { return };
        let removed = fs::remove_dir_all(folder);
        for outer in self.made.iter().rev().take_while(|_| removed.is_ok()) {
            let _ = fs::remove_dir(outer);
        }
    }
}

/// Closes the folder to everybody but its owner: keys, certificates and data lie in it.
pub fn restrict(path: &Path) {
    let mode = match fs::metadata(path) {
        Ok(known) => known.permissions().mode() & 0o777,
        Err(error) => return tracing::warn!(%error, "the permissions of the data folder cannot be read"),
    };
    if mode & OTHERS == 0 {
        return;
    }
    let (before, folder) = (format!("{mode:o}"), path.display());
    match fs::set_permissions(path, Permissions::from_mode(OWNER_ONLY)) {
        Ok(()) => {
            tracing::info!(%folder, before, "the data folder was open to other users; its mode is 700 now")
        }
        Err(error) => {
            tracing::warn!(%folder, before, %error, "the data folder is open to other users and cannot be closed")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_made_is_removed_unless_it_is_kept() {
        let here = tempfile::tempdir().expect("a folder");
        let data = here.path().join("a/b");
        let folder = DataFolder::prepare(&data).expect("made");
        assert_eq!(fs::metadata(&data).expect("there").permissions().mode() & 0o777, OWNER_ONLY);
        fs::write(data.join("file"), "x").expect("written");
        drop(folder);
        assert!(!here.path().join("a").exists());
        DataFolder::prepare(&data).expect("made").keep();
        assert!(data.exists());
        fs::write(data.join("file"), "x").expect("written");
        drop(DataFolder::prepare(&data).expect("there"));
        assert!(data.join("file").exists(), "a folder that was there stays");
    }

    #[test]
    fn a_folder_that_others_can_read_is_closed() {
        let here = tempfile::tempdir().expect("a folder");
        fs::set_permissions(here.path(), Permissions::from_mode(0o755)).expect("opened");
        restrict(here.path());
        assert_eq!(fs::metadata(here.path()).expect("there").permissions().mode() & 0o777, OWNER_ONLY);
    }
}
