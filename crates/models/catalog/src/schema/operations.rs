//! Setting and removing the schemas of a container. Both run in the catalog's one scope, so each sees the last.
//!
//! The row `Alive` changes with them, and every write of an item depends on it. So once one of these is committed, no item
//! comes in that was checked by what was there before.

use super::definition::{Definition, SchemaError};
use super::record;
use super::schemas::Schemas;
use crate::row::Row;
use crate::{CatalogError, Container, the_container};
use orrery_kv::{Error, META, Read, Txn};
use std::sync::Arc;

pub fn set(
    txn: &mut Txn<'_>,
    database: &str,
    container: &str,
    definition: &Definition,
) -> Result<(), SchemaError> {
    let container = found(txn, database, container)?;
    let row = record::write(definition);
    let schemas = Arc::new(Schemas::read(&row)?);
    txn.put(META, Row::Schema { container: container.number() }.key(), row);
    revive(txn, &container.with_schemas(Some(schemas)));
    Ok(())
}

pub fn remove(txn: &mut Txn<'_>, database: &str, container: &str) -> Result<(), SchemaError> {
    let container = found(txn, database, container)?;
    if container.schemas().is_none() {
        return Err(SchemaError::NoSchema);
    }
    txn.delete(META, Row::Schema { container: container.number() }.key());
    revive(txn, &container.with_schemas(None));
    Ok(())
}

/// The schemas that a container has in this state.
pub(crate) fn stored(state: &dyn Read, container: u32) -> Result<Option<Arc<Schemas>>, Error> {
    let row = state.get(META, &Row::Schema { container }.key())?;
    row.map(|row| Schemas::read(&row).map(Arc::new)).transpose()
}

fn revive(txn: &mut Txn<'_>, container: &Container) {
    txn.put(META, container.alive_key().clone(), container.alive_value());
}

fn found(txn: &Txn<'_>, database: &str, container: &str) -> Result<Container, SchemaError> {
    the_container(txn, database, container).map_err(|error| match error {
        CatalogError::DatabaseMissing => SchemaError::DatabaseMissing,
        CatalogError::Store(error) => SchemaError::Store(error),
        _ => SchemaError::ContainerMissing,
    })
}
