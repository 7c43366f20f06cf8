//! Metering: hourly usage, from which a bill is computed.
//!
//! There is one row per hour and owner of throughput: a container, or a database whose containers share its
//! throughput. A row is added to during its hour. The caller decides how often to measure; unwritten usage is
//! lost with the process. Rows carry names, so that a bill can list owners dropped meanwhile.

use crate::definition::Throughput;
use crate::limits;
use crate::row::{self, Row};
use bytes::Bytes;
use orrery_kv::{Error, META, Order, Read, Txn};
use serde::{Deserialize, Serialize};

/// The owner of the usage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Owner {
    Container(u32),
    /// All containers of a database without throughput of their own.
    Database(u32),
}

/// An owner's usage in an hour, or in part of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Use {
    pub database: String,
    /// `None` for a database.
    pub container: Option<String>,
    pub requests: u64,
    /// Hundredths of a request unit.
    pub hundredths: u64,
    /// The maximum per second.
    pub peak_hundredths: u64,
    /// The maximum stored.
    pub bytes: u64,
    /// None on a serverless account.
    pub throughput: Option<Throughput>,
}

impl Use {
    /// Combines two parts of an hour.
    pub fn merge(&mut self, later: &Self) {
        self.requests = self.requests.saturating_add(later.requests);
        self.hundredths = self.hundredths.saturating_add(later.hundredths);
        self.peak_hundredths = self.peak_hundredths.max(later.peak_hundredths);
        self.bytes = self.bytes.max(later.bytes);
        // An hour is billed by its highest provisioned throughput.
        let most = |throughput: &Option<Throughput>| throughput.map_or(0, |it| it.most());
        if most(&later.throughput) >= most(&self.throughput) {
            self.throughput = later.throughput;
        }
    }
}

/// Adds to the row of an hour, counted from 1970.
pub fn add(txn: &mut Txn<'_>, hour: u32, owner: Owner, used: &Use) -> Result<(), Error> {
    let key = Row::Metered { hour, owner }.key();
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
pub fn between(state: &dyn Read, from: u32, to: u32) -> Result<Vec<(u32, Owner, Use)>, Error> {
    let rows = state.range(META, &row::metered(from, to), Order::Ascending);
    let read = |row: Result<orrery_kv::Row, Error>| {
        let (key, value) = row?;
        let (hour, owner) = row::read_metered(&key)
            .ok_or_else(|| Error::Corrupt("a row of measured use has a strange key".into()))?;
        Ok((hour, owner, read(&value)?))
    };
    rows.map(read).collect()
}

/// Deletes some rows older than an hour; returns whether there were any.
pub fn forget_before(txn: &mut Txn<'_>, hour: u32) -> Result<bool, Error> {
    let rows = txn.range(META, &row::metered(0, hour), Order::Ascending).take(limits::METERING_ROWS_MAX);
    let keys = rows.map(|row| row.map(|(key, _)| key)).collect::<Result<Vec<_>, Error>>()?;
    let is_any = !keys.is_empty();
    keys.into_iter().for_each(|key| txn.delete(META, key));
    Ok(is_any)
}

// The stored form of usage: JSON with a version (`docs/formats/metering.md`).

const VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
struct Record {
    v: u32,
    database: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    container: Option<String>,
    requests: u64,
    units: u64,
    peak: u64,
    bytes: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    manual: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    autoscale: Option<u64>,
}

pub(super) fn write(used: &Use) -> Bytes {
    let (manual, autoscale) = match used.throughput {
        None => (None, None),
        Some(Throughput::Manual(units)) => (Some(units), None),
        Some(Throughput::Autoscale { max, .. }) => (None, Some(max)),
    };
    let record = Record {
        v: VERSION,
        database: used.database.clone(),
        container: used.container.clone(),
        requests: used.requests,
        units: used.hundredths,
        peak: used.peak_hundredths,
        bytes: used.bytes,
        manual,
        autoscale,
    };
    Bytes::from(serde_json::to_vec(&record).expect("plain data is JSON"))
}

pub(super) fn read(bytes: &[u8]) -> Result<Use, Error> {
    let record: Record = serde_json::from_slice(bytes)
        .map_err(|error| Error::Corrupt(format!("a row of measured use cannot be read: {error}")))?;
    if record.v != VERSION {
        return Err(Error::Corrupt(format!("a row of measured use has version {}", record.v)));
    }
    let autoscale = record.autoscale.map(|max| Throughput::Autoscale { max, increment_percent: None });
    Ok(Use {
        database: record.database,
        container: record.container,
        requests: record.requests,
        hundredths: record.units,
        peak_hundredths: record.peak,
        bytes: record.bytes,
        throughput: record.manual.map(Throughput::Manual).or(autoscale),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use orrery_core::Lsn;
    use orrery_kv::{Db, MemoryEngine, Overlay, SpaceSet, Sync};

    fn used(hundredths: u64, peak: u64, throughput: Option<Throughput>) -> Use {
        Use {
            database: "d".into(),
            container: Some("c".into()),
            requests: 1,
            hundredths,
            peak_hundredths: peak,
            bytes: hundredths,
            throughput,
        }
    }

    static META_ONLY: SpaceSet = SpaceSet::new(&[]);

    /// Commits the changes of `body`.
    fn commit<T>(db: &Db, lsn: u64, body: impl FnOnce(&mut Txn<'_>) -> Result<T, Error>) -> T {
        let (snapshot, pending) = (db.snapshot(), Overlay::default());
        let mut txn = Txn::new(&snapshot, &pending);
        let said = body(&mut txn).expect("it works");
        db.commit(vec![txn.into_batch().stamp(Lsn(lsn))]).expect("it is committed");
        said
    }

    #[test]
    fn usage_adds_up_by_hour_and_owner() {
        let db = Db::open(Box::new(MemoryEngine::new(&META_ONLY)), Sync::Data).expect("a store");
        let (one, two) = (Some(Throughput::Manual(400)), Some(Throughput::Manual(800)));
        commit(&db, 1, |txn| {
            add(txn, 7, Owner::Container(1), &used(100, 30, two))?;
            add(txn, 7, Owner::Container(1), &used(50, 40, one))?;
            add(txn, 7, Owner::Database(1), &used(1, 1, None))?;
            add(txn, 8, Owner::Container(1), &used(9, 9, one))
        });
        let found = between(&*db.snapshot(), 7, 8).expect("rows");
        let sum = Use { requests: 2, bytes: 100, ..used(150, 40, two) };
        assert_eq!(found, [(7, Owner::Container(1), sum), (7, Owner::Database(1), used(1, 1, None))]);
        assert_eq!(between(&*db.snapshot(), 0, u32::MAX).expect("rows").len(), 3);
        assert!(commit(&db, 2, |txn| forget_before(txn, 8)));
        assert_eq!(between(&*db.snapshot(), 0, u32::MAX).expect("rows")[0].0, 8);
        assert!(!commit(&db, 3, |txn| forget_before(txn, 8)));
    }
}

#[cfg(test)]
mod record_tests {
    use super::*;

    /// The bytes are a stored format and must stay readable.
    #[test]
    fn version_one_is_read() {
        let stored = br#"{"v":1,"database":"d","container":"c","requests":3,"units":1500,"peak":700,"bytes":42,"autoscale":4000}"#;
        let used = read(stored).expect("a row");
        assert_eq!(used.throughput, Some(Throughput::Autoscale { max: 4000, increment_percent: None }));
        assert_eq!(
            (used.container.as_deref(), used.hundredths, used.peak_hundredths),
            (Some("c"), 1500, 700)
        );
        assert_eq!(&write(&used)[..], stored);
        assert!(read(br#"{"v":2,"database":"d","requests":0,"units":0,"peak":0,"bytes":0}"#).is_err());
        assert!(read(b"{").is_err());
    }
}
