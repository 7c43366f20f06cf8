//! The owner of a subresource, and the sweep after a dropped owner.

use crate::jobs::{JobKind, Step};
use crate::limits;
use crate::row::{self, Row};
use crate::subresources::Kind;
use bytes::Bytes;
use orrery_core::{
    ClientKeyRid, ContainerRid, DatabaseName, DatabaseRid, ItemRid, PermissionRid, ResourceKind, UserRid,
};
use orrery_kv::{Error, KeyRange, META, Order, Read, Txn};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Owner {
    Database { name: DatabaseName, rid: DatabaseRid },
    Container(ContainerRid),
    User { database: DatabaseName, rid: UserRid },
}

impl Owner {
    /// The number in its subresources' keys; unique among owners of one kind of subresource.
    pub(crate) fn number(&self) -> u32 {
        match self {
            Self::Database { rid, .. } => rid.0,
            Self::Container(rid) => rid.number(),
            Self::User { rid, .. } => rid.number(),
        }
    }

    pub fn rid(&self) -> String {
        match self {
            Self::Database { rid, .. } => rid.to_string(),
            Self::Container(rid) => rid.to_string(),
            Self::User { rid, .. } => rid.to_string(),
        }
    }

    /// By resource ids, with a trailing slash.
    pub fn self_link(&self) -> String {
        match self {
            Self::Database { rid, .. } => format!("dbs/{rid}/"),
            Self::Container(rid) => format!("dbs/{}/colls/{rid}/", rid.database),
            Self::User { rid, .. } => format!("dbs/{}/users/{rid}/", rid.database),
        }
    }

    /// Its name in a sentence.
    pub fn noun(&self) -> &'static str {
        match self {
            Self::Database { .. } => "database",
            Self::Container(_) => "container",
            Self::User { .. } => "user",
        }
    }

    /// The resource id of one of this owner's subresources.
    pub fn subresource_rid(&self, kind: Kind, ordinal: u64) -> String {
        match (self, script(kind)) {
            (Self::Container(rid), Some(script)) => ItemRid::new(*rid, script, ordinal).to_string(),
            (Self::Container(rid), None) => ItemRid::new(*rid, ResourceKind::Conflict, ordinal).to_string(),
            (Self::User { rid, .. }, _) => PermissionRid { user: *rid, ordinal }.to_string(),
            (Self::Database { rid, .. }, _) if kind == Kind::User => {
                UserRid::new(*rid, ordinal as u32).to_string()
            }
            (Self::Database { rid, .. }, _) => {
                ClientKeyRid { database: *rid, number: ordinal as u32 }.to_string()
            }
        }
    }

    /// The number in a subresource's resource id, if this owner has it.
    pub(crate) fn subresource_ordinal(&self, kind: Kind, rid: &str) -> Option<u64> {
        match self {
            Self::Container(owner) => {
                let rid = ItemRid::parse(rid).ok()?;
                (rid.container == *owner && Some(rid.kind) == script(kind)).then(|| rid.ordinal())
            }
            Self::User { rid: owner, .. } => {
                let rid = PermissionRid::parse(rid).ok()?;
                (rid.user == *owner).then_some(rid.ordinal)
            }
            Self::Database { rid: owner, .. } if kind == Kind::User => {
                let rid = UserRid::parse(rid).ok()?;
                (rid.database == *owner).then(|| u64::from(rid.number()))
            }
            Self::Database { rid: owner, .. } => {
                let rid = ClientKeyRid::parse(rid).ok()?;
                (rid.database == *owner).then(|| u64::from(rid.number))
            }
        }
    }

    /// Whether it still exists.
    pub(super) fn is_there(&self, state: &dyn Read) -> Result<bool, Error> {
        let has_database = |name: &DatabaseName, rid: DatabaseRid| {
            let found = crate::find_database(state, name.as_str())?;
            Ok(found.is_some_and(|database| database.rid == rid))
        };
        match self {
            Self::Database { name, rid } => has_database(name, *rid),
            Self::Container(rid) => {
                Ok(state.get(META, &Row::Alive { container: rid.number() }.key())?.is_some())
            }
            Self::User { database, rid } => {
                let place = Row::SubresourceLocator {
                    kind: Kind::User.number(),
                    owner: rid.database.0,
                    ordinal: u64::from(rid.number()),
                };
                Ok(state.get(META, &place.key())?.is_some() && has_database(database, rid.database)?)
            }
        }
    }
}

fn script(kind: Kind) -> Option<ResourceKind> {
    match kind {
        Kind::StoredProcedure => Some(ResourceKind::StoredProcedure),
        Kind::Trigger => Some(ResourceKind::Trigger),
        Kind::UserDefinedFunction => Some(ResourceKind::UserDefinedFunction),
        Kind::User | Kind::Permission | Kind::ClientEncryptionKey => None,
    }
}

// The subresources of a dropped owner: removed in steps in the background, because there may be many. Numbers
// are never reused, so nobody reads them meanwhile.

/// Schedules the removal of a database's users and client encryption keys, if it has any.
pub fn schedule_database(txn: &mut Txn<'_>, database: DatabaseRid) -> Result<(), Error> {
    schedule(txn, JobKind::Database, &[Kind::User, Kind::ClientEncryptionKey], database.0)
}

/// Schedules the removal of a user's permissions, if there are any.
pub(super) fn schedule_user(txn: &mut Txn<'_>, user: u32) -> Result<(), Error> {
    schedule(txn, JobKind::User, &[Kind::Permission], user)
}

fn schedule(txn: &mut Txn<'_>, job_kind: JobKind, kinds: &[Kind], number: u32) -> Result<(), Error> {
    for kind in kinds {
        let count = Row::SubresourceCount { kind: kind.number(), owner: number };
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

/// Removes some subresources of a dropped database; each of its users becomes a job of its own.
pub fn sweep_database(txn: &mut Txn<'_>, database: u32) -> Result<Step, Error> {
    txn.frees();
    let places = some_keys(txn, &row::subresource_places(Kind::User.number(), database))?;
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

/// Removes some rows of an owner's subresources; false if there were none.
fn remove_some(txn: &mut Txn<'_>, kind: Kind, owner: u32) -> Result<bool, Error> {
    let (kind_number, count) = (kind.number(), Row::SubresourceCount { kind: kind.number(), owner }.key());
    let mut keys = some_keys(txn, &row::subresources(kind_number, owner))?;
    keys.extend(some_keys(txn, &row::subresource_places(kind_number, owner))?);
    keys.extend(txn.get(META, &count)?.map(|_| count));
    let found = !keys.is_empty();
    keys.into_iter().for_each(|key| txn.delete(META, key));
    Ok(found)
}

fn some_keys(txn: &Txn<'_>, range: &KeyRange) -> Result<Vec<Bytes>, Error> {
    let rows = txn.range(META, range, Order::Ascending).take(limits::SWEEP_ROWS_MAX);
    rows.map(|row| row.map(|(key, _)| key)).collect()
}
