//! The part of the disk that is kept in reserve.

use crate::files::Files;
use crate::{Error, limits};
use orrery_kv::Purpose;
use std::sync::atomic::{AtomicU64, Ordering};

pub(crate) struct Room {
    reserve_bytes: u64,
    /// Bytes written since the last look that found room.
    unchecked_bytes: AtomicU64,
}

impl Room {
    pub fn new(reserve_bytes: u64) -> Self {
        Self { reserve_bytes, unchecked_bytes: AtomicU64::new(limits::DISK_CHECK_BYTES) }
    }

    /// Refuses what would use the reserve; what makes room may use all of it but the last share. Looks every few megabytes, and at
    /// every write while there is no room.
    pub fn check(&self, files: &dyn Files, bytes: u64, purpose: Purpose) -> Result<(), Error> {
        if self.unchecked_bytes.fetch_add(bytes, Ordering::Relaxed) < limits::DISK_CHECK_BYTES {
            return Ok(());
        }
        let free = files.free_bytes().map_err(|error| Error::unavailable(&error))?;
        let needs = |reserve: u64| reserve.saturating_add(bytes);
        if free >= needs(self.reserve_bytes) {
            self.unchecked_bytes.store(0, Ordering::Relaxed);
            return Ok(());
        }
        if purpose == Purpose::MakeRoom && free >= needs(self.reserve_bytes / limits::DISK_FREE_LAST_SHARE) {
            return Ok(());
        }
        Err(Error::Full(format!(
            "the disk has {} MiB free and {} MiB are kept in reserve; make room (deletes are still accepted)",
            free >> 20,
            self.reserve_bytes >> 20
        )))
    }
}
