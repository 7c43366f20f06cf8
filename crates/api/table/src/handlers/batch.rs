//! `$batch`: an entity group transaction, or one request that stands in it directly.
//!
//! A batch that cannot be read is refused as a whole. Once it is read, the answer is 202 whatever comes of it: the parts
//! of all operations, or the one part of the operation that failed, with its number in front of the sentence.

use super::{entities, query};
use crate::call::Call;
use crate::decode;
use crate::errors::{Failure, InvalidBatch, Refused};
use crate::head::Head;
use crate::limits::{BATCH_BYTES_MAX, CONTENT_ID_CHARS_MAX};
use crate::multipart::{self, Batch, ChangesetWriter, Inner, MultipartError, Part, write_single};
use crate::operation::OnEntities;
use crate::options::QueryOptions;
use crate::reply::Reply;
use crate::route::{inner_path, locate};
use crate::verb::{self, Verb};
use bytes::Bytes;
use http::StatusCode;
use orrery_api_storage::{Grant, StorageError, header};
use orrery_protocol::storage::Query;
use orrery_table_store::TableStore;
use orrery_tables::{EntityOperation, GroupTransaction};

/// What errors inside a batch are written as.
const ERROR_TYPE: &str = "application/json;odata=minimalmetadata;charset=utf-8";

/// The body of a batch, whole.
pub async fn arrive(call: &mut Call) -> Result<Arrived, Failure> {
    let content_type = call.header("content-type").map(|kind| kind.into_owned()).unwrap_or_default();
    let boundary = multipart::boundary(&content_type)?.to_owned();
    Ok(Arrived { body: call.body(BATCH_BYTES_MAX).await?, boundary })
}

pub struct Arrived {
    body: Bytes,
    boundary: String,
}

impl Arrived {
    pub fn read(&self) -> Result<Batch<'_>, MultipartError> {
        multipart::read(&self.body, &self.boundary)
    }
}

/// The table that the first request of a batch names.
pub fn first_table(batch: &Batch<'_>) -> Option<String> {
    let first = match batch {
        Batch::Single(inner) => inner,
        Batch::Changeset(operations) => operations.first()?,
    };
    Step::read(first).ok().map(|step| step.asked.table().to_owned())
}

pub async fn run(
    store: &TableStore,
    call: &Call,
    grant: &Grant,
    batch: &Batch<'_>,
) -> Result<Reply, Failure> {
    let guid = || store.env().guid();
    let (content_type, body) = match batch {
        Batch::Single(inner) => {
            let reply = told(call, single(store, call, grant, inner).await)?;
            write_single(&guid(), &part(inner, &reply))
        }
        Batch::Changeset(inners) => {
            let mut writer = ChangesetWriter::new(&guid(), &guid());
            match changeset(store, call, grant, inners).await {
                Ok(replies) => {
                    inners.iter().zip(&replies).for_each(|(inner, reply)| writer.push(&part(inner, reply)));
                }
                Err(refused) => {
                    let inner = &inners[refused.index.min(inners.len() - 1)];
                    writer.push(&part(inner, &told(call, Err(refused.into_failure()))?));
                }
            }
            writer.finish()
        }
    };
    Ok(Reply::with_body(StatusCode::ACCEPTED, &content_type, body))
}

/// A refusal as a part of the answer. A failure of the server is the whole batch's, so that clients try it again.
fn told(call: &Call, outcome: Result<Reply, Failure>) -> Result<Reply, Failure> {
    match outcome {
        Err(Failure(error)) if !is_servers(error.status) => {
            let body = error.odata_body(&call.request.envelope);
            let reply = Reply::with_body(error.status, ERROR_TYPE, body);
            Ok(reply.header(header::ERROR_CODE, error.code))
        }
        outcome => outcome,
    }
}

fn is_servers(status: StatusCode) -> bool {
    status.is_server_error() && status != StatusCode::NOT_IMPLEMENTED
}

fn part<'a>(inner: &Inner<'a>, reply: &'a Reply) -> Part<'a> {
    let is_echoed =
        |id: &&str| id.len() <= CONTENT_ID_CHARS_MAX && id.bytes().all(|byte| byte.is_ascii_graphic());
    Part {
        status: reply.status,
        content_id: inner.content_id.filter(is_echoed),
        headers: &reply.headers,
        body: &reply.body,
    }
}

/// A request of the batch, read.
struct Step {
    asked: OnEntities,
    head: Head,
    options: QueryOptions,
}

impl Step {
    fn read(inner: &Inner<'_>) -> Result<Self, Failure> {
        let verb = match (verb::named(inner.method), inner.header("x-http-method")) {
            (Some(Verb::Post), Some(tunnelled)) => verb::named(tunnelled),
            (verb, _) => verb,
        };
        let verb = verb.ok_or_else(StorageError::unsupported_verb)?;
        let query = inner.target.split_once('?').map_or("", |(_, query)| query);
        let query = Query::parse(query).map_err(|_| StorageError::invalid_uri())?;
        let head = Head::read(|name| inner.header(name), query.get("$format").as_deref())?;
        let asked = OnEntities::of(locate(inner_path(inner.target))?, verb, head.if_match.is_some())?;
        Ok(Self { asked, head, options: QueryOptions::read(query.meant())? })
    }
}

async fn single(store: &TableStore, call: &Call, grant: &Grant, inner: &Inner<'_>) -> Result<Reply, Failure> {
    let Step { asked, head, options } = Step::read(inner)?;
    permit(call, grant, &asked)?;
    match &asked {
        OnEntities::Query { table } => query::run(store, call, &head, table, options, grant).await,
        OnEntities::Read(place) => {
            entities::read_selected(store, call, &head, place, grant, options.select.as_deref())
        }
        OnEntities::Insert { .. } | OnEntities::Write(..) | OnEntities::Delete(_) => {
            entities::write_body(store, call, &head, &asked, grant, inner.body).await
        }
    }
}

/// All operations or none.
async fn changeset(
    store: &TableStore,
    call: &Call,
    grant: &Grant,
    inners: &[Inner<'_>],
) -> Result<Vec<Reply>, Refused> {
    let mut steps: Vec<(Step, EntityOperation)> = Vec::with_capacity(inners.len());
    for (index, inner) in inners.iter().enumerate() {
        let first_table = steps.first().map(|(step, _)| step.asked.table());
        let step = read_operation(inner, first_table, call, grant);
        steps.push(step.map_err(|failure| Refused::new(index, failure))?);
    }
    let (steps, operations): (Vec<Step>, Vec<EntityOperation>) = steps.into_iter().unzip();
    let group = GroupTransaction::new(operations)?;
    let table = entities::table(store, call, steps[0].asked.table());
    let table = table.map_err(|failure| Refused::new(0, failure))?;
    let written = store.transact(&table, &group).await?;
    let addressed = entities::addressed(call, &table);
    let done = steps.iter().zip(group.operations()).zip(&written);
    Ok(done.map(|((step, operation), written)| addressed.written(&step.head, operation, written)).collect())
}

fn read_operation(
    inner: &Inner<'_>,
    first_table: Option<&str>,
    call: &Call,
    grant: &Grant,
) -> Result<(Step, EntityOperation), Failure> {
    let step = Step::read(inner)?;
    if first_table.is_some_and(|table| !table.eq_ignore_ascii_case(step.asked.table())) {
        return Err(InvalidBatch::DifferentTables.into());
    }
    permit(call, grant, &step.asked)?;
    let operation = decode::operation(&step.asked, &step.head, inner.body)?.ok_or(InvalidBatch::Read)?;
    entities::check_range(grant, operation.key())?;
    Ok((step, operation))
}

/// The outer request was judged for what it could read.
fn permit(call: &Call, grant: &Grant, asked: &OnEntities) -> Result<(), Failure> {
    let need = asked.need();
    if need.is_write && call.request.is_secondary {
        return Err(StorageError::secondary_is_read_only().into());
    }
    Ok(grant.permit(&need)?)
}
