//! The target of a request by its current names, however it was addressed.

use crate::route::{OwnerPath, Route};
use orrery_documents::catalog::{Catalog, Container};
use orrery_documents::roles::Scope;
use std::sync::Arc;

/// The database and container of a path, as the path names them.
pub fn named<'a>(route: &'a Route<'_>) -> (Option<&'a str>, Option<&'a str>) {
    match route {
        Route::Account | Route::Databases | Route::Offers | Route::Offer { .. } => (None, None),
        // An unsupported resource has no known location; the account covers it.
        Route::Other { .. } => (None, None),
        Route::Database { database } | Route::Containers { database } => (Some(database), None),
        Route::Container { database, container }
        | Route::Items { database, container }
        | Route::Item { database, container, .. }
        | Route::Ranges { database, container }
        | Route::PartitionKeyDelete { database, container }
        | Route::Conflicts { database, container }
        | Route::Conflict { database, container, .. } => (Some(database), Some(container)),
        Route::Subresources { owner, .. } | Route::Subresource { owner, .. } => match owner {
            OwnerPath::Database { database } | OwnerPath::User { database, .. } => (Some(database), None),
            OwnerPath::Container { database, container } => (Some(database), Some(container)),
        },
    }
}

/// The container in the path, if it exists.
pub fn container(catalog: &Catalog, route: &Route<'_>) -> Option<Arc<Container>> {
    let (Some(database), Some(container)) = named(route) else { return None };
    catalog.container(catalog.database(database)?.rid, container).cloned()
}

/// The scope that a role must cover. A missing resource keeps the name in the path.
pub fn scope(catalog: &Catalog, route: &Route<'_>) -> Scope {
    let (Some(database), container) = named(route) else { return Scope::Account };
    let found = catalog.database(database);
    let database_name = found.map_or_else(|| database.to_owned(), |found| found.name.to_string());
    let Some(container) = container else { return Scope::Database(database_name) };
    let found = found.and_then(|database| catalog.container(database.rid, container));
    let name = found.map_or_else(|| container.to_owned(), |found| found.definition().name().to_string());
    Scope::Container(database_name, name)
}

/// Whether the path has resource ids where names could be.
pub fn is_by_rid(catalog: &Catalog, route: &Route<'_>) -> bool {
    let found = container(catalog, route);
    found.is_some_and(|found| named(route).1 == Some(found.rid_text()))
}
