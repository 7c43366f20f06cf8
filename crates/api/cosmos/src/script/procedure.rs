//! Executing a stored procedure (wire guide §19).

use super::partition::{Partition, Script};
use super::{escaped_log, values, work};
use crate::failure::{Failure, OWNER_MISSING};
use crate::handlers::{find_container, items};
use crate::reply::Reply;
use crate::request::Request;
use crate::service::Cosmos;
use crate::{header, partition_key};
use bytes::Bytes;
use http::StatusCode;
use orrery_core::limits;
use orrery_documents::catalog::Container;
use orrery_documents::charge::Charge;
use orrery_documents::subresources::{self, Kind, Owner, SubresourceError};
use orrery_script::{Call, Ended};
use std::sync::Arc;

/// Runs the procedure in one transaction. One that was decided while the container came to be indexed in another way is
/// decided again.
pub async fn execute(
    cosmos: &Cosmos,
    request: &mut Request,
    database: &str,
    named: &str,
    id: &str,
) -> Result<Reply, Failure> {
    let arguments = arguments(&request.body().await?)?;
    let mut tries = 0;
    loop {
        let container = find_container(cosmos, request, database, named)?;
        let answer = attempt(cosmos, request, &container, id, &arguments).await;
        tries += 1;
        let is_refused = answer.as_ref().is_err_and(|failure| failure.substatus == OWNER_MISSING);
        if !is_refused || tries == limits::TRANSACTION_RETRIES_MAX || !cosmos.is_still_there(&container)? {
            return answer;
        }
    }
}

async fn attempt(
    cosmos: &Cosmos,
    request: &Request,
    container: &Arc<Container>,
    id: &str,
    arguments: &Arc<str>,
) -> Result<Reply, Failure> {
    let key = request.header_or_refuse(&header::PARTITION_KEY)?.ok_or_else(|| {
        Failure::partition_key("PartitionKey value must be supplied for this operation: send the header x-ms-documentdb-partitionkey.")
    })?;
    let epk = partition_key::point(container, key)?;
    let owner = Owner::Container(container.rid());
    let found = subresources::find(&*cosmos.store().snapshot(), &owner, Kind::StoredProcedure, id)?;
    let found = found.ok_or(SubresourceError::Missing(Kind::StoredProcedure.noun()))?;
    let script = Script { name: found.name.to_string(), body: found.script().to_owned() };
    let wants_log = request.is_true(&header::SCRIPT_ENABLE_LOGGING);
    let place = |lsn| items::place(cosmos, container, &epk, lsn);
    let body = {
        let (cosmos, container, epk) = (cosmos.clone(), container.clone(), epk.clone());
        let (values, arguments) = (values(request), arguments.clone());
        move |txn: &mut orrery_document_store::Txn<'_>| {
            let mut partition = Partition::new(&cosmos, &container, &epk, txn);
            let ended = partition.run(&script, Call::Procedure { arguments: &arguments }, &values);
            let ended = ended.map_err(|(failure, said)| failure.and(escaped_log(wants_log, &said)))?;
            Ok((ended, partition.charge, partition.warnings))
        }
    };
    let written = work::write(cosmos, container, &epk, body).await;
    let written = written.map_err(|failure| failure.and(place(cosmos.store().durable_lsn())))?;
    cosmos.usage().touched(container.number(), epk.as_bytes());
    let (Ended { body, log }, charge, warnings) = written.value;
    // Calling a script costs what reading it does.
    let charge = [Charge::point_read(0), charge].into_iter().sum();
    let reply = Reply::new(StatusCode::OK, charge).warnings(warnings);
    let reply = reply.headers(place(written.lsn)).headers(escaped_log(wants_log, &log));
    Ok(match body {
        Some(body) => reply.json(body),
        None => reply,
    })
}

/// The body as the text of a JSON array; an empty one is no arguments.
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
