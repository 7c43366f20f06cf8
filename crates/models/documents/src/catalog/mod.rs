//! Databases, containers and offers.
//!
//! `record` is how they are stored, `model` the picture of them in memory that every request looks at, and
//! `operations` the transactions that change them, all in one scope.

mod model;
mod operations;
mod record;

pub(crate) use operations::{find_database, the_container};

pub use model::{Catalog, Container, Database, Offer, OfferTarget};
pub use operations::{
    CatalogError, create_container, create_database, create_serverless_container, delete_container,
    delete_database, replace_container, replace_offer, settle_container,
};
