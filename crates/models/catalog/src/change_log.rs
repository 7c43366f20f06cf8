//! The log of changes, which documents and tables share: what happened to a row, when, and the row it replaced
//! (`docs/formats/log.md`).
//!
//! Each container and each table has a stream, under its number; the numbers come from one sequence, so no two streams
//! are the same.

use bytes::Bytes;
use orrery_core::{Lsn, Timestamp};
use orrery_kv::{Batch, Error, LogRecord, Space, SpaceSpec};

/// The log of changes, one stream per container or table.
pub const LOG: Space = Space::new(3);

pub const SPECS: &[SpaceSpec] = &[SpaceSpec::log(LOG, "log")];

/// The stream of a container or table.
pub fn stream(number: u32) -> u64 {
    u64::from(number)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    Create = 1,
    Replace = 2,
    Delete = 3,
    /// A delete because its time to live had passed.
    Expire = 4,
}

const VERSION: u8 = 1;
const HEAD_BYTES: usize = 14;

/// An entry as it is stored. The key and the image are read in place.
#[derive(Clone, Debug)]
pub struct Entry {
    record: LogRecord,
    change: Change,
    at: Timestamp,
    key_end: usize,
}

/// The payload of a new entry, and where in it the image begins.
pub fn payload(change: Change, now: Timestamp, key: &[u8], image: &[u8]) -> (Vec<u8>, usize) {
    let mut entry = Batch::log_payload(HEAD_BYTES + key.len() + image.len());
    entry.extend_from_slice(&[VERSION, change as u8]);
    entry.extend_from_slice(&now.millis().to_be_bytes());
    entry.extend_from_slice(&(key.len() as u32).to_be_bytes());
    entry.extend_from_slice(key);
    let image_at = entry.len();
    entry.extend_from_slice(image);
    (entry, image_at)
}

impl Entry {
    pub fn read(record: LogRecord) -> Result<Self, Error> {
        let damaged = |what: &str| Error::Corrupt(format!("the log entry of commit {} {what}", record.lsn));
        let payload = &record.payload;
        let Some((head, rest)) = payload.split_first_chunk::<HEAD_BYTES>() else {
            return Err(damaged("is shorter than its head"));
        };
        if head[0] != VERSION {
            return Err(damaged(&format!("has version {}", head[0])));
        }
        let change = match head[1] {
            1 => Change::Create,
            2 => Change::Replace,
            3 => Change::Delete,
            4 => Change::Expire,
            other => return Err(damaged(&format!("tells of a change {other}"))),
        };
        let number = |bytes: &[u8]| bytes.iter().fold(0u64, |word, byte| (word << 8) | u64::from(*byte));
        let key_bytes = number(&head[10..]) as usize;
        if key_bytes > rest.len() {
            return Err(damaged("does not hold its key"));
        }
        let at = Timestamp::from_millis(number(&head[2..10]));
        Ok(Self { change, at, key_end: HEAD_BYTES + key_bytes, record })
    }

    pub fn change(&self) -> Change {
        self.change
    }

    pub fn lsn(&self) -> Lsn {
        self.record.lsn
    }

    pub fn at(&self) -> Timestamp {
        self.at
    }

    /// The key of the row that changed.
    pub fn key(&self) -> &[u8] {
        &self.record.payload[HEAD_BYTES..self.key_end]
    }

    /// The row that was replaced or removed. A create has none, and an old replace may have lost it.
    pub fn image(&self) -> Option<Bytes> {
        let image = self.record.payload.slice(self.key_end..);
        (!image.is_empty()).then_some(image)
    }

    /// Size of the payload.
    pub fn bytes(&self) -> usize {
        self.record.payload.len()
    }

    /// The key of the entry itself, in the log.
    pub fn log_key(&self) -> Bytes {
        self.record.key()
    }

    /// What to store in its place when the image goes.
    pub fn without_image(&self) -> Bytes {
        self.record.with_payload(&self.record.payload[..self.key_end])
    }
}
