//! Retention of old versions, and finding the log position of a moment.
//!
//! A container keeps old versions for seven days, or for as long as its change feed policy says. Within that time the
//! all-versions feed goes on from any position; a position with older changes after it has lost some, and is refused.

use super::log;
use crate::limits;
use crate::row::Row;
use orrery_catalog::Container;
use orrery_catalog::limits::CHANGE_FEED_RETENTION_MINUTES_MAX;
use orrery_core::{Lsn, Timestamp};
use orrery_kv::{Error, META, Read, Snapshot};
use std::time::Duration;

#[derive(Debug, thiserror::Error)]
pub enum NotRetained {
    #[error(
        "The all-versions-and-deletes change feed is off: the container's changeFeedPolicy has a retentionDuration of 0. Raise it, or read the latest versions."
    )]
    Off,
    #[error(
        "You must read the change feed from within the retention period. The continuation is older than that, {minutes} minutes: changes after it are no longer kept. Begin again from now."
    )]
    TooOld { minutes: u64 },
    #[error(transparent)]
    Store(#[from] Error),
}

/// How long a container keeps what its items were.
pub fn retention(container: &Container) -> Duration {
    let minutes_max = CHANGE_FEED_RETENTION_MINUTES_MAX as u64;
    let minutes = container.definition().change_feed().map(|policy| u64::from(policy.retention_minutes));
    Duration::from_secs(minutes.unwrap_or(minutes_max) * 60)
}

/// Up to which commit old versions may be gone.
pub fn horizon(state: &dyn Read, container: u32) -> Result<Lsn, Error> {
    match state.get(META, &Row::Trimmed { container }.key())? {
        None => Ok(Lsn(0)),
        Some(bytes) => match bytes.first_chunk() {
            Some(lsn) if bytes.len() == 8 => Ok(Lsn(u64::from_be_bytes(*lsn))),
            _ => Err(Error::Corrupt("the row that says how far a log is trimmed".into())),
        },
    }
}

/// Whether every change after `after` is still told with all its versions. What the trimming has not come to yet is
/// refused all the same, so that the answer is a matter of time and not of luck.
pub fn check_retained(
    state: &Snapshot,
    container: &Container,
    after: Lsn,
    now: Timestamp,
) -> Result<(), NotRetained> {
    let retention = retention(container);
    if retention.is_zero() {
        return Err(NotRetained::Off);
    }
    let next = log::after(state, container.number(), after).next().transpose()?;
    let is_old = next.is_some_and(|next| next.entries[0].at().plus(retention) < now);
    if is_old || after < horizon(state, container.number())? {
        return Err(NotRetained::TooOld { minutes: retention.as_secs() / 60 });
    }
    Ok(())
}

// Where in the log a moment is.
//
// Times ascend with the commits, except where the clock was set back. So a binary search finds the place, and begins
// the reading a little earlier than that: who reads on passes over what is older ([`Start::since`](super::Start)), and a
// clock that was set back by no more than [`limits::CHANGE_FEED_CLOCK_SETBACK_MILLIS_MAX`] hides nothing. Let `M` be that
// much, `s` the moment, and `b` an entry older than `s - M`: then every entry before `b` is older than `s`.

/// The position from which on every change of `moment` and later comes.
pub fn position_at(state: &Snapshot, container: u32, moment: Timestamp) -> Result<Lsn, Error> {
    let margin = limits::CHANGE_FEED_CLOCK_SETBACK_MILLIS_MAX;
    let moment = Timestamp::from_millis(moment.millis().saturating_sub(margin));
    // The first entry from `low` on may be too old; the one from `high` on is young enough, or there is none.
    let (mut low, mut high) = (1, state.lsn().0.saturating_add(1));
    while low < high {
        let middle = low + (high - low) / 2;
        match log::after(state, container, Lsn(middle - 1)).next().transpose()? {
            Some(commit) if commit.entries[0].at() < moment => low = commit.lsn.0.saturating_add(1),
            _ => high = middle,
        }
    }
    Ok(Lsn(high.max(low).saturating_sub(1)))
}
