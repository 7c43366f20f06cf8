//! Whose children they are.

use crate::row::Row;
use crate::subresources::Kind;
use orrery_core::{
    ClientKeyRid, ContainerRid, DatabaseName, DatabaseRid, ItemRid, PermissionRid, ResourceKind, UserRid,
};
use orrery_kv::{Error, META, Read};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Owner {
    Database { name: DatabaseName, rid: DatabaseRid },
    Container(ContainerRid),
    User { database: DatabaseName, rid: UserRid },
}

impl Owner {
    /// The number that the keys of its children have; no two owners of one kind of children share it.
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

    /// By resource ids, with a slash at its end.
    pub fn self_link(&self) -> String {
        match self {
            Self::Database { rid, .. } => format!("dbs/{rid}/"),
            Self::Container(rid) => format!("dbs/{}/colls/{rid}/", rid.database),
            Self::User { rid, .. } => format!("dbs/{}/users/{rid}/", rid.database),
        }
    }

    /// What a sentence calls it.
    pub fn noun(&self) -> &'static str {
        match self {
            Self::Database { .. } => "database",
            Self::Container(_) => "container",
            Self::User { .. } => "user",
        }
    }

    /// The resource id of a child of this owner.
    pub fn child_rid(&self, kind: Kind, ordinal: u64) -> String {
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

    /// The number in a child's resource id, if it is one of this owner's.
    pub(crate) fn child_ordinal(&self, kind: Kind, rid: &str) -> Option<u64> {
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

    /// Whether it was not deleted meanwhile.
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
                let place = Row::ChildPlace {
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
