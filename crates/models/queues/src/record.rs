//! How queues and messages are stored (`docs/formats/queues.md`): definitions as JSON, the rows of messages as bytes.

use crate::pop_receipt::Nonce;
use crate::row;
use crate::{MessageText, Metadata, Queue, QueueId};
use bytes::Bytes;
use orrery_catalog::storage::SignedIdentifiers;
use orrery_core::Timestamp;
use orrery_kv::{Error, Row as KeyValue};
use serde::{Deserialize, Serialize};

const VERSION: u8 = 1;
/// Instead of the moment at which a message expires.
const NEVER: u64 = u64::MAX;

#[derive(Serialize, Deserialize)]
struct QueueRecord {
    v: u8,
    number: u32,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    metadata: Vec<(String, String)>,
    #[serde(default, skip_serializing_if = "SignedIdentifiers::is_empty")]
    policies: SignedIdentifiers,
}

pub(crate) fn write_queue(queue: &Queue) -> Bytes {
    let pairs = queue.metadata.iter().map(|(name, value)| (name.to_owned(), value.to_owned()));
    let record = QueueRecord {
        v: VERSION,
        number: queue.number,
        metadata: pairs.collect(),
        policies: queue.policies.clone(),
    };
    Bytes::from(serde_json::to_vec(&record).expect("a record of texts and numbers has a JSON form"))
}

pub(crate) fn read_queue((key, value): &KeyValue) -> Result<Queue, Error> {
    let damaged = |why: &dyn std::fmt::Display| Error::Corrupt(format!("a queue's record: {why}"));
    let (account, name) = row::read_queue(key)?;
    let record: QueueRecord = serde_json::from_slice(value).map_err(|error| damaged(&error))?;
    if record.v != VERSION {
        return Err(damaged(&format!("its version is {}", record.v)));
    }
    let metadata = Metadata::new(record.metadata).map_err(|error| damaged(&error))?;
    let QueueRecord { number, policies, .. } = record;
    Ok(Queue { id: QueueId { account, name }, number, metadata, policies })
}

/// The value of a message's visibility row: all that decides who may have the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Visibility {
    pub nonce: Nonce,
    pub dequeue_count: u32,
    pub expires: Option<Timestamp>,
    pub id_salt: u64,
    /// Of the body's text, so that who removes a message need not read it.
    pub text_bytes: u32,
}

/// The value of a message's body row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Body {
    pub id_salt: u64,
    pub inserted: Timestamp,
    pub expires: Option<Timestamp>,
    pub text: MessageText,
}

const VISIBILITY_BYTES: usize = 33;
const BODY_HEAD_BYTES: usize = 25;

impl Visibility {
    pub fn write(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(VISIBILITY_BYTES);
        bytes.push(VERSION);
        bytes.extend_from_slice(&self.nonce.changes.to_be_bytes());
        bytes.extend_from_slice(&self.nonce.salt.to_be_bytes());
        bytes.extend_from_slice(&self.dequeue_count.to_be_bytes());
        bytes.extend_from_slice(&write_expiry(self.expires));
        bytes.extend_from_slice(&self.id_salt.to_be_bytes());
        bytes.extend_from_slice(&self.text_bytes.to_be_bytes());
        bytes
    }

    pub fn read(bytes: &[u8]) -> Result<Self, Error> {
        let bytes: &[u8; VISIBILITY_BYTES] =
            bytes.try_into().map_err(|_| Error::Corrupt("a message's visibility row".into()))?;
        check_version(bytes[0])?;
        let [changes, salt, dequeue_count] = [1, 5, 9].map(|at| word(&bytes[at..at + 4]) as u32);
        Ok(Self {
            nonce: Nonce { changes, salt },
            dequeue_count,
            expires: read_expiry(word(&bytes[13..21])),
            id_salt: word(&bytes[21..29]),
            text_bytes: word(&bytes[29..]) as u32,
        })
    }

    pub fn is_expired(&self, now: Timestamp) -> bool {
        self.expires.is_some_and(|at| at <= now)
    }
}

impl Body {
    pub fn write(&self) -> Vec<u8> {
        let text = self.text.as_bytes();
        let mut bytes = Vec::with_capacity(BODY_HEAD_BYTES + text.len());
        bytes.push(VERSION);
        bytes.extend_from_slice(&self.id_salt.to_be_bytes());
        bytes.extend_from_slice(&self.inserted.millis().to_be_bytes());
        bytes.extend_from_slice(&write_expiry(self.expires));
        bytes.extend_from_slice(text);
        bytes
    }

    /// Reads the text in place.
    pub fn read(bytes: &Bytes) -> Result<Self, Error> {
        let damaged = || Error::Corrupt("a message's body".into());
        let head = bytes.get(..BODY_HEAD_BYTES).ok_or_else(damaged)?;
        check_version(head[0])?;
        let text = MessageText::read(bytes.slice(BODY_HEAD_BYTES..)).ok_or_else(damaged)?;
        Ok(Self {
            id_salt: word(&head[1..9]),
            inserted: Timestamp::from_millis(word(&head[9..17])),
            expires: read_expiry(word(&head[17..])),
            text,
        })
    }

    pub fn is_expired(&self, now: Timestamp) -> bool {
        self.expires.is_some_and(|at| at <= now)
    }
}

pub(crate) fn write_generation(generation: u32) -> Vec<u8> {
    generation.to_be_bytes().to_vec()
}

pub(crate) fn read_generation(bytes: &[u8]) -> Result<u32, Error> {
    let bytes = bytes.try_into().map_err(|_| Error::Corrupt("the generation of a queue".into()))?;
    Ok(u32::from_be_bytes(bytes))
}

fn check_version(version: u8) -> Result<(), Error> {
    if version == VERSION {
        return Ok(());
    }
    Err(Error::Corrupt(format!("a message's row has version {version}")))
}

fn write_expiry(expires: Option<Timestamp>) -> [u8; 8] {
    expires.map_or(NEVER, Timestamp::millis).to_be_bytes()
}

fn read_expiry(word: u64) -> Option<Timestamp> {
    (word != NEVER).then(|| Timestamp::from_millis(word))
}

fn word(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |word, byte| word << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn expiry() -> impl Strategy<Value = Option<Timestamp>> {
        proptest::option::of((0..u64::MAX - 1).prop_map(Timestamp::from_millis))
    }

    proptest! {
        #[test]
        fn a_visibility_row_is_read_back(
            changes: u32, salt: u32, dequeue_count: u32, expires in expiry(), id_salt: u64, text_bytes: u32,
        ) {
            let nonce = Nonce { changes, salt };
            let stored = Visibility { nonce, dequeue_count, expires, id_salt, text_bytes };
            prop_assert_eq!(Visibility::read(&stored.write()), Ok(stored));
        }

        #[test]
        fn a_body_is_read_back(id_salt: u64, inserted: u64, expires in expiry(), text in ".{0,40}") {
            let inserted = Timestamp::from_millis(inserted);
            let text = MessageText::new(text).expect("a short text");
            let stored = Body { id_salt, inserted, expires, text };
            prop_assert_eq!(Body::read(&stored.write().into()), Ok(stored));
        }

        #[test]
        fn no_bytes_make_reading_panic(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            let _ = Visibility::read(&bytes);
            let _ = read_generation(&bytes);
            let _ = Body::read(&bytes.into());
        }
    }
}
