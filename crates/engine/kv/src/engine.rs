//! What an embedded or remote engine must provide; small, so that there can be more than one.
//!
//! Every implementation passes one contract suite (`contract`).

use crate::{Error, Put, Read, SpaceSet, Tip};
use std::sync::Arc;

/// Whether a write waits for the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sync {
    /// When `write` returns, the write survives a power cut.
    Data,
    /// When `write` returns, the write is applied. A crash may lose it, but only whole, and newest
    /// first.
    None,
}

/// The purpose of a write decides how much of the disk's reserve it may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// It may store more than it removes.
    Store,
    /// It removes rows to make room.
    MakeRoom,
}

/// One measurement of an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measure {
    pub name: &'static str,
    /// `bytes`, or empty.
    pub unit: &'static str,
    /// Whether it is a counter, which only grows.
    pub is_total: bool,
    pub value: u64,
}

pub trait Engine: Send + std::marker::Sync {
    /// The spaces that it was opened with.
    fn spaces(&self) -> &'static SpaceSet;

    /// A view of everything written so far, unaffected by later writes. Nobody writes while it is
    /// made.
    fn view(&self) -> Arc<dyn Read + Send + std::marker::Sync>;

    /// Applies the puts in order, all or none. After an error none is visible. If it is unknown
    /// whether they reached the disk, the error is [`Error::Uncertain`], every later write fails
    /// with [`Error::Halted`], and a restart finds either all of them or none.
    fn write(&self, puts: Vec<Put>, sync: Sync) -> Result<(), Error>;

    /// Refuses a write of this many bytes if the disk has no room. Called before each write.
    fn check_room(&self, _bytes: u64, _purpose: Purpose) -> Result<(), Error> {
        Ok(())
    }

    /// Records, outside the store itself, that everything up to `tip` was acknowledged. Cheap and
    /// not synced: after a power cut the record may be older than the store, never newer.
    fn note_promise(&self, tip: Tip);

    /// The store is idle: data that is only in memory and in the journal may be moved to where it
    /// is read fastest and needs no replay. Does not wait for that.
    fn idle(&self) -> Result<(), Error> {
        Ok(())
    }

    /// Measurements; may be empty.
    fn measures(&self) -> Vec<Measure> {
        Vec::new()
    }

    /// The newest acknowledged tip found when the engine was opened.
    fn promised(&self) -> Option<Tip>;
}
