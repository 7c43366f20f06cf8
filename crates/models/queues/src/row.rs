//! Every key this model stores, in one enum; `base/keys` turns it into bytes that sort as it does.
//!
//! Messages are in the space `messages`; what is read all the time is in `meta`, beside the catalog's rows. Clearing a
//! queue raises its generation, which is in the keys of its messages: those of earlier generations are found no more.

use crate::spaces::MESSAGES;
use bytes::Bytes;
use orrery_catalog::storage::{AccountName, QueueName};
use orrery_core::Timestamp;
use orrery_keys::{KeyBuf, KeyReader};
use orrery_kv::{Error, KeyRange, META, Space};

/// Where a message stands in the order of its queue: messages become visible in this order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    pub visible_at: Timestamp,
    /// Ascends in the order of insertion; no two messages of a store have the same.
    pub ordinal: u64,
}

impl Position {
    /// The position behind everything that is visible at this moment.
    pub fn after(now: Timestamp) -> Self {
        Self { visible_at: Timestamp::from_millis(now.millis().saturating_add(1)), ordinal: 0 }
    }

    /// The next position that a message can have.
    pub fn next(self) -> Self {
        Self { ordinal: self.ordinal.saturating_add(1), ..self }
    }
}

/// A generation of the messages of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Messages {
    pub queue: u32,
    pub generation: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Row<'a> {
    Queue {
        account: &'a AccountName,
        name: &'a QueueName,
    },
    /// There while the queue is; what writes of its messages depend on.
    Alive {
        queue: u32,
    },
    /// The generation of a queue that was cleared.
    Generation {
        queue: u32,
    },
    /// Rows that are to be removed: those of one generation, or of the whole queue.
    Leftover {
        queue: u32,
        generation: Option<u32>,
    },
    /// When a message is visible, and who holds it.
    Visibility(Messages, Position),
    Body(Messages, u64),
    Count(Messages),
}

const QUEUE: u8 = 30;
const ALIVE: u8 = 31;
const GENERATION: u8 = 32;
const LEFTOVER: u8 = 33;

const VISIBILITY: u8 = 1;
const BODY: u8 = 2;
const COUNT: u8 = 3;

impl Row<'_> {
    pub fn space(&self) -> Space {
        match self {
            Row::Queue { .. } | Row::Alive { .. } | Row::Generation { .. } | Row::Leftover { .. } => META,
            Row::Visibility(..) | Row::Body(..) | Row::Count(_) => MESSAGES,
        }
    }

    pub fn key(&self) -> Bytes {
        let key = match *self {
            Row::Queue { account, name } => {
                KeyBuf::new().u8(QUEUE).bytes(account.as_str().as_bytes()).raw(name.as_str().as_bytes())
            }
            Row::Alive { queue } => KeyBuf::new().u8(ALIVE).u32(queue),
            Row::Generation { queue } => KeyBuf::new().u8(GENERATION).u32(queue),
            Row::Leftover { queue, generation: None } => KeyBuf::new().u8(LEFTOVER).u32(queue),
            Row::Leftover { queue, generation: Some(generation) } => {
                KeyBuf::new().u8(LEFTOVER).u32(queue).u32(generation)
            }
            Row::Visibility(messages, Position { visible_at, ordinal }) => {
                messages.key().u8(VISIBILITY).u64(visible_at.millis()).u64(ordinal)
            }
            Row::Body(messages, ordinal) => messages.key().u8(BODY).u64(ordinal),
            Row::Count(messages) => messages.key().u8(COUNT),
        };
        Bytes::from(key.finish())
    }
}

impl Messages {
    fn key(self) -> KeyBuf {
        KeyBuf::new().u32(self.queue).u32(self.generation)
    }

    /// The visibility rows from one position on and before another.
    pub fn between(self, from: Position, to: Position) -> KeyRange {
        let bound = |at: Position| Row::Visibility(self, at).key().to_vec();
        KeyRange::new(bound(from), bound(to))
    }

    /// All visibility rows from a position on.
    pub fn from(self, from: Position) -> KeyRange {
        KeyRange {
            start: Row::Visibility(self, from).key().to_vec(),
            ..KeyRange::prefix(&self.key().u8(VISIBILITY).finish())
        }
    }

    /// Everything of this generation.
    pub fn all(self) -> KeyRange {
        KeyRange::prefix(&self.key().finish())
    }
}

/// Everything of a queue in the space `messages`.
pub(crate) fn of_queue(queue: u32) -> KeyRange {
    KeyRange::prefix(&KeyBuf::new().u32(queue).finish())
}

/// The definitions of all queues.
pub(crate) fn queues() -> KeyRange {
    KeyRange::prefix(&[QUEUE])
}

/// The account and the name of a definition's key.
pub(crate) fn read_queue(key: &[u8]) -> Result<(AccountName, QueueName), Error> {
    let parts = || {
        let mut reader = KeyReader::new(key);
        reader.u8().ok().filter(|tag| *tag == QUEUE)?;
        let account = reader.bytes().ok()?;
        let account = AccountName::parse(std::str::from_utf8(&account).ok()?).ok()?;
        let name = QueueName::parse(std::str::from_utf8(reader.raw()).ok()?).ok()?;
        Some((account, name))
    };
    parts().ok_or_else(|| Error::Corrupt("a queue's key".into()))
}

/// The position of a visibility row's key.
pub(crate) fn read_position(key: &[u8]) -> Result<Position, Error> {
    let parts = || {
        let mut reader = KeyReader::new(key);
        // The queue and its generation.
        reader.u64().ok()?;
        reader.u8().ok().filter(|tag| *tag == VISIBILITY)?;
        let visible_at = Timestamp::from_millis(reader.u64().ok()?);
        let ordinal = reader.u64().ok()?;
        reader.finish().ok().map(|()| Position { visible_at, ordinal })
    };
    parts().ok_or_else(|| Error::Corrupt("a message's key".into()))
}

pub(crate) fn leftovers() -> KeyRange {
    KeyRange::prefix(&[LEFTOVER])
}

/// The queue of a leftover's key, and the generation if it is of one alone.
pub(crate) fn read_leftover(key: &[u8]) -> Result<(u32, Option<u32>), Error> {
    let parts = || {
        let mut reader = KeyReader::new(key);
        reader.u8().ok().filter(|tag| *tag == LEFTOVER)?;
        let queue = reader.u32().ok()?;
        let generation = if reader.is_empty() { None } else { Some(reader.u32().ok()?) };
        reader.finish().ok().map(|()| (queue, generation))
    };
    parts().ok_or_else(|| Error::Corrupt("the key of a queue's leftover".into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MESSAGES: Messages = Messages { queue: 7, generation: 2 };

    fn position(visible_at: u64, ordinal: u64) -> Position {
        Position { visible_at: Timestamp::from_millis(visible_at), ordinal }
    }

    #[test]
    fn every_kind_of_row_in_meta_has_a_tag_of_its_own() {
        let tags = [&orrery_catalog::row::TAGS[..], &[QUEUE, ALIVE, GENERATION, LEFTOVER]].concat();
        let different: std::collections::BTreeSet<u8> = tags.iter().copied().collect();
        assert_eq!(different.len(), tags.len());
    }

    #[test]
    fn visibility_rows_sort_as_their_positions_do() {
        let positions =
            [position(0, 5), position(1, 0), position(1, 1), position(256, 0), position(u64::MAX, 9)];
        let keys = positions.map(|at| Row::Visibility(MESSAGES, at).key());
        assert!(keys.is_sorted());
        assert_eq!(
            positions.map(|at| read_position(&Row::Visibility(MESSAGES, at).key())),
            positions.map(Ok)
        );
    }

    #[test]
    fn a_range_ends_before_the_first_invisible_message() {
        let now = Timestamp::from_millis(100);
        let range = MESSAGES.between(position(0, 0), Position::after(now));
        let has = |at| range.contains(&Row::Visibility(MESSAGES, at).key());
        assert!(has(position(0, 0)) && has(position(100, u64::MAX)));
        assert!(!has(position(101, 0)));
        assert!(!range.contains(&Row::Body(MESSAGES, 0).key()));
        let all = MESSAGES.from(position(100, 1));
        assert!(all.contains(&Row::Visibility(MESSAGES, position(u64::MAX, u64::MAX)).key()));
        assert!(!all.contains(&Row::Visibility(MESSAGES, position(100, 0)).key()));
        assert!(!all.contains(&Row::Body(MESSAGES, 0).key()));
    }

    #[test]
    fn keys_are_read_back() {
        let (account, name) = (AccountName::parse("devstoreaccount1"), QueueName::parse("turns"));
        let (account, name) = (account.expect("a name"), name.expect("a name"));
        let key = Row::Queue { account: &account, name: &name }.key();
        assert_eq!(read_queue(&key), Ok((account, name)));
        assert!(read_queue(&key[..5]).is_err());
        for generation in [None, Some(3)] {
            let key = Row::Leftover { queue: 7, generation }.key();
            assert_eq!(read_leftover(&key), Ok((7, generation)));
        }
        assert!(read_leftover(&[LEFTOVER, 0, 0]).is_err());
        assert!(read_position(&Row::Body(MESSAGES, 1).key()).is_err());
    }
}
