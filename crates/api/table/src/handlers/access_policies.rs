//! The access policies that a table keeps.

use super::entities;
use crate::call::Call;
use crate::errors::Failure;
use crate::reply::Reply;
use http::StatusCode;
use orrery_api_storage::{access_policies, limits::DOCUMENT_BYTES_MAX};
use orrery_catalog::storage::{ServiceKind, TableName};
use orrery_table_store::TableStore;

pub fn read(store: &TableStore, call: &Call, table: &str) -> Result<Reply, Failure> {
    let table = entities::table(store, call, table)?;
    Ok(Reply::xml(access_policies::write(&table.access_policies)))
}

pub async fn write(store: &TableStore, call: &mut Call, table: &str) -> Result<Reply, Failure> {
    let body = call.body(DOCUMENT_BYTES_MAX).await?;
    let policies = access_policies::read(ServiceKind::Table, &body)?;
    store.set_access_policies(call.account(), &TableName::parse(table)?, policies).await?;
    Ok(Reply::new(StatusCode::NO_CONTENT))
}
