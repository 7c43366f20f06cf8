//! Operations on entities.

use crate::error::Error;
use crate::handle::TableHandle;
use crate::scope;
use crate::store::TableStore;
use crate::usage::OperationKind;
use orrery_tables::{
    EntityError, EntityKey, EntityOperation, EntityRow, GroupError, GroupTransaction, Written, group,
    operations,
};
use orrery_txn::Scope;

impl TableStore {
    /// The entity with this key.
    pub fn get(&self, table: &TableHandle, key: &EntityKey) -> Result<EntityRow, Error> {
        table.usage().count(OperationKind::Get, key.partition_key.as_str());
        let found = operations::get(&*self.snapshot(), table.number(), key)?;
        found.ok_or(Error::Entity(EntityError::NotFound))
    }

    /// Does one operation and answers when it is durable.
    pub async fn write(&self, table: &TableHandle, operation: &EntityOperation) -> Result<Written, Error> {
        let partition_key = operation.key().partition_key.as_str();
        table.usage().count(OperationKind::of(operation), partition_key);
        let (scope, stamp) = (scope::partition(table.number(), partition_key), self.stamp());
        let write =
            self.txns().write(Scope::new(&scope), |txn| operations::apply(txn, table, operation, stamp));
        counted(table, write.await.map(|committed| committed.value).map_err(Error::from))
    }

    /// Does all operations of a group or none.
    pub async fn transact(
        &self,
        table: &TableHandle,
        transaction: &GroupTransaction,
    ) -> Result<Vec<Written>, Error> {
        let partition_key = transaction.partition_key().as_str();
        table.usage().count(OperationKind::GroupTransaction, partition_key);
        let (scope, stamp) = (scope::partition(table.number(), partition_key), self.stamp());
        let apply = |txn: &mut orrery_kv::Txn<'_>| -> Result<Vec<Written>, GroupError> {
            group::apply_group(txn, table, transaction, stamp)
        };
        let write = self.txns().write(Scope::new(&scope), apply).await;
        counted(table, write.map(|committed| committed.value).map_err(Error::from))
    }
}

fn counted<T>(table: &TableHandle, written: Result<T, Error>) -> Result<T, Error> {
    written.inspect_err(|error| table.usage().count_failure(error))
}
