//! Users, permissions, stored procedures, triggers, user-defined functions and client encryption keys: create, read,
//! replace, upsert, list, query, delete (wire guide §19, §20). One set of functions serves all of them.

use super::{find_container, list_reply};
use crate::authorize::{Minting, check_resource};
use crate::failure::Failure;
use crate::query::resources;
use crate::reply::Reply;
use crate::request::{Post, Request};
use crate::route::OwnerPath;
use crate::service::Cosmos;
use crate::{encode, header, scripts};
use http::{Method, StatusCode};
use orrery_core::UserRid;
use orrery_document_store::Snapshot;
use orrery_documents::charge::Charge;
use orrery_documents::item::Verdict;
use orrery_documents::subresources::{self, Definition, Kind, Owner, Subresource, SubresourceError};
use orrery_query::execute::{Collection, ScannedDocument, Start};
use orrery_query::{Datum, QueryError};
use serde_json::Value;
use std::ops::ControlFlow;
use std::sync::Arc;

pub async fn on_feed(
    cosmos: &Cosmos,
    request: &mut Request,
    method: &Method,
    owner: &OwnerPath<'_>,
    kind: Kind,
) -> Result<Reply, Failure> {
    let owner = find_owner(cosmos, request, owner)?;
    match (method.as_str(), request.post()) {
        ("GET", _) => list(cosmos, request, owner, kind).await,
        ("POST", Post::Query) => query(cosmos, request, owner, kind).await,
        ("POST", Post::Create) => create(cosmos, request, owner, kind).await,
        ("POST", Post::Upsert) if kind != Kind::ClientEncryptionKey => {
            upsert(cosmos, request, owner, kind).await
        }
        _ => Err(Failure::method_not_allowed()),
    }
}

pub async fn on_subresource(
    cosmos: &Cosmos,
    request: &mut Request,
    method: &Method,
    path: &OwnerPath<'_>,
    kind: Kind,
    id: &str,
) -> Result<Reply, Failure> {
    let owner = find_owner(cosmos, request, path)?;
    match *method {
        Method::GET => read(cosmos, request, &owner, kind, id),
        Method::PUT => replace(cosmos, request, owner, kind, id).await,
        Method::DELETE if kind != Kind::ClientEncryptionKey => delete(cosmos, request, owner, kind, id).await,
        Method::POST => match path {
            OwnerPath::Container { database, container } if kind == Kind::StoredProcedure => {
                scripts::execute_procedure(cosmos, request, database, container, id).await
            }
            _ => Err(Failure::method_not_allowed()),
        },
        _ => Err(Failure::method_not_allowed()),
    }
}

/// The owner of the subresources in the path, looked up in the newest durable state.
pub fn find_owner(cosmos: &Cosmos, request: &Request, path: &OwnerPath<'_>) -> Result<Owner, Failure> {
    match path {
        OwnerPath::Database { database } => database_owner(cosmos, database),
        OwnerPath::Container { database, container } => {
            Ok(Owner::Container(find_container(cosmos, request, database, container)?.rid()))
        }
        OwnerPath::User { database, user } => {
            let owner = database_owner(cosmos, database)?;
            let found = subresources::find(&*cosmos.store().snapshot(), &owner, Kind::User, user)?;
            let Owner::Database { name, rid } = owner else { return Err(missing_user(user)) };
            let number = found.ok_or_else(|| missing_user(user))?.ordinal;
            Ok(Owner::User { database: name, rid: UserRid::new(rid, number as u32) })
        }
    }
}

fn database_owner(cosmos: &Cosmos, name: &str) -> Result<Owner, Failure> {
    let database = super::owner(cosmos, name)?;
    Ok(Owner::Database { name: database.name.clone(), rid: database.rid })
}

fn missing_user(user: &str) -> Failure {
    Failure::owner_missing(format!("Resource Not Found: there is no user '{user}'. Create it first."))
}

async fn list(cosmos: &Cosmos, request: &Request, owner: Owner, kind: Kind) -> Result<Reply, Failure> {
    let place = place(&owner);
    let after = match request.header_or_refuse(&header::CONTINUATION)?.filter(|token| !token.is_empty()) {
        None => None,
        Some(token) => Some(cosmos.store().tokens().read_children(kind, place, token)?),
    };
    let (snapshot, limits) = (cosmos.store().snapshot(), request.page_limits()?);
    let minting = Minting::by(cosmos, request)?;
    let read = move || {
        let page = subresources::page(&*snapshot, &owner, kind, after.as_deref(), limits);
        (owner, page)
    };
    let (owner, page) = orrery_document_store::on_a_thread(read).await?;
    let page = page?;
    let shown: Vec<Value> = page.subresources.iter().map(|child| minting.encode(&owner, child)).collect();
    let count = shown.len();
    let reply = list_reply(&encode::feed(&owner.rid(), kind.feed(), shown), count);
    Ok(match page.more_after {
        None => reply,
        Some(name) => {
            reply.header(header::CONTINUATION, cosmos.store().tokens().write_children(kind, place, &name))
        }
    })
}

/// Distinguishes the owner of a continuation from others with subresources of the same kind.
fn place(owner: &Owner) -> u32 {
    match owner {
        Owner::Database { rid, .. } => rid.0,
        Owner::Container(rid) => rid.number(),
        Owner::User { rid, .. } => rid.number(),
    }
}

async fn query(cosmos: &Cosmos, request: &mut Request, owner: Owner, kind: Kind) -> Result<Reply, Failure> {
    let rid = owner.rid();
    let minting = Minting::by(cosmos, request)?;
    let list = List { snapshot: cosmos.store().snapshot(), minting, owner, kind };
    resources::query_over(cosmos, request, &rid, kind.feed(), list).await
}

/// The subresources of an owner in name order, read on demand.
struct List {
    snapshot: Arc<Snapshot>,
    minting: Minting,
    owner: Owner,
    kind: Kind,
}

impl Collection for List {
    fn scan(
        &self,
        start: &Start,
        visit: &mut dyn FnMut(ScannedDocument<'_>) -> ControlFlow<()>,
    ) -> Result<(), QueryError> {
        let name = |position: &[u8]| String::from_utf8_lossy(position).into_owned();
        let (after, at) = match start {
            Start::Beginning => (None, None),
            Start::After(position) => (Some(name(position)), None),
            Start::At(position) => (None, Some(name(position))),
        };
        let mut show = |child: Subresource| {
            let text = self.minting.encode(&self.owner, &child).to_string();
            let (position, ordinal, bytes) = (child.name.as_str().as_bytes(), child.ordinal, text.len());
            visit(ScannedDocument { position, ordinal, part: 0, bytes, root: Datum::read(&text) })
        };
        if let Some(at) = &at {
            let there = subresources::find(&*self.snapshot, &self.owner, self.kind, at).map_err(broken)?;
            if there.is_some_and(|child| child.name.as_str() == at && show(child).is_break()) {
                return Ok(());
            }
        }
        let after = after.or(at);
        let each = |child, _| show(child);
        subresources::each_after(&*self.snapshot, &self.owner, self.kind, after.as_deref(), each)
            .map_err(broken)
    }
}

fn broken(error: orrery_document_store::EngineError) -> QueryError {
    QueryError::Storage(error.to_string())
}

async fn create(cosmos: &Cosmos, request: &mut Request, owner: Owner, kind: Kind) -> Result<Reply, Failure> {
    let definition = Definition::parse(kind, request.json_object().await?)?;
    check_resource(cosmos, &owner, kind, &definition)?;
    let minting = Minting::by(cosmos, request)?;
    let created = cosmos.store().create_subresource(&owner, kind, &definition).await?;
    Ok(reply(&minting, request, StatusCode::CREATED, &owner, &created))
}

async fn upsert(cosmos: &Cosmos, request: &mut Request, owner: Owner, kind: Kind) -> Result<Reply, Failure> {
    let definition = Definition::parse(kind, request.json_object().await?)?;
    check_resource(cosmos, &owner, kind, &definition)?;
    let minting = Minting::by(cosmos, request)?;
    let conditions = request.preconditions();
    let (child, is_new) = cosmos.store().upsert_subresource(&owner, kind, &definition, conditions).await?;
    let status = if is_new { StatusCode::CREATED } else { StatusCode::OK };
    Ok(reply(&minting, request, status, &owner, &child))
}

fn read(cosmos: &Cosmos, request: &Request, owner: &Owner, kind: Kind, id: &str) -> Result<Reply, Failure> {
    let found = subresources::find(&*cosmos.store().snapshot(), owner, kind, id)?;
    let child = found.ok_or(SubresourceError::Missing(kind.noun()))?;
    match request.preconditions().check(child.etag) {
        Verdict::Holds => Ok(reply(&Minting::by(cosmos, request)?, request, StatusCode::OK, owner, &child)),
        Verdict::Same => Ok(Reply::new(StatusCode::NOT_MODIFIED, Charge::metadata()).etag(child.etag)),
        Verdict::Changed => Err(SubresourceError::Changed.into()),
    }
}

async fn replace(
    cosmos: &Cosmos,
    request: &mut Request,
    owner: Owner,
    kind: Kind,
    id: &str,
) -> Result<Reply, Failure> {
    let definition = Definition::parse(kind, request.json_object().await?)?;
    check_resource(cosmos, &owner, kind, &definition)?;
    let minting = Minting::by(cosmos, request)?;
    let conditions = request.preconditions();
    let replaced = cosmos.store().replace_subresource(&owner, kind, id, &definition, conditions).await?;
    Ok(reply(&minting, request, StatusCode::OK, &owner, &replaced))
}

async fn delete(
    cosmos: &Cosmos,
    request: &Request,
    owner: Owner,
    kind: Kind,
    id: &str,
) -> Result<Reply, Failure> {
    let conditions = request.preconditions();
    cosmos.store().delete_subresource(&owner, kind, id, conditions).await?;
    Ok(Reply::new(StatusCode::NO_CONTENT, Charge::metadata()))
}

fn reply(
    minting: &Minting,
    request: &Request,
    status: StatusCode,
    owner: &Owner,
    child: &Subresource,
) -> Reply {
    let reply = Reply::new(status, Charge::metadata()).etag(child.etag);
    let is_write = *request.method() != Method::GET;
    if is_write && request.wants_minimal() { reply } else { reply.value(&minting.encode(owner, child)) }
}
