//! Tables: list, create, read, delete.

use crate::call::Call;
use crate::continuation;
use crate::errors::Failure;
use crate::head::Head;
use crate::json::{self, Answer, read_table_name};
use crate::limits::BODY_BYTES_MAX;
use crate::reply::{Reply, table_url};
use http::{HeaderName, StatusCode};
use orrery_api_storage::StorageError;
use orrery_catalog::storage::TableName;
use orrery_table_store::{Error, TableListRequest, TableStore};

const NEXT_TABLE_NAME: HeaderName = HeaderName::from_static("x-ms-continuation-nexttablename");

pub fn list(store: &TableStore, call: &Call) -> Result<Reply, Failure> {
    let (head, options) = (call.head()?, call.options()?);
    let request =
        TableListRequest { filter: options.filter, top: options.top, from: options.next_table_name };
    let list = store.list_tables(call.account(), &request);
    let names = list.tables.iter().map(|table| table.name.as_str());
    let reply = Reply::json(head.level, json::tables(&answer(call, &head), names));
    Ok(match list.next {
        Some(next) => reply.header(NEXT_TABLE_NAME, &continuation::write(&next)),
        None => reply,
    })
}

pub async fn create(store: &TableStore, call: &mut Call) -> Result<Reply, Failure> {
    let head = call.head()?;
    let name = TableName::parse(&read_table_name(&call.body(BODY_BYTES_MAX).await?)?)?;
    store.create_table(call.account(), &name).await?;
    let place = table_url(&call.base_url, name.as_str());
    Ok(Reply::created(&head, &place, || json::table(&answer(call, &head), name.as_str())))
}

pub fn read(store: &TableStore, call: &Call, name: &str) -> Result<Reply, Failure> {
    let head = call.head()?;
    let table = store.table(call.account(), &TableName::parse(name)?).map_err(not_found)?;
    Ok(Reply::json(head.level, json::table(&answer(call, &head), table.name.as_str())))
}

pub async fn delete(store: &TableStore, call: &Call, name: &str) -> Result<Reply, Failure> {
    store.delete_table(call.account(), &TableName::parse(name)?).await.map_err(not_found)?;
    Ok(Reply::new(StatusCode::NO_CONTENT))
}

fn answer<'a>(call: &'a Call, head: &Head) -> Answer<'a> {
    Answer { level: head.level, base_url: &call.base_url, account: call.account().as_str(), select: None }
}

/// An entry of the list that is not there is a resource like any other; only below it is it a table that is missing.
fn not_found(error: Error) -> Failure {
    match error {
        Error::TableNotFound => StorageError::not_found().into(),
        error => error.into(),
    }
}
