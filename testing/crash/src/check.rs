//! `orrery check` on a folder that no server has open.

use std::io;
use std::path::Path;
use std::process::Command;

/// What the check said, and whether everything agreed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    pub code: Option<i32>,
    /// All that it printed.
    pub said: String,
}

impl Verdict {
    pub fn agrees(&self) -> bool {
        self.code == Some(0)
    }
}

pub fn check(binary: &Path, folder: &Path) -> io::Result<Verdict> {
    let output = Command::new(binary).arg("check").arg(folder).output()?;
    let said = [&output.stdout, &output.stderr].map(|printed| String::from_utf8_lossy(printed)).concat();
    Ok(Verdict { code: output.status.code(), said })
}
