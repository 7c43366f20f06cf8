//! The server itself, on a folder of its own.

use super::Subject;
use super::http::{HttpLoad, Replies};
use crate::cell::{Cell, Size};
use crate::error::Error;
use crate::sample::Sample;
use orrery_testing_client::{Options, ServerProcess};
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;

/// The memory that PostgreSQL is given as `shared_buffers`.
pub const CACHE_AS_POSTGRES: [&str; 2] = ["--cache-mb", "1024"];

/// The name of the build that `--beside` gives.
pub const OTHER_BUILD: &str = "orrery, other build";

pub struct Orrery {
    name: &'static str,
    pub load: HttpLoad,
    pub server: ServerProcess,
    /// Last, so that the folder goes after the process.
    _folder: TempDir,
}

impl Orrery {
    /// A server on an empty folder below `base`, with the containers made.
    pub fn start(base: &Path, options: &Options) -> Result<Self, Error> {
        let folder = TempDir::with_prefix_in("orrery-bench-", base).map_err(|e| Error::Io("no folder", e))?;
        let server = ServerProcess::start(folder.path(), options)?;
        let load = HttpLoad::new(server.cosmos())?;
        load.create_containers()?;
        Ok(Self { name: "orrery", load, server, _folder: folder })
    }

    /// The same under another name, where two builds are compared.
    pub fn named(self, name: &'static str) -> Self {
        Self { name, ..self }
    }

    /// One reply of each kind, for the bare server to imitate. The sets must be filled.
    pub fn replies(&self) -> Result<Replies, Error> {
        self.load.capture()
    }
}

impl Subject for Orrery {
    fn name(&self) -> &'static str {
        self.name
    }

    fn fill(&mut self, size: Size) -> Result<(), Error> {
        self.load.fill(size, size.set_items())
    }

    fn run(&mut self, cell: Cell, span: Duration) -> Result<Sample, Error> {
        self.load.run(cell, span)
    }
}
