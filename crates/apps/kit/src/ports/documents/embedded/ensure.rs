//! Making what is missing of a database and its containers.

use super::Inner;
use super::errors::{self, Stopped};
use crate::ports::documents::{Layout, StoreError};
use orrery_core::DatabaseName;
use orrery_document_store::WriteError;
use orrery_documents::catalog::{self, CatalogError};
use orrery_documents::definition::ContainerDefinition;
use serde_json::Value;

pub async fn run(inner: &Inner, layout: &[Layout]) -> Result<(), StoreError> {
    if inner.store.catalog().database(&inner.database).is_none() {
        let name = DatabaseName::parse(&inner.database);
        let name = name.map_err(|error| errors::refused(400, format!("the database's name: {error}")))?;
        let stamp = inner.stamp();
        let made = inner.store.write_catalog(move |txn| catalog::create_database(txn, &name, None, stamp));
        unless_there(made.await)?;
    }
    for container in layout {
        ensure_container(inner, container).await?;
    }
    Ok(())
}

async fn ensure_container(inner: &Inner, layout: &Layout) -> Result<(), StoreError> {
    let Value::Object(definition) = &layout.definition else {
        return Err(errors::refused(400, "the definition of a container is a JSON object"));
    };
    let definition = ContainerDefinition::parse(definition.clone()).map_err(errors::definition)?;
    if inner.container(definition.name().as_str()).is_ok() {
        return Ok(());
    }
    let (database, stamp, is_serverless) = (inner.database.clone(), inner.stamp(), inner.is_serverless);
    let made = inner.store.write_catalog(move |txn| {
        if is_serverless {
            return catalog::create_serverless_container(txn, &database, &definition, stamp);
        }
        catalog::create_container(txn, &database, &definition, None, stamp)
    });
    unless_there(made.await)
}

/// Somebody else may have been faster; what is there stays as it is.
fn unless_there<T>(made: Result<T, WriteError<CatalogError>>) -> Result<(), StoreError> {
    match made {
        Ok(_) | Err(WriteError::Model(CatalogError::Exists)) => Ok(()),
        Err(error) => match errors::write(error, errors::catalog) {
            Stopped::Because(error) => Err(error),
            Stopped::OwnerGone => Err(errors::refused(404, "the database was deleted")),
        },
    }
}
