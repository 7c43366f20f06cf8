//! What a resource token grants: what its permission covers, while that is unchanged (wire guide §4.2).

use super::operation::Operation;
use super::place;
use super::resource_token::ResourceToken;
use crate::failure::Failure;
use crate::header;
use crate::request::Request;
use crate::route::Route;
use crate::service::Cosmos;
use orrery_core::{ItemRid, ResourceKind};
use orrery_document_store::Snapshot;
use orrery_document_store::partition_key;
use orrery_documents::catalog::Container;
use orrery_documents::item;
use orrery_documents::subresources::{self, Kind, Mode, Owner, Permission, Subresource};
use orrery_keys::Epk;
use orrery_value::Value;
use std::sync::Arc;

pub fn check(
    cosmos: &Cosmos,
    request: &Request,
    route: &Route<'_>,
    operation: Operation,
    signature: &str,
) -> Result<(), Failure> {
    let token = cosmos.access().resource_tokens.open(signature).ok_or_else(|| {
        Failure::unauthorized(
            "The resource token is not one that this account gave; read the permission for a new one.",
        )
    })?;
    if cosmos.store().env().now() >= token.expires {
        return Err(Failure::forbidden("The resource token has expired; read the permission for a new one."));
    }
    let snapshot = cosmos.store().snapshot();
    let child = behind(cosmos, &snapshot, &token)?.ok_or_else(|| {
        Failure::forbidden(
            "The permission behind the resource token was replaced or deleted; read it for a new one.",
        )
    })?;
    let permission = Permission::of(&child).ok_or_else(|| Failure::internal("A permission is damaged."))?;
    let grant = Grant { cosmos, snapshot, token, permission, shown: shown(&child) };
    grant.check(request, route, operation)
}

/// The permission, if it is still the version that the token was minted for.
fn behind(
    cosmos: &Cosmos,
    snapshot: &Snapshot,
    token: &ResourceToken,
) -> Result<Option<Subresource>, Failure> {
    let catalog = cosmos.store().catalog();
    let Some(database) = catalog.databases().find(|database| database.rid == token.user.database) else {
        return Ok(None);
    };
    let owner = Owner::Database { name: database.name.clone(), rid: database.rid };
    if subresources::by_ordinal(snapshot, &owner, Kind::User, u64::from(token.user.number()))?.is_none() {
        return Ok(None);
    }
    let user = Owner::User { database: database.name.clone(), rid: token.user };
    let found = subresources::by_ordinal(snapshot, &user, Kind::Permission, token.permission)?;
    Ok(found.filter(|permission| permission.etag == token.etag))
}

/// The permission as a sentence.
fn shown(child: &Subresource) -> String {
    let member = |name: &str| child.members.get(name).map(ToString::to_string).unwrap_or_default();
    let key = match child.members.get("resourcePartitionKey") {
        None => String::new(),
        Some(key) => format!(" with the partition key {key}"),
    };
    format!("{} on {}{key}", member("permissionMode"), member("resource"))
}

struct Grant<'a> {
    cosmos: &'a Cosmos,
    snapshot: Arc<Snapshot>,
    token: ResourceToken,
    permission: Permission,
    shown: String,
}

impl Grant<'_> {
    fn check(&self, request: &Request, route: &Route<'_>, operation: Operation) -> Result<(), Failure> {
        match operation {
            // Every client starts with it, and it reveals only the account's address.
            Operation::ReadAccount => return Ok(()),
            Operation::ReadManaged | Operation::ReadPermissions | Operation::Manage => {
                return Err(self.refused("and this wants an account key"));
            }
            _ => {}
        }
        let catalog = self.cosmos.store().catalog();
        let container = place::container(&catalog, route).filter(|it| it.number() == self.token.container);
        let container = container.ok_or_else(|| self.refused("and this is about another resource"))?;
        if operation == Operation::ReadMetadata {
            // A client with access to a part of a container needs its partition key and its ranges.
            return Ok(());
        }
        if self.permission.mode == Mode::Read && operation.needs_a_writing_key() {
            return Err(self.refused("and this is a change"));
        }
        self.check_inside(request, route, &container)?;
        self.check_partition(request, operation, &container)
    }

    /// Whether a permission on a resource of a container covers the requested one.
    fn check_inside(
        &self,
        request: &Request,
        route: &Route<'_>,
        container: &Arc<Container>,
    ) -> Result<(), Failure> {
        let Some((kind, name)) = &self.permission.resource.inside else { return Ok(()) };
        let is_meant = match route {
            Route::Item { id, .. } => kind == "docs" && self.is_same_item(request, container, name, id)?,
            Route::Subresource { kind: meant, id, .. } => {
                kind == meant.segment() && self.is_same_child(container, *meant, name, id)?
            }
            Route::Conflict { id, .. } => kind == "conflicts" && name == id,
            _ => false,
        };
        if is_meant { Ok(()) } else { Err(self.refused("and this is about more")) }
    }

    /// Either may be given by name or by resource id. A name is unique only within a partition key, so a permission
    /// that names an item must name that too, unless the container's items have their ids as keys or all have the same.
    fn is_same_item(
        &self,
        request: &Request,
        container: &Arc<Container>,
        granted: &str,
        meant: &str,
    ) -> Result<bool, Failure> {
        let Some(key) = request.header_or_refuse(&header::PARTITION_KEY)? else { return Ok(false) };
        let epk = partition_key::point(container, key)?;
        let ordinal = |text: &str| {
            let rid = ItemRid::parse(text).ok()?;
            let is_item = rid.container == container.rid() && rid.kind == ResourceKind::Item;
            is_item.then(|| rid.ordinal())
        };
        if self.permission.partition_key.is_none()
            && ordinal(granted).is_none()
            && !self.is_only_one(container, &epk)
        {
            let why = "and an id can be there under every partition key; give the permission a resourcePartitionKey";
            return Err(self.refused(why));
        }
        let id = |text: &str| match ordinal(text) {
            Some(ordinal) => item::id_of(&*self.snapshot, container, &epk, ordinal),
            None => Ok(Some(text.to_owned())),
        };
        let granted = id(granted)?;
        Ok(granted.is_some() && granted == id(meant)?)
    }

    /// Whether an item with a given id can only be in this partition.
    fn is_only_one(&self, container: &Container, epk: &Epk) -> bool {
        let key = container.definition().partition_key();
        let is_by_id = matches!(key.paths(), [path] if path.segments() == ["id"]);
        let is_the_missing = || *epk == orrery_keys::epk(container.hashing(), &[Value::Undefined]);
        is_by_id || (key.system_key() && is_the_missing())
    }

    fn is_same_child(
        &self,
        container: &Container,
        kind: Kind,
        granted: &str,
        meant: &str,
    ) -> Result<bool, Failure> {
        let owner = Owner::Container(container.rid());
        let number = |name: &str| subresources::find(&*self.snapshot, &owner, kind, name);
        let granted = number(granted)?.map(|child| child.ordinal);
        Ok(granted.is_some() && granted == number(meant)?.map(|child| child.ordinal))
    }

    /// A permission for one partition key covers requests for that key or for one that it is a prefix of.
    fn check_partition(
        &self,
        request: &Request,
        operation: Operation,
        container: &Container,
    ) -> Result<(), Failure> {
        let Some(granted) = &self.permission.partition_key else { return Ok(()) };
        match operation {
            // A plan depends on the query alone.
            Operation::PlanQuery => return Ok(()),
            Operation::ReadScripts | Operation::ManageScripts => {
                return Err(self.refused("and scripts belong to the whole container"));
            }
            _ => {}
        }
        let header = request.header_or_refuse(&header::PARTITION_KEY)?;
        let header = header.ok_or_else(|| self.refused("and this names no partition key"))?;
        let mut meant = partition_key::parse(header)?;
        if !partition_key::names_some(container, header)? {
            return Err(self.refused("and this names no partition key"));
        }
        if meant.is_empty() {
            meant.push(Value::Undefined);
        }
        let granted = Value::parse(&serde_json::Value::from(granted.clone()).to_string())
            .map_err(|_| Failure::internal("A permission is damaged."))?;
        let granted = match granted {
            Value::Array(parts) => partition_key::components(parts),
            _ => Vec::new(),
        };
        let is_covered = !granted.is_empty()
            && meant.len() >= granted.len()
            && orrery_keys::epk(container.hashing(), &meant[..granted.len()])
                == orrery_keys::epk(container.hashing(), &granted);
        if is_covered { Ok(()) } else { Err(self.refused("and this is about another partition key")) }
    }

    fn refused(&self, why: &str) -> Failure {
        Failure::forbidden(format!("The resource token allows {}, {why}.", self.shown))
    }
}
