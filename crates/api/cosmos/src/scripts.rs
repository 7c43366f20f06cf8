//! Scripts on the wire: executing a stored procedure, the trigger headers, and the header with a script's log (wire
//! guide §19).

use crate::failure::Failure;
use crate::handlers::{find_container, items};
use crate::header;
use crate::limits;
use crate::reply::Reply;
use crate::request::Request;
use crate::service::Cosmos;
use bytes::Bytes;
use http::{HeaderName, HeaderValue, StatusCode};
use orrery_api_common::percent;
use orrery_document_store::{ProcedureCall, TriggerNames, partition_key};
use serde_json::Value;
use std::sync::Arc;

pub async fn execute_procedure(
    cosmos: &Cosmos,
    request: &mut Request,
    database: &str,
    named: &str,
    id: &str,
) -> Result<Reply, Failure> {
    let arguments = arguments(&request.body().await?)?;
    let container = find_container(cosmos, request, database, named)?;
    let key = request.header_or_refuse(&header::PARTITION_KEY)?.ok_or_else(|| {
        Failure::partition_key("PartitionKey value must be supplied for this operation: send the header x-ms-documentdb-partitionkey.")
    })?;
    let call = ProcedureCall {
        id: id.to_owned(),
        epk: partition_key::point(&container, key)?,
        arguments,
        headers: headers(request),
        priority: request.priority(),
    };
    let wants_log = request.is_true(&header::SCRIPT_ENABLE_LOGGING);
    let done = cosmos.store().execute_procedure(&container, &call).await;
    let done = done.map_err(|refused| items::failure(cosmos, &container, refused, wants_log))?;
    let reply = Reply::new(StatusCode::OK, done.charge).warnings(done.warnings);
    let reply = reply.headers(items::place(cosmos, &done.container, &call.epk, done.lsn));
    let reply = reply.headers(escaped_log(wants_log, &done.log));
    Ok(match done.body {
        Some(body) => reply.json(body),
        None => reply,
    })
}

/// The body as the text of a JSON array; an empty body means no arguments.
fn arguments(body: &Bytes) -> Result<Arc<str>, Failure> {
    let refused = |why: &str| {
        Failure::bad_request(format!("The arguments of the stored procedure are invalid: {why}."))
    };
    let text = orrery_value::utf8(body).map_err(|error| refused(&error.to_string()))?.trim();
    if text.is_empty() {
        return Ok("[]".into());
    }
    orrery_value::scan_value(text.as_bytes()).map_err(|error| refused(&error.to_string()))?;
    if !text.starts_with('[') {
        return Err(refused("they are not a JSON array"));
    }
    Ok(text.into())
}

/// The triggers named by the request, if any.
pub fn trigger_names(request: &Request) -> Result<Option<TriggerNames>, Failure> {
    let names = |name: &HeaderName| -> Result<Vec<String>, Failure> {
        let list = request.header_or_refuse(name)?.unwrap_or_default();
        let names = list.split(',').map(str::trim).filter(|name| !name.is_empty());
        Ok(names.map(str::to_owned).collect())
    };
    let (before, after) = (names(&header::PRE_TRIGGER_INCLUDE)?, names(&header::POST_TRIGGER_INCLUDE)?);
    if before.is_empty() && after.is_empty() {
        return Ok(None);
    }
    Ok(Some(TriggerNames { before, after, headers: headers(request) }))
}

/// The request's headers as a script sees them: the text of a JSON object, without credentials.
fn headers(request: &Request) -> String {
    let headers = request.head.headers.iter().filter(|(name, _)| **name != http::header::AUTHORIZATION);
    let text = |value: &HeaderValue| value.to_str().ok().map(Value::from);
    let headers = headers.filter_map(|(name, value)| Some((name.as_str().to_owned(), text(value)?)));
    Value::Object(headers.collect()).to_string()
}

/// The header with a script's log, if requested; truncated to the header's limit.
pub fn escaped_log(is_wanted: bool, log: &str) -> Option<(HeaderName, HeaderValue)> {
    if !is_wanted {
        return None;
    }
    let mut escaped = String::new();
    let mut buffer = [0; 4];
    for character in log.chars() {
        let part =
            percent_encoding::utf8_percent_encode(character.encode_utf8(&mut buffer), &percent::COMPONENT);
        let part = part.to_string();
        if escaped.len() + part.len() > limits::SCRIPT_LOG_HEADER_BYTES_MAX {
            break;
        }
        escaped.push_str(&part);
    }
    let value = HeaderValue::from_str(&escaped).ok()?;
    Some((header::SCRIPT_LOG_RESULTS, value))
}
