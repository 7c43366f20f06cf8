//! What a request asks for, known from its head alone, and what it needs to be allowed (wire guide §3.6, §5.1).

use crate::errors::NoOperation;
use crate::route::Resource;
use crate::verb::Verb;
use orrery_api_storage as storage;
use orrery_api_storage::{Action, Letters, Level, Need};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    ReadProperties,
    WriteProperties,
    ReadStatistics,
    ListTables,
    CreateTable,
    ReadTable { table: String },
    DeleteTable { table: String },
    ReadPolicies { table: String },
    WritePolicies { table: String },
    Batch,
    OnEntities(OnEntities),
}

/// What can also be inside a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OnEntities {
    Query { table: String },
    Insert { table: String },
    Read(Place),
    Write(Write, Place),
    Delete(Place),
}

/// Where an entity is, as the URL says it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    pub table: String,
    pub partition_key: String,
    pub row_key: String,
}

/// What becomes of an entity that is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Write {
    pub kind: WriteKind,
    /// It need not be there: the request has no `If-Match`.
    pub may_insert: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteKind {
    Replace,
    Merge,
}

/// The parts of a query that choose what is meant: `restype=service`, and `comp`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Component {
    pub is_service: bool,
    pub comp: Option<String>,
}

impl Operation {
    pub fn of(
        resource: Resource,
        verb: Verb,
        component: &Component,
        has_if_match: bool,
    ) -> Result<Self, NoOperation> {
        match (resource, component.comp.as_deref()) {
            (Resource::Service, comp) => Self::of_service(verb, component.is_service, comp),
            (Resource::Entities { table }, Some("acl")) => match verb {
                Verb::Get => Ok(Self::ReadPolicies { table }),
                Verb::Put => Ok(Self::WritePolicies { table }),
                Verb::Post | Verb::Merge | Verb::Delete => Err(NoOperation::Verb),
            },
            (_, Some(_)) => Err(NoOperation::Component),
            (Resource::Tables, None) => match verb {
                Verb::Get => Ok(Self::ListTables),
                Verb::Post => Ok(Self::CreateTable),
                Verb::Put | Verb::Merge | Verb::Delete => Err(NoOperation::Verb),
            },
            (Resource::Entry { table }, None) => match verb {
                Verb::Get => Ok(Self::ReadTable { table }),
                Verb::Delete => Ok(Self::DeleteTable { table }),
                Verb::Post | Verb::Put | Verb::Merge => Err(NoOperation::Verb),
            },
            (Resource::Batch, None) if verb == Verb::Post => Ok(Self::Batch),
            (Resource::Batch, None) => Err(NoOperation::Verb),
            (resource @ (Resource::Entities { .. } | Resource::Entity { .. }), None) => {
                OnEntities::of(resource, verb, has_if_match).map(Self::OnEntities)
            }
        }
    }

    fn of_service(verb: Verb, is_service: bool, comp: Option<&str>) -> Result<Self, NoOperation> {
        match (comp, verb) {
            _ if !is_service => Err(NoOperation::Component),
            (Some("properties"), Verb::Get) => Ok(Self::ReadProperties),
            (Some("properties"), Verb::Put) => Ok(Self::WriteProperties),
            (Some("stats"), Verb::Get) => Ok(Self::ReadStatistics),
            (Some("properties" | "stats"), _) => Err(NoOperation::Verb),
            _ => Err(NoOperation::Component),
        }
    }

    pub fn need(&self) -> Need<'_> {
        match self {
            Self::ReadProperties | Self::ReadStatistics => of_service(&["r"], Action::ReadService, false),
            Self::WriteProperties => of_service(&["w"], Action::WriteService, true),
            Self::ListTables => of_tables(None, &["l"], Action::ReadResource, false),
            Self::CreateTable => of_tables(None, &["c", "w"], Action::WriteResource, true),
            Self::ReadTable { table } => of_tables(Some(table), &["l"], Action::ReadResource, false),
            Self::DeleteTable { table } => of_tables(Some(table), &["d"], Action::DeleteResource, true),
            Self::ReadPolicies { table } => of_tables(Some(table), &[], Action::ReadPolicies, false),
            Self::WritePolicies { table } => of_tables(Some(table), &[], Action::WritePolicies, true),
            Self::Batch => batch(None),
            Self::OnEntities(operation) => operation.need(),
        }
    }
}

impl OnEntities {
    /// Of a path that names a table or an entity.
    pub fn of(resource: Resource, verb: Verb, has_if_match: bool) -> Result<Self, NoOperation> {
        match resource {
            Resource::Entities { table } => match verb {
                Verb::Get => Ok(Self::Query { table }),
                Verb::Post => Ok(Self::Insert { table }),
                Verb::Put | Verb::Merge | Verb::Delete => Err(NoOperation::Verb),
            },
            Resource::Entity { table, partition_key, row_key } => {
                let place = Place { table, partition_key, row_key };
                let write = |kind| Write { kind, may_insert: !has_if_match };
                match verb {
                    Verb::Get => Ok(Self::Read(place)),
                    Verb::Put => Ok(Self::Write(write(WriteKind::Replace), place)),
                    Verb::Merge => Ok(Self::Write(write(WriteKind::Merge), place)),
                    Verb::Delete => Ok(Self::Delete(place)),
                    Verb::Post => Err(NoOperation::Verb),
                }
            }
            Resource::Service | Resource::Tables | Resource::Entry { .. } | Resource::Batch => {
                Err(NoOperation::Component)
            }
        }
    }

    pub fn table(&self) -> &str {
        match self {
            Self::Query { table } | Self::Insert { table } => table,
            Self::Read(place) | Self::Write(_, place) | Self::Delete(place) => &place.table,
        }
    }

    pub fn need(&self) -> Need<'_> {
        let (letters, action): (Letters, _) = match self {
            Self::Query { .. } | Self::Read(_) => (&["r"], Action::ReadData),
            Self::Insert { .. } => (&["a"], Action::AddData),
            Self::Write(Write { may_insert: true, .. }, _) => (&["au"], Action::WriteData),
            Self::Write(Write { may_insert: false, .. }, _) => (&["u"], Action::WriteData),
            Self::Delete(_) => (&["d"], Action::DeleteData),
        };
        let is_write = !matches!(self, Self::Query { .. } | Self::Read(_));
        let resource = storage::Resource::Table(self.table());
        Need { level: Level::Object, resource, account: letters, service: letters, action, is_write }
    }
}

/// A batch as a whole needs that there is anything it could do; each of its operations is judged by itself. The table is
/// the one that a signature is for, as the URL says it.
pub fn batch(table: Option<&str>) -> Need<'_> {
    Need {
        level: Level::Object,
        resource: table.map_or(storage::Resource::Account, storage::Resource::Table),
        account: &[""],
        service: &[""],
        action: Action::ReadData,
        is_write: false,
    }
}

fn of_service(letters: Letters, action: Action, is_write: bool) -> Need<'static> {
    let resource = storage::Resource::Account;
    Need { level: Level::Service, resource, account: letters, service: &[], action, is_write }
}

/// Signatures for one table open nothing of these.
fn of_tables<'a>(table: Option<&'a str>, letters: Letters, action: Action, is_write: bool) -> Need<'a> {
    let resource = table.map_or(storage::Resource::Account, storage::Resource::Table);
    Need { level: Level::Container, resource, account: letters, service: &[], action, is_write }
}
