//! The access policies that a table keeps.

use crate::call::Call;
use crate::errors::Failure;
use crate::reply::Reply;
use orrery_api_storage::StorageError;
use orrery_table_store::TableStore;

pub fn read(_store: &TableStore, _call: &Call, _table: &str) -> Result<Reply, Failure> {
    Err(StorageError::not_implemented("x").into())
}

pub async fn write(_store: &TableStore, _call: &mut Call, _table: &str) -> Result<Reply, Failure> {
    Err(StorageError::not_implemented("x").into())
}
