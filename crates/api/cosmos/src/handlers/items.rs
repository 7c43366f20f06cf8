//! Items: create, upsert, read, replace, patch, delete (wire guide §13, §14).

use crate::failure::Failure;
use crate::reply::{Reply, ToValue};
use crate::request::{Post, Request};
use crate::service::Cosmos;
use crate::{header, scripts, session};
use bytes::Bytes;
use http::header::CONTENT_LOCATION;
use http::{HeaderName, HeaderValue, StatusCode};
use orrery_api_common::percent;
use orrery_core::{ItemId, Lsn};
use orrery_document_store::{
    Charged as _, Found, ItemAction, ItemWrite, PartitionKeyError, Refused, Written, partition_key,
};
use orrery_documents::catalog::Container;
use orrery_documents::item::{Directive, ItemRow, Target};
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
    orrery_core::tour_step!();
    match request.post() {
        Post::Create => {
            let text = body_text(request).await?;
            write(cosmos, request, container, ItemAction::Create { text }).await
        }
        Post::Upsert => {
            let text = body_text(request).await?;
            write(cosmos, request, container, ItemAction::Upsert { text }).await
        }
        Post::Query => super::item_query::query(cosmos, request, container).await,
        Post::QueryPlan => super::item_query::plan(cosmos, request, container).await,
        Post::Batch => super::batch::post(cosmos, request, container).await,
    }
}

pub async fn replace(
    cosmos: &Cosmos,
    request: &mut Request,
    container: &Arc<Container>,
    id: &str,
) -> Result<Reply, Failure> {
    let text = body_text(request).await?;
    write(cosmos, request, container, ItemAction::Replace { id: ItemId::parse(id)?, text }).await
}

/// Regardless of the content type: SDKs send three different ones, or none.
pub async fn patch(
    cosmos: &Cosmos,
    request: &mut Request,
    container: &Arc<Container>,
    id: &str,
) -> Result<Reply, Failure> {
    let text = body_text(request).await?;
    let Target { id, .. } = target(request, container, id)?;
    write(cosmos, request, container, ItemAction::Patch { id, text }).await
}

pub async fn delete(
    cosmos: &Cosmos,
    request: &Request,
    container: &Arc<Container>,
    id: &str,
) -> Result<Reply, Failure> {
    let Target { id, .. } = target(request, container, id)?;
    write(cosmos, request, container, ItemAction::Delete { id }).await
}

async fn write(
    cosmos: &Cosmos,
    request: &Request,
    container: &Arc<Container>,
    action: ItemAction,
) -> Result<Reply, Failure> {
    let key = request.header_or_refuse(&header::PARTITION_KEY)?;
    let write = ItemWrite {
        partition: key.map(|key| partition_key::point(container, key)).transpose()?,
        conditions: request.preconditions(),
        directive: directive(request)?,
        triggers: scripts::trigger_names(request)?,
        priority: request.priority(),
        action,
    };
    let wants_log = write.triggers.is_some() && request.is_true(&header::SCRIPT_ENABLE_LOGGING);
    let written = cosmos.store().write_item(container, &write).await;
    let written = written.map_err(|refused| failure(cosmos, container, refused, wants_log))?;
    let reply = match write.action {
        ItemAction::Delete { .. } => {
            let reply =
                Reply::new(StatusCode::NO_CONTENT, written.charge()).warnings(written.effect.warnings);
            reply.headers(place(cosmos, &written.container, &written.epk, written.lsn))
        }
        _ => write_reply(cosmos, request, &written),
    };
    Ok(reply.headers(scripts::escaped_log(wants_log, &written.script_log)))
}

pub async fn read(
    cosmos: &Cosmos,
    request: &Request,
    container: &Container,
    id: &str,
) -> Result<Reply, Failure> {
    let target = target(request, container, id)?;
    let (conditions, priority) = (request.preconditions(), request.priority());
    let found = cosmos.store().read_item(container, &target, conditions, priority).await;
    let found = found.map_err(|refused| failure(cosmos, container, refused, false))?;
    let charge = found.charge();
    let Found { item, is_same, lsn } = found;
    let status = if is_same { StatusCode::NOT_MODIFIED } else { StatusCode::OK };
    let reply = Reply::new(status, charge).etag(item.etag()).header(header::ITEM_LSN, item.lsn().0);
    let reply = reply.headers(place(cosmos, container, &target.epk, lsn));
    let reply = reply.header(CONTENT_LOCATION, request.url());
    Ok(if is_same { reply } else { with_item(reply, container, &item) })
}

/// The body as JSON text, converted from Cosmos binary JSON if necessary.
pub(super) async fn body_text(request: &mut Request) -> Result<Bytes, Failure> {
    let body = request.body().await?;
    Ok(if body.first() == Some(&BINARY) { Bytes::from(binary_to_text(&body)?) } else { body })
}

/// The request's indexing directive, if any.
pub(super) fn directive(request: &Request) -> Result<Directive, Failure> {
    match request.header_or_refuse(&header::INDEXING_DIRECTIVE)?.map(str::to_ascii_lowercase).as_deref() {
        // One SDK sends the constants as numbers.
        None | Some("" | "default" | "0") => Ok(Directive::Default),
        Some("include" | "2") => Ok(Directive::Include),
        Some("exclude" | "1") => Ok(Directive::Exclude),
        Some(other) => Err(Failure::bad_request(format!(
            "The header x-ms-indexing-directive has the value '{other}'; choose Default, Include or Exclude."
        ))),
    }
}

fn target(request: &Request, container: &Container, id: &str) -> Result<Target, Failure> {
    let key = request.header_or_refuse(&header::PARTITION_KEY)?.ok_or(PartitionKeyError::Missing)?;
    Ok(Target { epk: partition_key::point(container, key)?, id: ItemId::parse(id)? })
}

/// A refusal that reached a partition has the location headers of a success.
pub fn failure(cosmos: &Cosmos, container: &Container, refused: Refused, wants_log: bool) -> Failure {
    let Refused { error, epk, script_log } = refused;
    let failure = Failure::from(error);
    let place = epk.map(|epk| place(cosmos, container, &epk, cosmos.store().durable_lsn()));
    failure.and(scripts::escaped_log(wants_log, &script_log)).and(place.into_iter().flatten())
}

fn write_reply(cosmos: &Cosmos, request: &Request, written: &Written) -> Reply {
    orrery_core::tour_step!();
    let Written { container, epk, lsn, effect, answer, .. } = written;
    let status = if effect.is_new { StatusCode::CREATED } else { StatusCode::OK };
    let reply = Reply::new(status, effect.charge).etag(effect.item.etag()).warnings(effect.warnings);
    let reply = reply.headers(place(cosmos, container, epk, *lsn));
    match answer {
        _ if request.wants_minimal() => reply,
        Some(answer) => reply.json(answer.clone()),
        None => with_item(reply, container, &effect.item),
    }
}

fn with_item(reply: Reply, container: &Container, row: &ItemRow) -> Reply {
    let (text, tail) = row.json(container);
    reply.json_in_two(text, tail)
}

/// The location headers of every response about an item, success or refusal. `seen` is the LSN of the snapshot that
/// it comes from, or of the commit that it made.
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
