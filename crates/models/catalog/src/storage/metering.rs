//! Metering of storage: what each table, queue and blob container was asked in an hour and what it held.
//!
//! There is one row per hour and resource, as there is for [containers](crate::metering), with names, so that a bill can list
//! what was dropped meanwhile. Number 0 is those of a service that are not told apart.

use crate::limits;
use crate::row::{self, Row};
use crate::storage::ServiceKind;
use bytes::Bytes;
use orrery_kv::{Error, META, Order, Read, Txn};
use serde::{Deserialize, Serialize};

/// What a transaction does; services have a price for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OperationClass {
    Read,
    Write,
    /// A page of a query or of a list.
    Query,
    Delete,
}

/// How many transactions there were, of each class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Transactions([u64; OperationClass::ALL.len()]);

/// A resource's usage in an hour, or in part of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StorageUse {
    pub account: String,
    pub name: String,
    pub transactions: Transactions,
    /// The maximum stored.
    pub bytes: u64,
}

/// An hour, the resource, and its usage.
pub type StorageHour = (u32, ServiceKind, u32, StorageUse);

impl OperationClass {
    pub const ALL: [Self; 4] = [Self::Read, Self::Write, Self::Query, Self::Delete];

    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Query => "query",
            Self::Delete => "delete",
        }
    }
}

impl Transactions {
    pub fn add(&mut self, class: OperationClass, count: u64) {
        let sum = &mut self.0[class as usize];
        *sum = sum.saturating_add(count);
    }

    pub fn get(&self, class: OperationClass) -> u64 {
        self.0[class as usize]
    }

    pub fn merge(&mut self, other: &Self) {
        OperationClass::ALL.into_iter().for_each(|class| self.add(class, other.get(class)));
    }

    pub fn total(&self) -> u64 {
        self.0.iter().fold(0, |sum, count| sum.saturating_add(*count))
    }
}

impl StorageUse {
    /// Combines two parts of an hour.
    pub fn merge(&mut self, later: &Self) {
        self.transactions.merge(&later.transactions);
        self.bytes = self.bytes.max(later.bytes);
    }
}

/// Adds to the row of an hour, counted from 1970.
pub fn add(
    txn: &mut Txn<'_>,
    hour: u32,
    service: ServiceKind,
    number: u32,
    used: &StorageUse,
) -> Result<(), Error> {
    let key = Row::MeteredStorage { hour, service, number }.key();
    let sum = match txn.get(META, &key)? {
        None => used.clone(),
        Some(stored) => {
            let mut sum = read(&stored)?;
            sum.merge(used);
            sum
        }
    };
    txn.put(META, key, write(&sum));
    Ok(())
}

/// The usage of the hours in a half-open range, in order of time.
pub fn between(state: &dyn Read, from: u32, to: u32) -> Result<Vec<StorageHour>, Error> {
    let rows = state.range(META, &row::metered_storage(from, to), Order::Ascending);
    let read = |row: Result<orrery_kv::Row, Error>| {
        let (key, value) = row?;
        let (hour, service, number) = row::read_metered_storage(&key)
            .ok_or_else(|| Error::Corrupt("a row of measured storage has a strange key".into()))?;
        Ok((hour, service, number, read(&value)?))
    };
    rows.map(read).collect()
}

/// Deletes some rows older than an hour; returns whether there were any.
pub fn forget_before(txn: &mut Txn<'_>, hour: u32) -> Result<bool, Error> {
    let rows = txn.range(META, &row::metered_storage(0, hour), Order::Ascending);
    let keys = rows.take(limits::METERING_ROWS_MAX).map(|row| row.map(|(key, _)| key));
    let keys = keys.collect::<Result<Vec<_>, Error>>()?;
    let is_any = !keys.is_empty();
    keys.into_iter().for_each(|key| txn.delete(META, key));
    Ok(is_any)
}

// The stored form of usage: JSON with a version (`docs/formats/metering.md`).

const VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
struct Record {
    v: u32,
    account: String,
    name: String,
    read: u64,
    write: u64,
    query: u64,
    delete: u64,
    bytes: u64,
}

fn write(used: &StorageUse) -> Bytes {
    let count = |class| used.transactions.get(class);
    let record = Record {
        v: VERSION,
        account: used.account.clone(),
        name: used.name.clone(),
        read: count(OperationClass::Read),
        write: count(OperationClass::Write),
        query: count(OperationClass::Query),
        delete: count(OperationClass::Delete),
        bytes: used.bytes,
    };
    Bytes::from(serde_json::to_vec(&record).expect("plain data is JSON"))
}

fn read(bytes: &[u8]) -> Result<StorageUse, Error> {
    let damaged = |why: String| Error::Corrupt(format!("a row of measured storage {why}"));
    let record: Record =
        serde_json::from_slice(bytes).map_err(|error| damaged(format!("cannot be read: {error}")))?;
    if record.v != VERSION {
        return Err(damaged(format!("has version {}", record.v)));
    }
    let Record { account, name, read, write, query, delete, bytes, .. } = record;
    Ok(StorageUse { account, name, transactions: Transactions([read, write, query, delete]), bytes })
}

#[cfg(test)]
mod tests {
    use super::*;
    use orrery_core::Lsn;
    use orrery_kv::{Db, MemoryEngine, Overlay, SpaceSet, Sync};

    static META_ONLY: SpaceSet = SpaceSet::new(&[]);

    fn used(reads: u64, bytes: u64) -> StorageUse {
        let transactions = Transactions([reads, 1, 0, 0]);
        StorageUse { account: "a".into(), name: "n".into(), transactions, bytes }
    }

    /// Commits the changes of `body`.
    fn commit<T>(db: &Db, lsn: u64, body: impl FnOnce(&mut Txn<'_>) -> Result<T, Error>) -> T {
        let (snapshot, pending) = (db.snapshot(), Overlay::default());
        let mut txn = Txn::new(&snapshot, &pending);
        let said = body(&mut txn).expect("it works");
        db.commit(vec![txn.into_batch().stamp(Lsn(lsn))]).expect("it is committed");
        said
    }

    #[test]
    fn usage_adds_up_by_hour_and_resource() {
        let db = Db::open(Box::new(MemoryEngine::new(&META_ONLY)), Sync::Data).expect("a store");
        let (table, queue) = (ServiceKind::Table, ServiceKind::Queue);
        commit(&db, 1, |txn| {
            add(txn, 7, table, 3, &used(5, 40))?;
            add(txn, 7, table, 3, &used(2, 30))?;
            add(txn, 7, queue, 4, &used(9, 1))?;
            add(txn, 8, table, 3, &used(1, 1))
        });
        let mut sum = used(7, 40);
        sum.transactions.add(OperationClass::Write, 1);
        assert_eq!((sum.transactions.total(), sum.transactions.get(OperationClass::Read)), (9, 7));
        let expected = [(7, queue, 4, used(9, 1)), (7, table, 3, sum)];
        assert_eq!(between(&*db.snapshot(), 7, 8).expect("rows"), expected);
        assert!(commit(&db, 2, |txn| forget_before(txn, 8)));
        assert_eq!(between(&*db.snapshot(), 0, u32::MAX).expect("rows"), [(8, table, 3, used(1, 1))]);
        assert!(!commit(&db, 3, |txn| forget_before(txn, 8)));
    }

    /// The bytes are a stored format and must stay readable.
    #[test]
    fn version_one_is_read() {
        let stored = br#"{"v":1,"account":"devstoreaccount1","name":"Runs","read":3,"write":2,"query":1,"delete":4,"bytes":42}"#;
        let used = read(stored).expect("a row");
        assert_eq!((used.account.as_str(), used.name.as_str(), used.bytes), ("devstoreaccount1", "Runs", 42));
        assert_eq!(used.transactions, Transactions([3, 2, 1, 4]));
        assert_eq!(&write(&used)[..], stored);
        let later = r#"{"v":2,"account":"a","name":"n","read":0,"write":0,"query":0,"delete":0,"bytes":0}"#;
        assert!(read(later.as_bytes()).is_err());
        assert!(read(b"{").is_err());
    }

    #[test]
    fn every_class_stands_at_its_own_place() {
        for (at, class) in OperationClass::ALL.into_iter().enumerate() {
            assert_eq!(class as usize, at);
        }
    }
}
