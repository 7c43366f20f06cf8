//! Removing the rows of a dropped table, some at a time. The table is out of the catalog before, so nobody reads them.

use crate::limits;
use crate::row::{self, Row};
use crate::spaces::{ENTITIES, LOG};
use orrery_catalog::change_log;
use orrery_catalog::jobs::Step;
use orrery_core::Lsn;
use orrery_kv::{Error, LogRecord, META, Order, Read, Txn};

/// The dropped tables that still have rows.
pub fn jobs(state: &dyn Read) -> Result<Vec<u32>, Error> {
    let rows = state.range(META, &row::sweeps(), Order::Ascending);
    rows.map(|row| row::read_sweep(&row?.0).ok_or_else(|| Error::Corrupt("a job's key".into()))).collect()
}

/// Removes some rows; done when none is left. The job's row says how far it has come, a space and a key, because a walk from
/// the beginning would go through all that was removed before.
pub fn step(txn: &mut Txn<'_>, table: u32) -> Result<Step, Error> {
    txn.frees();
    let job = Row::Sweep { table }.key();
    let progress = txn.get(META, &job)?.unwrap_or_default();
    let (first, reached) = progress.split_first().map_or((0, &[][..]), |(at, key)| (usize::from(*at), key));
    let spaces =
        [(ENTITIES, row::entities(table)), (LOG, LogRecord::range(change_log::stream(table), Lsn(0)))];
    for (at, (space, mut range)) in spaces.into_iter().enumerate().skip(first) {
        if at == first && reached > range.start.as_slice() {
            range.start = reached.to_vec();
        }
        let rows = txn.range(space, &range, Order::Ascending).take(limits::SWEEP_ROWS_MAX);
        let keys = rows.map(|row| row.map(|(key, _)| key)).collect::<Result<Vec<_>, _>>()?;
        if let Some(last) = keys.last() {
            txn.put(META, job, [&[at as u8], &last[..]].concat());
            keys.into_iter().for_each(|key| txn.delete(space, key));
            return Ok(Step::More);
        }
    }
    txn.delete(META, Row::Trimmed { table }.key());
    txn.delete(META, Row::Size { table }.key());
    txn.delete(META, job);
    Ok(Step::Done)
}
