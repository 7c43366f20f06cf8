//! One entity: read and write.

use crate::call::Call;
use crate::decode;
use crate::encode::Addressed;
use crate::errors::Failure;
use crate::head::Head;
use crate::limits::BODY_BYTES_MAX;
use crate::operation::{OnEntities, Place};
use crate::reply::Reply;
use orrery_api_storage::{Grant, StorageError};
use orrery_catalog::storage::TableName;
use orrery_table_store::{TableHandle, TableStore};
use orrery_tables::EntityKey;

pub fn read(
    store: &TableStore,
    call: &Call,
    head: &Head,
    place: &Place,
    grant: &Grant,
) -> Result<Reply, Failure> {
    let select = call.options()?.select;
    read_selected(store, call, head, place, grant, select.as_deref())
}

/// Of what is selected; a read inside a batch selects by itself.
pub fn read_selected(
    store: &TableStore,
    call: &Call,
    head: &Head,
    place: &Place,
    grant: &Grant,
    select: Option<&[String]>,
) -> Result<Reply, Failure> {
    let key = decode::key(place)?;
    check_range(grant, &key)?;
    let table = table(store, call, &place.table)?;
    let row = store.get(&table, &key)?;
    Ok(addressed(call, &table).entity(head, select, &row))
}

pub async fn write(
    store: &TableStore,
    call: &mut Call,
    head: &Head,
    asked: &OnEntities,
    grant: &Grant,
) -> Result<Reply, Failure> {
    let body = call.body(BODY_BYTES_MAX).await?;
    write_body(store, call, head, asked, grant, &body).await
}

pub async fn write_body(
    store: &TableStore,
    call: &Call,
    head: &Head,
    asked: &OnEntities,
    grant: &Grant,
    body: &[u8],
) -> Result<Reply, Failure> {
    let operation = decode::operation(asked, head, body)?.ok_or_else(StorageError::unsupported_verb)?;
    check_range(grant, operation.key())?;
    let table = table(store, call, asked.table())?;
    let written = store.write(&table, &operation).await?;
    Ok(addressed(call, &table).written(head, &operation, &written))
}

/// A signature may be for a part of a table.
pub fn check_range(grant: &Grant, key: &EntityKey) -> Result<(), Failure> {
    let is_inside = |range: &orrery_api_storage::TableRange| {
        range.contains(key.partition_key.as_str(), key.row_key.as_str())
    };
    if grant.table_range().is_none_or(is_inside) {
        return Ok(());
    }
    Err(StorageError::authorization_failure().into())
}

pub fn table(store: &TableStore, call: &Call, name: &str) -> Result<TableHandle, Failure> {
    Ok(store.table(call.account(), &TableName::parse(name)?)?)
}

pub fn addressed<'a>(call: &'a Call, table: &'a TableHandle) -> Addressed<'a> {
    Addressed { base_url: &call.base_url, account: call.account().as_str(), table: table.name.as_str() }
}
