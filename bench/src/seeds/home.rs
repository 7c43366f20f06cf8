//! Where a scene's data lies: a folder that goes with the run, or with `--keep` one that the next run finds again.
//!
//! ```text
//!   <folder>/orrery-bench-sets/growth-4110000-v1/orrery             the server's data folder
//!                                               /orrery.loaded      there once it is all loaded
//!                                               /postgres           the cluster
//!                                               /postgres.loaded
//! ```

use super::scene::Scene;
use crate::Settings;
use crate::error::Error;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// To be raised when items are drawn differently, or are stored in a way that the newest server does not read: what
/// is kept of an older version is not used.
const VERSION: u32 = 2;

pub enum Home {
    Kept(PathBuf),
    Temporary(TempDir),
}

impl Home {
    /// A scene that is changed by what is done in it is never kept.
    pub fn open(settings: &Settings, scene: &Scene) -> Result<Self, Error> {
        let no_folder = |error| Error::Io("no folder", error);
        if settings.keep && !scene.changes_its_sets() {
            let name = format!("{}-{}-v{VERSION}", scene.name, scene.items());
            let path = settings.folder.join("orrery-bench-sets").join(name);
            std::fs::create_dir_all(&path).map_err(no_folder)?;
            return Ok(Self::Kept(path));
        }
        let prefix = format!("orrery-bench-{}-", scene.name);
        let folder = TempDir::with_prefix_in(prefix, &settings.folder).map_err(no_folder)?;
        // Others must pass through it: PostgreSQL has a user of its own.
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(folder.path(), mode).map_err(no_folder)?;
        Ok(Self::Temporary(folder))
    }

    /// The folder of one holder, filled by `load` unless it is already.
    pub fn loaded(
        &self,
        holder: &str,
        load: impl FnOnce(&Path) -> Result<(), Error>,
    ) -> Result<PathBuf, Error> {
        let (folder, mark) = (self.path().join(holder), self.path().join(format!("{holder}.loaded")));
        if mark.is_file() {
            eprintln!("{} is loaded already", folder.display());
            return Ok(folder);
        }
        load(&self.empty(holder)?)?;
        std::fs::write(mark, "").map_err(|e| Error::Io("a loaded folder cannot be marked", e))?;
        Ok(folder)
    }

    /// A new folder for one holder; what an earlier run left there goes.
    pub fn empty(&self, holder: &str) -> Result<PathBuf, Error> {
        let folder = self.path().join(holder);
        if folder.exists() {
            std::fs::remove_dir_all(&folder).map_err(|e| Error::Io("a half-loaded folder stays", e))?;
        }
        std::fs::create_dir(&folder).map_err(|e| Error::Io("no folder", e))?;
        Ok(folder)
    }

    fn path(&self) -> &Path {
        match self {
            Self::Kept(path) => path,
            Self::Temporary(folder) => folder.path(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill(folder: &Path) -> Result<(), Error> {
        std::fs::write(folder.join("data"), "x").map_err(|e| Error::Io("test", e))
    }

    #[test]
    fn what_is_loaded_once_is_found_again() {
        let base = TempDir::new().unwrap();
        let home = || Home::Kept(base.path().to_owned());
        let first = home().loaded("orrery", fill).unwrap();
        let again = home().loaded("orrery", |_| panic!("it is loaded")).unwrap();
        assert_eq!(first, again);
        assert!(again.join("data").is_file());
    }

    #[test]
    fn what_was_loaded_halfway_is_loaded_anew() {
        let base = TempDir::new().unwrap();
        let home = Home::Kept(base.path().to_owned());
        let halfway = |folder: &Path| {
            fill(folder)?;
            Err(Error::Unexpected("the disk is full".to_owned()))
        };
        assert!(home.loaded("orrery", halfway).is_err());
        let folder = home.loaded("orrery", |_| Ok(())).unwrap();
        assert!(!folder.join("data").exists());
    }
}
