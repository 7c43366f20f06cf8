//! The log of a table's changes: each has the row that it replaced or removed, so that an earlier state can be restored.
//!
//! Nothing reads entries but a restore, so trimming is simple: those past their retention go, except the newest of the table
//! and those that opening the store verifies.

use crate::entity::{EntityRow, Record};
use crate::limits;
use crate::operations::require_table;
use crate::row::Row;
use crate::spaces::LOG;
use bytes::Bytes;
use orrery_catalog::change_log;
use orrery_core::{Lsn, Timestamp};
use orrery_kv::{Error, LogRecord, META, Order, Read, Snapshot, Txn, unverified_before};
use std::time::Duration;

pub use change_log::{Change, Entry};

/// The entries of a table after a commit, in order.
pub fn after(
    state: &dyn Read,
    table: u32,
    after: Lsn,
) -> impl Iterator<Item = Result<Entry, Error>> + use<'_> {
    let range = LogRecord::range(change_log::stream(table), Lsn(after.0.saturating_add(1)));
    state.range(LOG, &range, Order::Ascending).map(|row| Entry::read(LogRecord::read(&row?)?))
}

/// The entity that a change replaced or removed.
pub fn replaced(entry: &Entry) -> Result<Option<EntityRow>, Error> {
    let Some(image) = entry.image() else { return Ok(None) };
    EntityRow::read(Bytes::copy_from_slice(entry.key()), Record::read(image)?.bytes().clone()).map(Some)
}

/// Up to which commit entries are gone.
pub fn horizon(state: &dyn Read, table: u32) -> Result<Lsn, Error> {
    match state.get(META, &Row::Trimmed { table }.key())? {
        None => Ok(Lsn(0)),
        Some(bytes) => match bytes.first_chunk() {
            Some(lsn) if bytes.len() == 8 => Ok(Lsn(u64::from_be_bytes(*lsn))),
            _ => Err(Error::Corrupt("the row that says how far a log is trimmed".into())),
        },
    }
}

/// One step: entries to remove, and how far the log is trimmed then.
#[derive(Debug)]
pub struct Trimming {
    entries: Vec<Bytes>,
    horizon: Lsn,
}

impl Trimming {
    pub fn entries(&self) -> usize {
        self.entries.len()
    }
}

/// The next step, if there is anything to remove. What was decided on a snapshot stays right.
pub fn plan_trimming(state: &Snapshot, table: u32, now: Timestamp) -> Result<Option<Trimming>, Error> {
    let start = horizon(state, table)?;
    let end = unverified_before(state.lsn());
    let retention = Duration::from_secs(limits::LOG_RETENTION_SECONDS);
    let mut step = Trimming { entries: Vec::new(), horizon: start };
    let mut bytes = 0;
    let mut entries = after(state, table, start).peekable();
    // Whole commits, so that the horizon is between two of them.
    let mut commit = Vec::new();
    while let Some(entry) = entries.next().transpose()? {
        let (lsn, is_young) = (entry.lsn(), entry.at().plus(retention) > now);
        bytes += entry.bytes();
        commit.push(entry.log_key());
        let is_enough =
            step.entries.len() >= limits::LOG_TRIM_ENTRIES_MAX || bytes >= limits::LOG_TRIM_BYTES_MAX;
        match entries.peek() {
            _ if lsn >= end || is_young => break,
            // The next entry will be linked to the newest.
            None => break,
            Some(Ok(next)) if next.lsn() == lsn => {}
            Some(_) => {
                step.entries.append(&mut commit);
                step.horizon = lsn;
                if is_enough {
                    break;
                }
            }
        }
    }
    Ok((step.horizon > start).then_some(step))
}

/// Does what was planned, unless the table is gone by then.
pub fn apply_trimming(txn: &mut Txn<'_>, table: u32, step: &Trimming) {
    txn.frees();
    for entry in &step.entries {
        txn.put_blind(LOG, entry.clone(), None);
    }
    txn.put(META, Row::Trimmed { table }.key(), step.horizon.0.to_be_bytes().to_vec());
    require_table(txn, table);
}
