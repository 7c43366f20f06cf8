//! The tables of this process, without HTTP: the same functions that the protocol's handlers call.

use super::types::{Entity, FoundEntity, Page, Query, Write, continuation, read_continuation};
use crate::limits::SERVICE_STORE_BUSY_MILLIS;
use crate::ports::StoreError;
use crate::ports::storage::refused;
use orrery_catalog::storage::{AccountName, TableName};
use orrery_table_store::{Error, TableHandle, TableStore};
use orrery_tables::entity::{PARTITION_KEY, ROW_KEY, TIMESTAMP};
use orrery_tables::limits::PAGE_ROWS_MAX;
use orrery_tables::{
    EntityBuilder, EntityError, EntityKey, EntityOperation, EntityRow, Filter, FilterError, GroupTransaction,
    IfMatch, InvalidEntity, InvalidGroup, Position, Written, etag,
};
use std::time::Duration;

/// The tables of one account. A cheap handle.
#[derive(Clone)]
pub struct Embedded {
    store: TableStore,
    account: AccountName,
}

impl Embedded {
    pub fn new(store: TableStore, account: AccountName) -> Self {
        Self { store, account }
    }

    pub async fn ensure(&self, tables: &[&str]) -> Result<(), StoreError> {
        for table in tables {
            match self.store.create_table(&self.account, &name(table)?).await {
                // Another process of the service may have been faster.
                Ok(_) | Err(Error::TableExists) => {}
                Err(error) => return Err(store_error(error)),
            }
        }
        Ok(())
    }

    pub fn read(
        &self,
        table: &str,
        partition_key: &str,
        row_key: &str,
    ) -> Result<Option<FoundEntity>, StoreError> {
        let key = key(partition_key, row_key)?;
        match self.store.get(&self.table(table)?, &key) {
            Ok(row) => Ok(Some(found(&row, &[]))),
            Err(Error::Entity(EntityError::NotFound)) => Ok(None),
            Err(error) => Err(store_error(error)),
        }
    }

    pub async fn write(&self, table: &str, write: &Write) -> Result<Option<String>, StoreError> {
        let operation = operation(write)?;
        let written = self.store.write(&self.table(table)?, &operation).await.map_err(store_error)?;
        Ok(version(&written))
    }

    pub async fn batch(&self, table: &str, writes: &[Write]) -> Result<Vec<Option<String>>, StoreError> {
        if writes.is_empty() {
            return Ok(Vec::new());
        }
        let operations = writes.iter().map(operation).collect::<Result<_, _>>()?;
        let group = GroupTransaction::new(operations).map_err(|error| match error {
            InvalidGroup::TooLarge => refused(413, error),
            InvalidGroup::Empty
            | InvalidGroup::TooManyOperations
            | InvalidGroup::DifferentPartitions { .. }
            | InvalidGroup::DuplicateRow { .. } => refused(400, error),
        })?;
        let written = self.store.transact(&self.table(table)?, &group).await.map_err(store_error)?;
        Ok(written.iter().map(version).collect())
    }

    pub fn query(&self, table: &str, query: &Query) -> Result<Page, StoreError> {
        let from = query.continuation.as_deref().map(|text| {
            let read = read_continuation(text);
            let (partition_key, row_key) =
                read.ok_or_else(|| refused(400, "the continuation is none that a page gave"))?;
            Ok(Position { partition_key, row_key })
        });
        if query.entities_max > PAGE_ROWS_MAX {
            return Err(refused(400, format!("a page has at most {PAGE_ROWS_MAX} entities")));
        }
        let wanted = orrery_tables::Query {
            filter: query.filter.as_deref().map(Filter::parse).transpose().map_err(filter_error)?,
            top: (query.entities_max > 0).then_some(query.entities_max),
            from: from.transpose()?,
            ..orrery_tables::Query::default()
        };
        let page = self.store.query(&self.table(table)?, &wanted).map_err(store_error)?;
        let next = page.next.map(|next| continuation(&next.partition_key, next.row_key.as_deref()));
        let entities = page.entities.iter().map(|row| found(row, &query.select)).collect();
        Ok(Page { entities, continuation: next })
    }

    fn table(&self, table: &str) -> Result<TableHandle, StoreError> {
        self.store.table(&self.account, &name(table)?).map_err(store_error)
    }
}

fn name(table: &str) -> Result<TableName, StoreError> {
    TableName::parse(table).map_err(|error| refused(400, format!("the table '{table}': {error}")))
}

fn key(partition_key: &str, row_key: &str) -> Result<EntityKey, StoreError> {
    EntityKey::parse(partition_key, row_key).map_err(|error| refused(400, error))
}

fn operation(write: &Write) -> Result<EntityOperation, StoreError> {
    Ok(match write {
        Write::Insert(entity) => EntityOperation::Insert(stored(entity)?),
        Write::InsertOrMerge(entity) => EntityOperation::InsertOrMerge(stored(entity)?),
        Write::InsertOrReplace(entity) => EntityOperation::InsertOrReplace(stored(entity)?),
        Write::Merge { entity, if_match } => {
            EntityOperation::Merge(stored(entity)?, IfMatch::parse(if_match))
        }
        Write::Replace { entity, if_match } => {
            EntityOperation::Replace(stored(entity)?, IfMatch::parse(if_match))
        }
        Write::Delete { partition_key, row_key, if_match } => {
            EntityOperation::Delete(key(partition_key, row_key)?, IfMatch::parse(if_match))
        }
    })
}

fn stored(entity: &Entity) -> Result<orrery_tables::Entity, StoreError> {
    let key = key(&entity.partition_key, &entity.row_key)?;
    let mut builder = EntityBuilder::new();
    for (name, value) in &entity.properties {
        builder.push(name, value.as_ref()).map_err(invalid)?;
    }
    builder.finish(key).map_err(invalid)
}

/// Of a row, what is wanted of it; all, if nothing is named.
fn found(row: &EntityRow, select: &[String]) -> FoundEntity {
    let wants = |name: &str| select.is_empty() || select.iter().any(|wanted| wanted == name);
    let properties = row.properties().filter(|(name, _)| wants(name));
    FoundEntity {
        partition_key: wants(PARTITION_KEY).then(|| row.partition_key().into_owned()),
        row_key: wants(ROW_KEY).then(|| row.row_key().into_owned()),
        timestamp: wants(TIMESTAMP).then(|| row.timestamp()),
        etag: Some(row.etag()),
        properties: properties.map(|(name, value)| (name.to_owned(), value.to_value())).collect(),
    }
}

fn version(written: &Written) -> Option<String> {
    written.timestamp.map(etag)
}

fn invalid(error: InvalidEntity) -> StoreError {
    refused(400, error)
}

fn filter_error(error: FilterError) -> StoreError {
    let status = if matches!(error, FilterError::NotImplemented { .. }) { 501 } else { 400 };
    refused(status, error)
}

fn store_error(error: Error) -> StoreError {
    match error {
        Error::TableNotFound => refused(404, error),
        Error::TableExists => refused(409, error),
        Error::Entity(error) => entity_error(error),
        Error::Group(group) => entity_error(group.error),
        Error::Busy => StoreError::Busy { after: Some(Duration::from_millis(SERVICE_STORE_BUSY_MILLIS)) },
        Error::Stopping => StoreError::Unavailable(error.to_string()),
        Error::Engine(error) => engine_error(&error),
    }
}

fn entity_error(error: EntityError) -> StoreError {
    match error {
        EntityError::Exists => StoreError::Conflict,
        EntityError::NotFound => StoreError::Missing,
        EntityError::ConditionNotMet => StoreError::Changed,
        EntityError::Invalid(error) => invalid(error),
        EntityError::Store(error) => engine_error(&error),
    }
}

fn engine_error(error: &impl std::fmt::Display) -> StoreError {
    tracing::error!(%error, "the store of tables failed");
    StoreError::Unavailable(error.to_string())
}
