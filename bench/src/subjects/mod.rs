//! What is compared: each can hold items and do the four operations on them.

mod bare;
mod bare_server;
mod engine;
mod http;
mod orrery;
mod postgres;

pub use bare::Bare;
pub use bare_server::bare_server;
pub use engine::{Engine, Style};
pub use http::{HttpLoad, container};
pub use orrery::{CACHE_AS_POSTGRES, OTHER_BUILD, Orrery};
pub use postgres::{Postgres, execute_all, postgres_settings};

use crate::cell::{Cell, Size};
use crate::error::Error;
use crate::sample::Sample;
use std::time::Duration;

pub trait Subject {
    fn name(&self) -> &'static str;

    /// Makes the set of items of this size, which reads, upserts and replaces choose from.
    fn fill(&mut self, size: Size) -> Result<(), Error>;

    /// One run of a workload. `Err` is a run that could not be made; failed operations are in the sample.
    fn run(&mut self, cell: Cell, span: Duration) -> Result<Sample, Error>;
}
