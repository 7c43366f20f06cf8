//! What tables, queues and blob containers have in common: the names of accounts and resources, metadata, stored access
//! policies, and the properties of an account's services.
//!
//! Each kind of data keeps the definitions of its own resources. What is here is written once, and numbered from one
//! sequence: a container, a table and a queue never have the same number.

mod access_policy;
mod metadata;
pub mod metering;
mod name;
mod service_properties;

pub use access_policy::{AccessPolicy, AccessPolicyError, PolicyTime, SignedIdentifier, SignedIdentifiers};
pub use metadata::{InvalidMetadata, Metadata};
pub use name::{AccountName, BlobContainerName, InvalidResourceName, QueueName, TableName};
pub use service_properties::{
    CorsRule, InvalidProperties, Logging, Metrics, Retention, ServiceKind, ServiceProperties,
    load_service_properties, save_service_properties,
};

use crate::operations::next_number;
use orrery_kv::{Error, Txn};

/// A number for a new table, queue or blob container, which nothing else has or had. In the catalog's scope.
pub fn next_resource_number(txn: &mut Txn<'_>) -> Result<u32, Error> {
    next_number(txn, |numbers| &mut numbers.containers)
}
