//! Subresource changes. All run in the catalog's one scope, so they are serialized, also with changes of
//! owners.

use super::record::find;
use super::record::{self, Count, Subresource};
use super::{Definition, Kind, Owner, owner};
use crate::Stamp;
use crate::definition::DefinitionError;
use crate::precondition::{Preconditions, Verdict};
use crate::row::Row;
use bytes::Bytes;
use orrery_kv::{Error, META, Read, Txn};

/// The capacity of a user's resource id; deleted ones count, because numbers are not reused.
const NUMBER_MAX: u64 = (1 << 31) - 1;

#[derive(Debug, thiserror::Error)]
pub enum SubresourceError {
    #[error("Resource with specified id, name, or unique index already exists.")]
    Exists,
    #[error("Resource Not Found: there is no such {0}.")]
    Missing(&'static str),
    #[error("Resource Not Found: the {0} is not there any more.")]
    OwnerMissing(&'static str),
    #[error("One of the specified pre-condition is not met")]
    Changed,
    #[error("there are {max} {what}s already, which is as many as there may be; delete one first")]
    TooMany { what: &'static str, max: u64 },
    #[error("the id of a {0} cannot be changed")]
    Renamed(&'static str),
    #[error(transparent)]
    Definition(#[from] DefinitionError),
    #[error(transparent)]
    Store(#[from] Error),
}

pub fn create(
    txn: &mut Txn<'_>,
    owner: &Owner,
    kind: Kind,
    definition: &Definition,
    stamp: Stamp,
) -> Result<Subresource, SubresourceError> {
    the_owner(txn, owner)?;
    if is_taken(txn, owner, kind, definition)? {
        return Err(SubresourceError::Exists);
    }
    insert(txn, owner, kind, definition, stamp)
}

/// The subresource, and whether it was created.
pub fn upsert(
    txn: &mut Txn<'_>,
    owner: &Owner,
    kind: Kind,
    definition: &Definition,
    conditions: Preconditions,
    stamp: Stamp,
) -> Result<(Subresource, bool), SubresourceError> {
    the_owner(txn, owner)?;
    if is_taken(txn, owner, kind, definition)? {
        let name = definition.name().as_str();
        return Ok((replace(txn, owner, kind, name, definition, conditions, stamp)?, false));
    }
    Ok((insert(txn, owner, kind, definition, stamp)?, true))
}

/// Replaces everything except the resource id; a new id in the body renames it, unless the name is taken.
pub fn replace(
    txn: &mut Txn<'_>,
    owner: &Owner,
    kind: Kind,
    name_or_rid: &str,
    definition: &Definition,
    conditions: Preconditions,
    stamp: Stamp,
) -> Result<Subresource, SubresourceError> {
    the_owner(txn, owner)?;
    let subresource = load_for_update(txn, owner, kind, name_or_rid, conditions)?;
    if subresource.name != *definition.name() {
        if kind == Kind::ClientEncryptionKey {
            return Err(SubresourceError::Renamed(kind.noun()));
        }
        if is_taken(txn, owner, kind, definition)? {
            return Err(SubresourceError::Exists);
        }
        txn.delete(META, row(owner, kind, subresource.name.as_str()).key());
    }
    Ok(put(txn, owner, kind, subresource.ordinal, definition, stamp))
}

pub fn delete(
    txn: &mut Txn<'_>,
    owner: &Owner,
    kind: Kind,
    name_or_rid: &str,
    conditions: Preconditions,
) -> Result<(), SubresourceError> {
    the_owner(txn, owner)?;
    let subresource = load_for_update(txn, owner, kind, name_or_rid, conditions)?;
    txn.frees();
    txn.delete(META, row(owner, kind, subresource.name.as_str()).key());
    txn.delete(META, place(owner, kind, subresource.ordinal).key());
    let count = count(txn, kind, owner.number())?;
    put_count(txn, kind, owner.number(), Count { live: count.live.saturating_sub(1), ..count });
    if kind == Kind::User {
        owner::schedule_user(txn, subresource.ordinal as u32)?;
    }
    Ok(())
}

fn insert(
    txn: &mut Txn<'_>,
    owner: &Owner,
    kind: Kind,
    definition: &Definition,
    stamp: Stamp,
) -> Result<Subresource, SubresourceError> {
    let before = count(txn, kind, owner.number())?;
    if before.live >= kind.count_max() {
        return Err(SubresourceError::TooMany { what: kind.noun(), max: kind.count_max() });
    }
    let ordinal = next_number(txn, owner, kind)?;
    if ordinal > NUMBER_MAX {
        return Err(SubresourceError::TooMany { what: kind.noun(), max: NUMBER_MAX });
    }
    let now = count(txn, kind, owner.number())?;
    put_count(txn, kind, owner.number(), Count { live: now.live + 1, ..now });
    Ok(put(txn, owner, kind, ordinal, definition, stamp))
}

/// Users are numbered across the account, because their permissions' keys begin with the number alone.
fn next_number(txn: &mut Txn<'_>, owner: &Owner, kind: Kind) -> Result<u64, Error> {
    const ACCOUNT: u32 = 0;
    let counter = if kind == Kind::User { ACCOUNT } else { owner.number() };
    let count = count(txn, kind, counter)?;
    put_count(txn, kind, counter, Count { last: count.last + 1, ..count });
    Ok(count.last + 1)
}

fn put(
    txn: &mut Txn<'_>,
    owner: &Owner,
    kind: Kind,
    ordinal: u64,
    definition: &Definition,
    stamp: Stamp,
) -> Subresource {
    let name = definition.name().clone();
    let members = definition.members().clone();
    let subresource = Subresource { kind, name, ordinal, etag: stamp.etag, written: stamp.now, members };
    let name = subresource.name.as_str();
    txn.put(META, row(owner, kind, name).key(), record::write(&subresource));
    txn.put(META, place(owner, kind, ordinal).key(), Bytes::copy_from_slice(name.as_bytes()));
    subresource
}

fn the_owner(txn: &Txn<'_>, owner: &Owner) -> Result<(), SubresourceError> {
    if owner.is_there(txn)? { Ok(()) } else { Err(SubresourceError::OwnerMissing(owner.noun())) }
}

fn load_for_update(
    txn: &Txn<'_>,
    owner: &Owner,
    kind: Kind,
    name_or_rid: &str,
    conditions: Preconditions,
) -> Result<Subresource, SubresourceError> {
    let subresource = find(txn, owner, kind, name_or_rid)?.ok_or(SubresourceError::Missing(kind.noun()))?;
    match conditions.check(subresource.etag) {
        Verdict::Holds => Ok(subresource),
        Verdict::Changed | Verdict::Same => Err(SubresourceError::Changed),
    }
}

fn is_taken(txn: &Txn<'_>, owner: &Owner, kind: Kind, definition: &Definition) -> Result<bool, Error> {
    Ok(txn.get(META, &row(owner, kind, definition.name().as_str()).key())?.is_some())
}

fn count(txn: &Txn<'_>, kind: Kind, owner: u32) -> Result<Count, Error> {
    Count::read(txn.get(META, &Row::SubresourceCount { kind: kind.number(), owner }.key())?)
}

fn put_count(txn: &mut Txn<'_>, kind: Kind, owner: u32, count: Count) {
    txn.put(META, Row::SubresourceCount { kind: kind.number(), owner }.key(), count.write());
}

fn row<'a>(owner: &Owner, kind: Kind, name: &'a str) -> Row<'a> {
    Row::Subresource { kind: kind.number(), owner: owner.number(), name }
}

fn place<'a>(owner: &Owner, kind: Kind, ordinal: u64) -> Row<'a> {
    Row::SubresourceLocator { kind: kind.number(), owner: owner.number(), ordinal }
}
