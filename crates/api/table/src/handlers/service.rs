//! The properties of the service, and its statistics.

use crate::call::Call;
use crate::errors::Failure;
use crate::reply::Reply;
use orrery_api_storage::StorageError;
use orrery_table_store::TableStore;

pub fn read_properties(_store: &TableStore, _call: &Call) -> Result<Reply, Failure> {
    Err(StorageError::not_implemented("x").into())
}

pub async fn write_properties(_store: &TableStore, _call: &mut Call) -> Result<Reply, Failure> {
    Err(StorageError::not_implemented("x").into())
}

pub fn read_statistics(_call: &Call) -> Result<Reply, Failure> {
    Err(StorageError::not_implemented("x").into())
}
