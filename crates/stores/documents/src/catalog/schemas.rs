//! Schemas of containers, which their items must satisfy.

use crate::store::Store;
use orrery_documents::schema::{self, Definition, SchemaError, Schemas};
use orrery_kv::Txn;
use orrery_txn::WriteError;
use std::sync::Arc;

impl Store {
    /// A container's schema, and its violations so far.
    pub fn schemas(&self, database: &str, container: &str) -> Result<Arc<Schemas>, SchemaError> {
        let catalog = self.catalog();
        let database = catalog.database(database).ok_or(SchemaError::DatabaseMissing)?;
        let container = catalog.container(database.rid, container).ok_or(SchemaError::ContainerMissing)?;
        container.schemas().cloned().ok_or(SchemaError::NoSchema)
    }

    /// Writes prepared under another schema are retried.
    pub async fn set_schema(
        &self,
        database: &str,
        container: &str,
        definition: Definition,
    ) -> Result<(), WriteError<SchemaError>> {
        let (database, container) = (database.to_owned(), container.to_owned());
        let set = move |txn: &mut Txn<'_>| schema::set(txn, &database, &container, &definition);
        self.write_catalog(set).await?;
        Ok(())
    }

    pub async fn remove_schema(
        &self,
        database: &str,
        container: &str,
    ) -> Result<(), WriteError<SchemaError>> {
        let (database, container) = (database.to_owned(), container.to_owned());
        let remove = move |txn: &mut Txn<'_>| schema::remove(txn, &database, &container);
        self.write_catalog(remove).await?;
        Ok(())
    }
}
