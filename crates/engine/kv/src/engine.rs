//! What an embedded or remote store must be able to do; small, so that it can be done by more than one.
//!
//! One contract suite (`contract`) runs on every implementation.

use crate::{Error, Put, Read, Tip};
use std::sync::Arc;

/// Whether a write waits for the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sync {
    /// When `write` returns, a power cut does not take it away.
    Data,
    /// When `write` returns, it is applied; a crash may take it away, but whole and from the end.
    None,
}

/// What a write is for, which decides how much of the disk's reserve it may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// It may store more than it removes.
    Store,
    /// It removes rows, so that there will be more room.
    MakeRoom,
}

/// A number about an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measure {
    pub name: &'static str,
    /// `bytes`, or nothing.
    pub unit: &'static str,
    /// Whether it only grows.
    pub is_total: bool,
    pub value: u64,
}

pub trait Engine: Send + std::marker::Sync {
    /// A view of everything written so far, which later writes do not change. Nobody writes while it is made.
    fn view(&self) -> Arc<dyn Read + Send + std::marker::Sync>;

    /// Applies the puts in order, all or none. On an error none is visible now. Should it be unknown whether
    /// they reached the disk, the error is [`Error::Uncertain`], every later write fails with [`Error::Halted`], and after a
    /// restart either all or none is there.
    fn write(&self, puts: Vec<Put>, sync: Sync) -> Result<(), Error>;

    /// Refuses a write of so many bytes for which the disk has no room. To be asked before each write.
    fn check_room(&self, _bytes: u64, _purpose: Purpose) -> Result<(), Error> {
        Ok(())
    }

    /// Notes, outside the store itself, that everything up to `tip` was promised to somebody. Cheap and
    /// not synced: after a power cut an older note may be found, never a newer one than the store.
    fn note_promise(&self, tip: Tip);

    /// Nobody writes at the moment: what is only in memory and the journal may go to where it is read fastest and
    /// needs no replay. Does not wait until it is there.
    fn rest(&self) -> Result<(), Error> {
        Ok(())
    }

    /// How it is doing, in numbers; none if there is nothing to tell.
    fn measures(&self) -> Vec<Measure> {
        Vec::new()
    }

    /// The newest note found when the engine was opened.
    fn promised(&self) -> Option<Tip>;
}
