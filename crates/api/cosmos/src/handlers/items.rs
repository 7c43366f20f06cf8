//! Items: create, upsert, read, replace, delete (wire guide §13).

use crate::failure::Failure;
use crate::reply::{Reply, ToValue};
use crate::request::{Post, Request};
use crate::script::triggers::{self, Text, Write};
use crate::service::Cosmos;
use crate::{header, partition_key, session};
use bytes::Bytes;
use http::header::CONTENT_LOCATION;
use http::{HeaderName, HeaderValue, StatusCode};
use orrery_api_common::percent;
use orrery_core::{ItemId, Lsn};
use orrery_document_store::{Committed, Scope, Txn, WriteError};
use orrery_documents::catalog::Container;
use orrery_documents::charge::Charge;
use orrery_documents::item::{self, Directive, Effect, ItemError, ItemRow, PreparedItem, Target, Verdict};
use orrery_keys::Epk;
use orrery_value::binary_to_text;
use std::sync::Arc;

/// The first byte of Cosmos binary JSON, whatever the content type says (wire guide §1.3).
const BINARY: u8 = 0x80;

pub async fn post(
    cosmos: &Cosmos,
    request: &mut Request,
    container: &Arc<Container>,
) -> Result<Reply, Failure> {
    match request.post() {
        Post::Create => create(cosmos, request, container).await,
        Post::Upsert => upsert(cosmos, request, container).await,
        Post::Query => super::item_query::query(cosmos, request, container).await,
        Post::QueryPlan => crate::query::plan::plan(cosmos, request, container).await,
        Post::Batch => super::batch::post(cosmos, request, container).await,
    }
}

async fn create(
    cosmos: &Cosmos,
    request: &mut Request,
    container: &Arc<Container>,
) -> Result<Reply, Failure> {
    let item = prepared(request, container).await?;
    if triggers::are_named(request) {
        let text = with_triggers(request).await?;
        return triggers::write(cosmos, request, container, item.epk, text, Write::Create).await;
    }
    let (stamp, ordinal) = (cosmos.stamp(), || cosmos.store().next_ordinal());
    let body = |txn: &mut Txn<'_>| item::create(txn, container, &item, stamp, ordinal);
    let written = cosmos.store().write(scope(container, &item.epk), body).await;
    let written = checked(cosmos, container, &item.epk, written)?;
    noted(cosmos, container, &item.epk, &item.id, &written.value);
    Ok(write_reply(cosmos, request, container, &item.epk, &written.value, written.lsn))
}

async fn upsert(
    cosmos: &Cosmos,
    request: &mut Request,
    container: &Arc<Container>,
) -> Result<Reply, Failure> {
    let item = prepared(request, container).await?;
    // `If-None-Match: *` on an upsert would make it a create; it is the create's own condition.
    let conditions = request.preconditions();
    if triggers::are_named(request) {
        let text = with_triggers(request).await?;
        return triggers::write(cosmos, request, container, item.epk, text, Write::Upsert(conditions)).await;
    }
    let (stamp, ordinal) = (cosmos.stamp(), || cosmos.store().next_ordinal());
    let body = |txn: &mut Txn<'_>| item::upsert(txn, container, &item, conditions, stamp, ordinal);
    let written =
        checked(cosmos, container, &item.epk, cosmos.store().write(scope(container, &item.epk), body).await)?;
    noted(cosmos, container, &item.epk, &item.id, &written.value);
    Ok(write_reply(cosmos, request, container, &item.epk, &written.value, written.lsn))
}

pub async fn replace(
    cosmos: &Cosmos,
    request: &mut Request,
    container: &Arc<Container>,
    id: &str,
) -> Result<Reply, Failure> {
    let item = prepared(request, container).await?;
    let target = match request.header_or_refuse(&header::PARTITION_KEY)? {
        Some(_) => target(request, container, id)?,
        None => Target { epk: item.epk.clone(), id: ItemId::parse(id)? },
    };
    let (conditions, stamp) = (request.preconditions(), cosmos.stamp());
    if triggers::are_named(request) {
        let (text, epk) = (with_triggers(request).await?, target.epk.clone());
        return triggers::write(cosmos, request, container, epk, text, Write::Replace(target, conditions))
            .await;
    }
    let body = |txn: &mut Txn<'_>| item::replace(txn, container, &target, &item, conditions, stamp);
    let written = cosmos.store().write(scope(container, &target.epk), body).await;
    let written = checked(cosmos, container, &target.epk, written)?;
    noted(cosmos, container, &target.epk, &target.id, &written.value);
    Ok(write_reply(cosmos, request, container, &target.epk, &written.value, written.lsn))
}

pub async fn delete(
    cosmos: &Cosmos,
    request: &Request,
    container: &Arc<Container>,
    id: &str,
) -> Result<Reply, Failure> {
    let target = target(request, container, id)?;
    let (conditions, stamp) = (request.preconditions(), cosmos.stamp());
    if triggers::are_named(request) {
        let (text, epk) = (Text::default(), target.epk.clone());
        return triggers::write(cosmos, request, container, epk, text, Write::Delete(target, conditions))
            .await;
    }
    let body = |txn: &mut Txn<'_>| item::delete(txn, container, &target, conditions, stamp);
    let deleted = cosmos.store().write(scope(container, &target.epk), body).await;
    let deleted = checked(cosmos, container, &target.epk, deleted)?;
    cosmos.usage().touched(container.number(), target.epk.as_bytes());
    let reply = Reply::new(StatusCode::NO_CONTENT, deleted.value.charge);
    Ok(headers(cosmos, reply, container, &target.epk, deleted.lsn))
}

pub fn read(cosmos: &Cosmos, request: &Request, container: &Container, id: &str) -> Result<Reply, Failure> {
    let target = target(request, container, id)?;
    cosmos.usage().touched(container.number(), target.epk.as_bytes());
    let snapshot = cosmos.store().snapshot();
    let found = item::read(&*snapshot, container, &target, cosmos.store().env().now())?;
    let refused =
        |error: ItemError| Failure::from(error).at(place(cosmos, container, &target.epk, snapshot.lsn()));
    let item = found.ok_or_else(|| refused(ItemError::Missing))?;
    let status = match request.preconditions().check(item.etag()) {
        Verdict::Holds => StatusCode::OK,
        Verdict::Same => StatusCode::NOT_MODIFIED,
        Verdict::Changed => return Err(refused(ItemError::Changed)),
    };
    let charge = match status {
        StatusCode::OK => Charge::point_read(item.text_length()),
        _ => Charge::not_modified(),
    };
    let reply = Reply::new(status, charge).etag(item.etag()).header(header::ITEM_LSN, item.lsn().0);
    let reply = headers(cosmos, reply, container, &target.epk, snapshot.lsn());
    let reply = reply.header(CONTENT_LOCATION, request.url());
    Ok(if status == StatusCode::OK { with_item(reply, container, &item) } else { reply })
}

/// The body as an item that may be stored here: its partition key is the one that the header names.
async fn prepared(request: &mut Request, container: &Container) -> Result<PreparedItem, Failure> {
    let text = body_text(request).await?;
    let item = item::prepare(container, &text)?.indexed(directive(request)?);
    if let Some(header) = request.header_or_refuse(&header::PARTITION_KEY)?
        && partition_key::point(container, header)? != item.epk
    {
        return Err(Failure::wrong_partition_key(
            "PartitionKey extracted from document doesn't match the one specified in the header",
        ));
    }
    Ok(item)
}

/// The body as JSON text, which Cosmos binary JSON becomes.
pub(super) async fn body_text(request: &mut Request) -> Result<Bytes, Failure> {
    let body = request.body().await?;
    Ok(if body.first() == Some(&BINARY) { Bytes::from(binary_to_text(&body)?) } else { body })
}

/// The body for a write with triggers, which may change it.
async fn with_triggers(request: &mut Request) -> Result<Text, Failure> {
    Ok(Text { bytes: body_text(request).await?, directive: directive(request)? })
}

/// Whether the item is to be indexed, where the request has a say in it.
pub(super) fn directive(request: &Request) -> Result<Directive, Failure> {
    match request.header_or_refuse(&header::INDEXING_DIRECTIVE)?.map(str::to_ascii_lowercase).as_deref() {
        // One SDK sends its constants as numbers.
        None | Some("" | "default" | "0") => Ok(Directive::Default),
        Some("include" | "2") => Ok(Directive::Include),
        Some("exclude" | "1") => Ok(Directive::Exclude),
        Some(other) => Err(Failure::bad_request(format!(
            "The header x-ms-indexing-directive has the value '{other}'; choose Default, Include or Exclude."
        ))),
    }
}

pub(super) fn target(request: &Request, container: &Container, id: &str) -> Result<Target, Failure> {
    let key = request.header_or_refuse(&header::PARTITION_KEY)?.ok_or_else(|| {
        Failure::partition_key("The partition key is missing: send the header x-ms-documentdb-partitionkey.")
    })?;
    Ok(Target { epk: partition_key::point(container, key)?, id: ItemId::parse(id)? })
}

/// Remembers that an item was written.
pub(super) fn noted(cosmos: &Cosmos, container: &Container, epk: &Epk, id: &ItemId, written: &Effect) {
    let bytes = written.item.text_length();
    cosmos.usage().wrote(container.number(), epk.as_bytes(), id.as_str(), bytes);
}

pub(super) fn scope<'a>(container: &Container, epk: &'a Epk) -> Scope<'a> {
    Scope::Partition { container: container.number(), epk: epk.as_bytes() }
}

/// A refusal that tells something of an item says of its place what an answer would.
pub(super) fn checked<T>(
    cosmos: &Cosmos,
    container: &Container,
    epk: &Epk,
    written: Result<Committed<T>, WriteError<ItemError>>,
) -> Result<Committed<T>, Failure> {
    written
        .map_err(|error| Failure::from(error).at(place(cosmos, container, epk, cosmos.store().durable_lsn())))
}

pub fn write_reply(
    cosmos: &Cosmos,
    request: &Request,
    container: &Container,
    epk: &Epk,
    Effect { item, is_new, charge, warnings, .. }: &Effect,
    lsn: Lsn,
) -> Reply {
    let status = if *is_new { StatusCode::CREATED } else { StatusCode::OK };
    let reply = headers(
        cosmos,
        Reply::new(status, *charge).etag(item.etag()).warnings(*warnings),
        container,
        epk,
        lsn,
    );
    if request.wants_minimal() { reply } else { with_item(reply, container, item) }
}

fn with_item(reply: Reply, container: &Container, row: &ItemRow) -> Reply {
    let (text, tail) = row.json(container);
    reply.json_in_two(text, tail)
}

fn headers(cosmos: &Cosmos, reply: Reply, container: &Container, epk: &Epk, seen: Lsn) -> Reply {
    reply.headers(place(cosmos, container, epk, seen))
}

/// What every answer about an item says of its place, whether it has the item or refuses it. `seen` is the LSN of the
/// state that the answer comes from, or of the commit that it made.
pub fn place(cosmos: &Cosmos, container: &Container, epk: &Epk, seen: Lsn) -> [(HeaderName, HeaderValue); 6] {
    let range = container.ranges().of(epk).id;
    let (token, lsn) = session::token(cosmos, container, range, seen);
    [
        (header::SESSION_TOKEN, token.to_value()),
        (header::LSN, lsn.0.to_value()),
        (header::PARTITION_KEY_RANGE_ID, range.to_value()),
        (header::ALT_CONTENT_PATH, percent::encode_uri(container.path()).to_value()),
        (header::CONTENT_PATH, container.rid_text().to_value()),
        (header::SCHEMA_VERSION, HeaderValue::from_static("1.19")),
    ]
}
