//! What an owner that is gone leaves: removed in steps by the background, because it may be much. Numbers are never given
//! again, so nobody reads it meanwhile.

use super::Kind;
use crate::jobs::{JobKind, Step};
use crate::row::{self, Row};
use bytes::Bytes;
use orrery_core::{DatabaseRid, limits};
use orrery_kv::{Error, KeyRange, META, Order, Read, Txn};

/// Notes that the users and client encryption keys of a database must be removed, if it has any.
pub fn schedule_database(txn: &mut Txn<'_>, database: DatabaseRid) -> Result<(), Error> {
    schedule(txn, JobKind::Database, &[Kind::User, Kind::ClientEncryptionKey], database.0)
}

/// Notes that the permissions of a user must be removed, if it has any.
pub(super) fn schedule_user(txn: &mut Txn<'_>, user: u32) -> Result<(), Error> {
    schedule(txn, JobKind::User, &[Kind::Permission], user)
}

fn schedule(txn: &mut Txn<'_>, job_kind: JobKind, kinds: &[Kind], number: u32) -> Result<(), Error> {
    for kind in kinds {
        let count = Row::ChildCount { kind: kind.number(), owner: number };
        if txn.get(META, &count.key())?.is_some() {
            txn.put(META, job(job_kind, number), Bytes::new());
        }
    }
    Ok(())
}

fn job(kind: JobKind, number: u32) -> Bytes {
    Row::Job { kind, container: number }.key()
}

/// Removes some of the scripts of a dropped container.
pub fn sweep_scripts(txn: &mut Txn<'_>, container: u32) -> Result<Step, Error> {
    for kind in Kind::SCRIPTS {
        if remove_some(txn, kind, container)? {
            return Ok(Step::More);
        }
    }
    Ok(Step::Done)
}

/// Removes some of the permissions of a dropped user.
pub fn sweep_user(txn: &mut Txn<'_>, user: u32) -> Result<Step, Error> {
    txn.frees();
    if remove_some(txn, Kind::Permission, user)? {
        return Ok(Step::More);
    }
    txn.delete(META, job(JobKind::User, user));
    Ok(Step::Done)
}

/// Removes some of what a dropped database owned; each of its users becomes a job of its own.
pub fn sweep_database(txn: &mut Txn<'_>, database: u32) -> Result<Step, Error> {
    txn.frees();
    let places = some_keys(txn, &row::child_places(Kind::User.number(), database))?;
    for place in &places {
        let number = place.split_last_chunk::<8>().map(|(_, number)| u64::from_be_bytes(*number));
        schedule_user(txn, number.ok_or_else(|| Error::Corrupt("the place of a user".into()))? as u32)?;
    }
    if remove_some(txn, Kind::User, database)? || remove_some(txn, Kind::ClientEncryptionKey, database)? {
        return Ok(Step::More);
    }
    txn.delete(META, job(JobKind::Database, database));
    Ok(Step::Done)
}

/// Removes some rows of an owner's children; false if there was none.
fn remove_some(txn: &mut Txn<'_>, kind: Kind, owner: u32) -> Result<bool, Error> {
    let (kind_number, count) = (kind.number(), Row::ChildCount { kind: kind.number(), owner }.key());
    let mut keys = some_keys(txn, &row::children(kind_number, owner))?;
    keys.extend(some_keys(txn, &row::child_places(kind_number, owner))?);
    keys.extend(txn.get(META, &count)?.map(|_| count));
    let found = !keys.is_empty();
    keys.into_iter().for_each(|key| txn.delete(META, key));
    Ok(found)
}

fn some_keys(txn: &Txn<'_>, range: &KeyRange) -> Result<Vec<Bytes>, Error> {
    let rows = txn.range(META, range, Order::Ascending).take(limits::SWEEP_ROWS_MAX);
    rows.map(|row| row.map(|(key, _)| key)).collect()
}
