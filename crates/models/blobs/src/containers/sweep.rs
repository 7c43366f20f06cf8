//! Removing the rows of a dropped container, some at a time. The container is out of the catalog before, so nobody reads them.
//!
//! ```text
//! 1  states and blocks: their content and chunks with them    2  tags    3  the log: what its entries own with them
//! ```

use crate::blob::record;
use crate::changes;
use crate::content;
use crate::limits;
use crate::row::{self, Row};
use crate::spaces::{BLOBS, LOG, TAGS};
use crate::staging::StagedBlock;
use bytes::Bytes;
use orrery_catalog::change_log::{self, Entry};
use orrery_catalog::jobs::Step;
use orrery_core::Lsn;
use orrery_kv::{Error, LogRecord, META, Order, Read, Space, Txn};

/// The dropped containers that still have rows.
pub fn sweeps(state: &dyn Read) -> Result<Vec<u32>, Error> {
    let rows = state.range(META, &row::sweeps(), Order::Ascending);
    rows.map(|row| row::read_sweep(&row?.0)).collect()
}

/// Removes some rows; done when none is left. The job's row says how far it has come, because a walk from the beginning would
/// go through all that was removed before.
pub fn step(txn: &mut Txn<'_>, container: u32) -> Result<Step, Error> {
    txn.frees();
    let job = Row::Sweep { container }.key();
    let progress = txn.get(META, &job)?.unwrap_or_default();
    let (first, reached) = progress.split_first().map_or((0, &[][..]), |(at, key)| (usize::from(*at), key));
    let spaces = [
        (BLOBS, row::of_container(container)),
        (TAGS, row::tags_of_container(container)),
        (LOG, LogRecord::range(change_log::stream(container), Lsn(0))),
    ];
    for (at, (space, mut range)) in spaces.into_iter().enumerate().skip(first) {
        if at == first && reached > range.start.as_slice() {
            range.start = reached.to_vec();
        }
        let rows = txn.range(space, &range, Order::Ascending).take(limits::SWEEP_ROWS_MAX);
        let rows = rows.collect::<Result<Vec<_>, _>>()?;
        let Some((last, _)) = rows.last() else { continue };
        let mut reached = last.clone();
        let mut freed = 0;
        for (key, value) in rows {
            freed += remove(txn, container, space, &key, &value)?;
            if freed > limits::SWEEP_ROWS_MAX {
                reached = key;
                break;
            }
        }
        txn.put(META, job, [&[at as u8], &reached[..]].concat());
        return Ok(Step::More);
    }
    for row in [Row::Trimmed { container }, Row::Guard { container }] {
        txn.delete(META, row.key());
    }
    txn.delete(META, job);
    Ok(Step::Done)
}

/// Removes a row and what it owns. Returns how many rows of content went.
fn remove(
    txn: &mut Txn<'_>,
    container: u32,
    space: Space,
    key: &Bytes,
    value: &Bytes,
) -> Result<usize, Error> {
    let mut freed = 0;
    if space == BLOBS {
        if let Ok((name, state)) = row::read_state_key(key) {
            let blob = record::read(&name, state, value)?;
            if content::unshare(txn, blob.content)? {
                freed = content::free(txn, blob.content.ordinal, usize::MAX)?;
            }
        } else if row::is_block(key) {
            StagedBlock::read(value)?.release(txn);
        }
    } else if space == LOG {
        let entry = Entry::read(LogRecord::read(&(key.clone(), value.clone()))?)?;
        changes::release_dropped(txn, container, &entry)?;
    }
    txn.delete(space, key.clone());
    Ok(freed)
}
