//! Mints tokens for the permissions in a response.

use super::resource_token::{ResourceToken, lifetime};
use crate::encode;
use crate::failure::Failure;
use crate::request::Request;
use crate::service::Cosmos;
use orrery_core::{Timestamp, UserRid};
use orrery_documents::catalog::Database;
use orrery_documents::subresources::{Definition, Kind, Owner, Permission, ResourceLink, Subresource};
use serde_json::Value;

/// The tokens of one response expire together.
pub struct Minting {
    cosmos: Cosmos,
    expires: Timestamp,
}

impl Minting {
    pub fn by(cosmos: &Cosmos, request: &Request) -> Result<Self, Failure> {
        let expires = cosmos.store().env().now().plus(lifetime(request)?);
        Ok(Self { cosmos: cosmos.clone(), expires })
    }

    /// Any subresource as JSON; a permission includes a token.
    pub fn encode(&self, owner: &Owner, child: &Subresource) -> Value {
        encode::child(owner, child, self.token(owner, child))
    }

    fn token(&self, owner: &Owner, child: &Subresource) -> Option<String> {
        let Owner::User { rid: user, .. } = owner else { return None };
        let permission = Permission::of(child)?;
        let catalog = self.cosmos.store().catalog();
        let ResourceLink { database: named, container, .. } = &permission.resource;
        let database = catalog.database(named).filter(|found| is_allowed(found, named, user));
        let container = database.and_then(|database| catalog.container(database.rid, container));
        let token = ResourceToken {
            user: *user,
            permission: child.ordinal,
            etag: child.etag,
            container: container.map_or(0, |container| container.number()),
            expires: self.expires,
        };
        Some(self.cosmos.access().resource_tokens.seal(&token))
    }
}

/// A permission covers a resource of its user's own database, or, by resource ids, one of another
/// database.
fn is_allowed(found: &Database, named: &str, user: &UserRid) -> bool {
    found.rid == user.database || found.rid.to_string() == named
}

/// Whether a permission names a resource that it may cover.
pub fn check_resource(
    cosmos: &Cosmos,
    owner: &Owner,
    kind: Kind,
    definition: &Definition,
) -> Result<(), Failure> {
    let (Owner::User { database, rid }, Kind::Permission) = (owner, kind) else { return Ok(()) };
    let link = definition.members().get("resource").and_then(Value::as_str).unwrap_or_default();
    let named = ResourceLink::parse(link)?.database;
    let catalog = cosmos.store().catalog();
    match catalog.database(&named) {
        Some(found) if is_allowed(found, &named, rid) => Ok(()),
        _ => Err(Failure::bad_request(format!(
            "The resource '{link}' is not in the database '{database}', to which the user belongs. What is in another \
             database is named by its resource ids (_self)."
        ))),
    }
}
