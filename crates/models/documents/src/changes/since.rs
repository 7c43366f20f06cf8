//! Where in the log a moment is.
//!
//! Times ascend with the commits, except where the clock was set back. So a binary search finds the place, and begins
//! the reading a little earlier than that: who reads on passes over what is older ([`Start::since`](super::Start)), and a
//! clock that was set back by no more than [`limits::CHANGE_FEED_CLOCK_SETBACK_MILLIS_MAX`] hides nothing. Let `M` be that
//! much, `s` the moment, and `b` an entry older than `s - M`: then every entry before `b` is older than `s`.

use super::commits;
use orrery_core::{Lsn, Timestamp, limits};
use orrery_kv::{Error, Snapshot};

/// The position from which on every change of `moment` and later comes.
pub fn position_at(state: &Snapshot, container: u32, moment: Timestamp) -> Result<Lsn, Error> {
    let margin = limits::CHANGE_FEED_CLOCK_SETBACK_MILLIS_MAX;
    let moment = Timestamp::from_millis(moment.millis().saturating_sub(margin));
    // The first entry from `low` on may be too old; the one from `high` on is young enough, or there is none.
    let (mut low, mut high) = (1, state.lsn().0.saturating_add(1));
    while low < high {
        let middle = low + (high - low) / 2;
        match commits::after(state, container, Lsn(middle - 1)).next().transpose()? {
            Some(commit) if commit.entries[0].at() < moment => low = commit.lsn.0.saturating_add(1),
            _ => high = middle,
        }
    }
    Ok(Lsn(high.max(low).saturating_sub(1)))
}
