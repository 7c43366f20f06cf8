//! The log: streams of entries, each linked to its predecessor in the stream by a checksum.
//!
//! ```text
//! key    stream u64 | lsn u64 | number in its commit u16        all big-endian
//! value  link u64 | payload
//! link   xxh3(link of the entry before in the stream | key | xxh3(payload))
//! ```
//!
//! So an entry that was changed, swapped or left out makes every later link wrong. The engine has
//! its own checksums; these are ours, because its journal was seen to be truncated silently.

use crate::limits;
use crate::{Error, KeyRange, Order, Read, Row, Space};
use bytes::Bytes;
use orrery_core::Lsn;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use xxhash_rust::xxh3::xxh3_64;

const LINK_BYTES: usize = 8;
pub(crate) const KEY_BYTES: usize = 18;

/// An entry before its commit. The buffer starts with room for the link.
#[derive(Debug)]
pub(crate) struct LogEntry {
    pub space: Space,
    stream: u64,
    buffer: Vec<u8>,
    digest: u64,
    /// Offset in the buffer where the LSN of the commit goes, if anywhere.
    stamp_at: Option<usize>,
}

pub(crate) fn payload(capacity: usize) -> Vec<u8> {
    let mut buffer = Vec::with_capacity(LINK_BYTES + capacity);
    buffer.resize(LINK_BYTES, 0);
    buffer
}

impl LogEntry {
    /// Hashes the payload here, on the writer's thread, so that the committer only links.
    pub fn new(space: Space, stream: u64, buffer: Vec<u8>) -> Self {
        assert!(buffer.len() >= LINK_BYTES, "a log payload is made by Batch::log_payload");
        let digest = xxh3_64(&buffer[LINK_BYTES..]);
        Self { space, stream, buffer, digest, stamp_at: None }
    }

    /// An entry whose eight bytes at `at` of the buffer become the LSN of the commit. Its payload
    /// is hashed again at commit, so this is for the few entries that need it.
    pub fn stamped(space: Space, stream: u64, buffer: Vec<u8>, at: usize) -> Self {
        assert!(at >= LINK_BYTES && at + 8 <= buffer.len(), "the stamp lies inside the payload");
        Self { space, stream, buffer, digest: 0, stamp_at: Some(at) }
    }

    pub fn stamp(self, lsn: Lsn) -> Self {
        let Some(at) = self.stamp_at else { return self };
        let mut buffer = self.buffer;
        buffer[at..at + 8].copy_from_slice(&lsn.0.to_be_bytes());
        Self::new(self.space, self.stream, buffer)
    }

    pub fn bytes(&self) -> usize {
        KEY_BYTES + self.buffer.len()
    }
}

/// The newest link of each stream written since the store was opened.
#[derive(Debug, Default)]
pub(crate) struct Links(HashMap<(Space, u64), u64>);

impl Links {
    /// Turns an entry into the row to store and records its link.
    pub fn seal(
        &mut self,
        line: LogEntry,
        lsn: Lsn,
        number: u16,
        state: &dyn Read,
    ) -> Result<(Bytes, Bytes, u64), Error> {
        orrery_core::tour_step!();
        let newest = match self.0.entry((line.space, line.stream)) {
            Entry::Occupied(newest) => newest.into_mut(),
            Entry::Vacant(unknown) => unknown.insert(newest_link(state, line.space, line.stream, lsn)?),
        };
        let key = key(line.stream, lsn, number);
        *newest = link(*newest, &key, line.digest);
        let mut value = line.buffer;
        value[..LINK_BYTES].copy_from_slice(&newest.to_be_bytes());
        Ok((Bytes::copy_from_slice(&key), Bytes::from(value), *newest))
    }
}

fn key(stream: u64, lsn: Lsn, number: u16) -> [u8; KEY_BYTES] {
    let mut key = [0; KEY_BYTES];
    key[..8].copy_from_slice(&stream.to_be_bytes());
    key[8..16].copy_from_slice(&lsn.0.to_be_bytes());
    key[16..].copy_from_slice(&number.to_be_bytes());
    key
}

fn link(before: u64, key: &[u8], digest: u64) -> u64 {
    let mut text = [0; 8 + KEY_BYTES + 8];
    text[..8].copy_from_slice(&before.to_be_bytes());
    text[8..8 + KEY_BYTES].copy_from_slice(key);
    text[8 + KEY_BYTES..].copy_from_slice(&digest.to_be_bytes());
    xxh3_64(&text)
}

fn newest_link(state: &dyn Read, log: Space, stream: u64, next: Lsn) -> Result<u64, Error> {
    Ok(LogRecord::newest(state, log, stream, next)?.map_or(0, |record| record.link))
}

/// A stored entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogRecord {
    pub stream: u64,
    pub lsn: Lsn,
    pub number: u16,
    pub payload: Bytes,
    link: u64,
}

impl LogRecord {
    /// The keys of a stream's entries with an LSN of `from` or above.
    pub fn range(stream: u64, from: Lsn) -> KeyRange {
        let end = KeyRange::prefix(&stream.to_be_bytes()).end;
        KeyRange { start: key(stream, from, 0).to_vec(), end }
    }

    /// The newest entry of a stream. Looks among the last commits before `tip` first, of which
    /// nothing is ever removed: a scan from the end would go through the removals.
    pub fn newest(state: &dyn Read, log: Space, stream: u64, tip: Lsn) -> Result<Option<Self>, Error> {
        for from in [unverified_before(tip), Lsn(0)] {
            let range = Self::range(stream, from);
            if let Some(row) = state.range(log, &range, Order::Descending).next() {
                return Self::read(&row?).map(Some);
            }
        }
        Ok(None)
    }

    /// The streams that have entries, given a function that reads the first row of a range.
    pub fn streams(
        mut first: impl FnMut(&KeyRange) -> Option<Result<Row, Error>>,
    ) -> Result<Vec<u64>, Error> {
        let (mut streams, mut next) = (Vec::new(), Some(0u64));
        while let Some(from) = next {
            let Some(row) = first(&KeyRange { start: from.to_be_bytes().to_vec(), end: None }) else { break };
            let stream = Self::read(&row?)?.stream;
            streams.push(stream);
            next = stream.checked_add(1);
        }
        Ok(streams)
    }

    /// The keys of the entries of one commit.
    pub fn of_commit(stream: u64, lsn: Lsn) -> KeyRange {
        let end = lsn.0.checked_add(1).map(|next| key(stream, Lsn(next), 0).to_vec());
        KeyRange { start: key(stream, lsn, 0).to_vec(), end: end.or_else(|| Self::range(stream, lsn).end) }
    }

    /// The key it is stored under.
    pub fn key(&self) -> Bytes {
        Bytes::copy_from_slice(&key(self.stream, self.lsn, self.number))
    }

    /// The value to store for an entry that loses its pre-image. Its link stays, because the next
    /// entry's rests on it; it no longer fits the payload, so only entries that opening does not
    /// verify (below [`unverified_before`]) may be stored so.
    pub fn with_payload(&self, payload: &[u8]) -> Bytes {
        [&self.link.to_be_bytes(), payload].concat().into()
    }

    pub fn read((key, value): &(Bytes, Bytes)) -> Result<Self, Error> {
        let damaged =
            || Error::Corrupt(format!("a log entry of {} bytes has a key of {}", value.len(), key.len()));
        if key.len() != KEY_BYTES || value.len() < LINK_BYTES {
            return Err(damaged());
        }
        let word = |bytes: &[u8]| bytes.iter().fold(0u64, |word, byte| (word << 8) | u64::from(*byte));
        Ok(Self {
            stream: word(&key[..8]),
            lsn: Lsn(word(&key[8..16])),
            number: word(&key[16..]) as u16,
            payload: value.slice(LINK_BYTES..),
            link: word(&value[..LINK_BYTES]),
        })
    }

    fn follows(&self, before: u64) -> bool {
        let key = key(self.stream, self.lsn, self.number);
        link(before, &key, xxh3_64(&self.payload)) == self.link
    }
}

/// Entries of commits before this one are not verified when the store is opened, now or later,
/// because the tip only grows. They may be removed or shortened without looking like damage.
pub fn unverified_before(tip: Lsn) -> Lsn {
    Lsn(tip.0.saturating_sub(limits::LOG_VERIFY_COMMITS))
}

/// Verifies the links of the newest entries of every stream: those of the last commits before
/// `tip`, up to a number of bytes that opening can afford. Older ones were verified when they were
/// new.
pub(crate) fn verify_tail(
    state: &dyn Read,
    logs: impl Iterator<Item = Space>,
    tip: Lsn,
) -> Result<(), Error> {
    let from = unverified_before(tip);
    let mut bytes_left = limits::LOG_VERIFY_BYTES_MAX;
    for log in logs {
        for stream in state.streams(log)? {
            verify_stream(state, log, stream, from, tip, &mut bytes_left)?;
        }
    }
    Ok(())
}

/// Verifies the links of all entries of a stream from a commit on. The first one has no predecessor
/// to check.
pub fn verify_log(state: &dyn Read, log: Space, stream: u64, from: Lsn, tip: Lsn) -> Result<(), Error> {
    verify_stream(state, log, stream, from, tip, &mut { usize::MAX })
}

/// The newest commit with an entry in any stream; 0 if there is none.
pub(crate) fn newest(state: &dyn Read, log: Space) -> Result<Lsn, Error> {
    let mut newest = Lsn(0);
    for stream in state.streams(log)? {
        let last = LogRecord::newest(state, log, stream, Lsn(0))?;
        newest = newest.max(last.map_or(Lsn(0), |record| record.lsn));
    }
    Ok(newest)
}

fn verify_stream(
    state: &dyn Read,
    log: Space,
    stream: u64,
    from: Lsn,
    tip: Lsn,
    bytes_left: &mut usize,
) -> Result<(), Error> {
    let mut before = None;
    for row in state.range(log, &LogRecord::range(stream, from), Order::Ascending) {
        let row = row?;
        let record = LogRecord::read(&row)?;
        if record.lsn > tip {
            return Err(Error::Corrupt(format!(
                "log entry {} lies after the end of the log, {tip}",
                record.lsn
            )));
        }
        if before.is_some_and(|before| !record.follows(before)) {
            return Err(Error::Corrupt(format!(
                "the log of stream {stream} is broken at commit {}",
                record.lsn
            )));
        }
        before = Some(record.link);
        *bytes_left = bytes_left.saturating_sub(row.1.len());
        if *bytes_left == 0 {
            break;
        }
    }
    Ok(())
}
