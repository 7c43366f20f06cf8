//! Operations on the catalog: databases, containers, offers, and the subresources of databases, containers and
//! users.
//!
//! ```text
//! cache      the catalog of the newest durable state, in memory
//! roles      roles and their assignments
//! schemas    what a container's items are held to
//! ```
//!
//! Reads are answered from [`Store::catalog`], which shows a change as soon as it is answered here.

pub(crate) mod cache;
pub(crate) mod roles;
mod schemas;

use crate::scope::Scope;
use crate::store::Store;
use orrery_core::{ContainerName, DatabaseName, OfferRid};
use orrery_documents::catalog::{self, CatalogError, Container, Database, Offer};
use orrery_documents::definition::{ContainerDefinition, Throughput};
use orrery_documents::item::Preconditions;
use orrery_documents::subresources::{self, Definition, Kind, Owner, Subresource, SubresourceError};
use orrery_kv::Txn;
use orrery_txn::{Committed, WriteError};
use serde_json::{Map, Value};

type CatalogResult<T> = Result<T, WriteError<CatalogError>>;
type SubresourceResult<T> = Result<T, WriteError<SubresourceError>>;

impl Store {
    /// Whether the account provisions no throughput.
    pub fn is_serverless(&self) -> bool {
        self.throttle().is_serverless()
    }

    pub async fn create_database(
        &self,
        name: DatabaseName,
        throughput: Option<Throughput>,
    ) -> CatalogResult<Database> {
        let stamp = self.stamp();
        let create =
            move |txn: &mut Txn<'_>| catalog::create_database(txn, &name, throughput.as_ref(), stamp);
        Ok(self.write_catalog(create).await?.value)
    }

    pub async fn delete_database(&self, name: DatabaseName, conditions: Preconditions) -> CatalogResult<()> {
        let delete = move |txn: &mut Txn<'_>| catalog::delete_database(txn, name.as_str(), conditions);
        self.write_catalog(delete).await?;
        self.usage().forget_dropped(&self.catalog());
        Ok(())
    }

    /// In a serverless account, a container without throughput of its own.
    pub async fn create_container(
        &self,
        database: DatabaseName,
        definition: ContainerDefinition,
        throughput: Option<Throughput>,
    ) -> CatalogResult<Committed<Container>> {
        let (stamp, is_serverless) = (self.stamp(), self.is_serverless());
        let create = move |txn: &mut Txn<'_>| match is_serverless {
            true => catalog::create_serverless_container(txn, database.as_str(), &definition, stamp),
            false => {
                catalog::create_container(txn, database.as_str(), &definition, throughput.as_ref(), stamp)
            }
        };
        self.write_catalog(create).await
    }

    pub async fn replace_container(
        &self,
        database: DatabaseName,
        container: ContainerName,
        body: Map<String, Value>,
        conditions: Preconditions,
    ) -> CatalogResult<Committed<Container>> {
        let stamp = self.stamp();
        let replace = move |txn: &mut Txn<'_>| {
            let (database, container) = (database.as_str(), container.as_str());
            catalog::replace_container(txn, database, container, body.clone(), conditions, stamp)
        };
        self.write_catalog(replace).await
    }

    pub async fn delete_container(
        &self,
        database: DatabaseName,
        container: ContainerName,
        conditions: Preconditions,
    ) -> CatalogResult<()> {
        let delete = move |txn: &mut Txn<'_>| {
            catalog::delete_container(txn, database.as_str(), container.as_str(), conditions)
        };
        self.write_catalog(delete).await?;
        self.usage().forget_dropped(&self.catalog());
        Ok(())
    }

    pub async fn replace_offer(
        &self,
        rid: OfferRid,
        throughput: Throughput,
        conditions: Preconditions,
    ) -> CatalogResult<Offer> {
        let stamp = self.stamp();
        let replace =
            move |txn: &mut Txn<'_>| catalog::replace_offer(txn, rid, &throughput, conditions, stamp);
        let replaced = self.write_catalog(replace).await?;
        self.throttle().follow(self);
        Ok(replaced.value)
    }

    /// The request units per second that an offer's owner uses now; 0 with throttling off.
    pub fn throughput_in_use(&self, offer: &Offer) -> u64 {
        self.throttle().in_use(self, offer)
    }

    /// Creates a user, a permission, a script or a client encryption key.
    pub async fn create_subresource(
        &self,
        owner: &Owner,
        kind: Kind,
        definition: &Definition,
    ) -> SubresourceResult<Subresource> {
        let stamp = self.stamp();
        let create = |txn: &mut Txn<'_>| subresources::create(txn, owner, kind, definition, stamp);
        Ok(self.write(Scope::Catalog, create).await?.value)
    }

    /// Also says whether it is new.
    pub async fn upsert_subresource(
        &self,
        owner: &Owner,
        kind: Kind,
        definition: &Definition,
        conditions: Preconditions,
    ) -> SubresourceResult<(Subresource, bool)> {
        let stamp = self.stamp();
        let upsert =
            |txn: &mut Txn<'_>| subresources::upsert(txn, owner, kind, definition, conditions, stamp);
        Ok(self.write(Scope::Catalog, upsert).await?.value)
    }

    pub async fn replace_subresource(
        &self,
        owner: &Owner,
        kind: Kind,
        id: &str,
        definition: &Definition,
        conditions: Preconditions,
    ) -> SubresourceResult<Subresource> {
        let stamp = self.stamp();
        let replace =
            |txn: &mut Txn<'_>| subresources::replace(txn, owner, kind, id, definition, conditions, stamp);
        Ok(self.write(Scope::Catalog, replace).await?.value)
    }

    pub async fn delete_subresource(
        &self,
        owner: &Owner,
        kind: Kind,
        id: &str,
        conditions: Preconditions,
    ) -> SubresourceResult<()> {
        let delete = |txn: &mut Txn<'_>| subresources::delete(txn, owner, kind, id, conditions);
        self.write(Scope::Catalog, delete).await?;
        Ok(())
    }
}
