//! The links of the whole log: every entry that was not trimmed follows from the one before it.

use crate::changes::horizon;
use crate::spaces::LOG;
use orrery_core::Lsn;
use orrery_kv::{Error, Read, verify_log};

/// A sentence for each stream of the log that is broken. `tip` is the newest commit.
pub fn check_logs(state: &dyn Read, tip: Lsn) -> Result<Vec<String>, Error> {
    let mut faults = Vec::new();
    for stream in state.streams(LOG)? {
        // Up to the horizon entries are removed and shortened, and their links do not fit any more.
        let trimmed = u32::try_from(stream).map_or(Ok(Lsn(0)), |container| horizon(state, container))?;
        if let Err(error) = verify_log(state, LOG, stream, Lsn(trimmed.0.saturating_add(1)), tip) {
            faults.push(error.to_string());
        }
    }
    Ok(faults)
}
