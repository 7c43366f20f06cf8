//! Removing the rows of a dropped container, some at a time. The container is out of the catalog before, so
//! nobody reads them. Its scripts go with the rest; what dropped databases and users leave is removed in `children`.

use crate::changes::{self, Entry};
use crate::item::ItemHead;
use crate::row::{self, Row};
use crate::spaces::{DOCUMENTS, INDEX, LOG, OVERFLOW};
use bytes::Bytes;
use orrery_catalog::change_log;
use orrery_catalog::jobs::{self, JobKind, Step};
use orrery_catalog::limits;
use orrery_catalog::subresources;
use orrery_core::Lsn;
use orrery_kv::{Error, LogRecord, META, Order, Read, Row as KeyValue, Space, Txn};

pub use orrery_catalog::jobs::jobs;

/// Removes some rows; done when none is left. The job's row says how far it has come, a space and a key, because a walk from
/// the beginning would go through all that was removed before.
pub fn step(txn: &mut Txn<'_>, container: u32) -> Result<Step, Error> {
    txn.frees();
    let job = jobs::key(JobKind::Sweep, container);
    let progress = txn.get(META, &job)?.unwrap_or_default();
    let (first, reached) = progress.split_first().map_or((0, &[][..]), |(at, key)| (usize::from(*at), key));
    let spaces = [
        (DOCUMENTS, row::of_container(container)),
        (INDEX, row::of_container(container)),
        (LOG, LogRecord::range(change_log::stream(container), Lsn(0))),
    ];
    for (at, (space, mut range)) in spaces.into_iter().enumerate().skip(first) {
        if at == first && reached > range.start.as_slice() {
            range.start = reached.to_vec();
        }
        let rows = txn.range(space, &range, Order::Ascending).take(limits::SWEEP_ROWS_MAX);
        let rows = rows.map(|row| row.map(|row| (text_of(space, &row), row.0)));
        let rows = rows.collect::<Result<Vec<_>, _>>()?;
        if let Some((_, last)) = rows.last() {
            txn.put(META, job, [&[at as u8], &last[..]].concat());
            for (text, key) in rows {
                txn.delete(space, key);
                text.into_iter().for_each(|text| txn.put_blind(OVERFLOW, text, None));
            }
            return Ok(Step::More);
        }
    }
    txn.delete(META, Row::Trimmed { container }.key());
    if subresources::sweep_scripts(txn, container)? == Step::More {
        return Ok(Step::More);
    }
    txn.delete(META, job);
    Ok(Step::Done)
}

/// The text that a row of items or of the log points to, if that lies apart. A damaged row points nowhere.
pub(crate) fn text_of(space: Space, row: &KeyValue) -> Option<Bytes> {
    let item = match space {
        DOCUMENTS => ItemHead::read(row.1.clone()).ok(),
        LOG => LogRecord::read(row)
            .and_then(Entry::read)
            .and_then(|entry| changes::replaced(&entry))
            .ok()
            .flatten(),
        _ => None,
    };
    item.and_then(|item| item.text_key())
}
