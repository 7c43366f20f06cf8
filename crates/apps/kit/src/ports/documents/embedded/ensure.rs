//! Creates the missing parts of a database and its containers.

use super::{Embedded, errors};
use crate::ports::documents::{Layout, StoreError};
use orrery_core::DatabaseName;
use orrery_document_store::WriteError;
use orrery_documents::catalog::CatalogError;
use orrery_documents::definition::ContainerDefinition;
use serde_json::Value;

pub async fn run(port: &Embedded, layout: &[Layout]) -> Result<(), StoreError> {
    let name = DatabaseName::parse(port.database());
    let name = name.map_err(|error| errors::refused(400, format!("the database's name: {error}")))?;
    if port.store().catalog().database(name.as_str()).is_none() {
        unless_there(port.store().create_database(name.clone(), None).await)?;
    }
    for container in layout {
        ensure_container(port, &name, container).await?;
    }
    Ok(())
}

async fn ensure_container(
    port: &Embedded,
    database: &DatabaseName,
    layout: &Layout,
) -> Result<(), StoreError> {
    let Value::Object(definition) = &layout.definition else {
        return Err(errors::refused(400, "the definition of a container is a JSON object"));
    };
    let definition = ContainerDefinition::parse(definition.clone());
    let definition = definition.map_err(|error| errors::store(CatalogError::from(error).into()))?;
    if port.container(definition.name().as_str()).is_ok() {
        return Ok(());
    }
    unless_there(port.store().create_container(database.clone(), definition, None).await)
}

/// Another process of the service may have been faster; existing containers stay unchanged.
fn unless_there<T>(made: Result<T, WriteError<CatalogError>>) -> Result<(), StoreError> {
    match made {
        Ok(_) | Err(WriteError::Model(CatalogError::Exists)) => Ok(()),
        Err(WriteError::PreconditionFailed) => Err(errors::refused(404, "the database was deleted")),
        Err(error) => Err(errors::store(error.into())),
    }
}
