//! Every key this model stores, in one enum; `base/keys` turns it into bytes that sort as it does.
//!
//! ```text
//! meta          definitions of containers, settings, policies       tags 34 to 42, beside those of other models
//! blobs         container | what | …                                names in UTF-8 order, as lists are
//! blob-content  ordinal | what | …                                  an ordinal is given once, so rows are appended
//! blob-tags     container | key | value | name
//! ```

use crate::blob::BlobState;
use bytes::Bytes;
use orrery_core::{Ticks, Timestamp};
use orrery_keys::{KeyBuf, KeyReader};
use orrery_kv::{Error, KeyRange};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Row<'a> {
    /// The definition of a container.
    Container { account: &'a str, name: &'a str },
    /// A soft-deleted container.
    DeletedContainer { account: &'a str, name: &'a str, version: Ticks },
    /// There while the container is; what writes of its blobs depend on.
    Alive { container: u32 },
    /// The blob settings of an account.
    Settings { account: &'a str },
    /// The rows of a dropped container are being removed; how far that has come.
    Sweep { container: u32 },
    /// Up to which commit the log of a container was trimmed.
    Trimmed { container: u32 },
    /// Changes when a state of the container comes to be protected, so that the container is not deleted meanwhile.
    Guard { container: u32 },
    /// A policy of an account.
    Policy { kind: PolicyKind, account: &'a str },
    /// A run of a policy, by when it began.
    PolicyRun { kind: PolicyKind, account: &'a str, at: Ticks },
    /// The current state of a blob.
    Current { container: u32, name: &'a str },
    /// Another state of a blob: a snapshot, an earlier version, or the blob itself after it was soft-deleted.
    History { container: u32, name: &'a str, state: BlobState },
    /// What is known of the blocks of a blob that wait to be committed.
    Staging { container: u32, name: &'a str },
    /// A block that waits to be committed.
    Block { container: u32, name: &'a str, id: &'a [u8] },
    /// Something happens to a state at a moment.
    Due { container: u32, at: Timestamp, what: Due, name: &'a str, state: BlobState },
    /// A state is under a legal hold or an immutability policy, or was.
    Protected { container: u32, name: &'a str, state: BlobState },
    /// A piece of content, by the offset at which it ends.
    Piece { content: u64, end: u64 },
    /// A page of the list of committed blocks.
    BlockList { content: u64, page: u64 },
    /// How many states of a blob have this content, if it is more than one.
    Sharers { content: u64 },
    /// The blob has the tag.
    Tag { container: u32, key: &'a str, value: &'a str, name: &'a str },
}

/// Policies that accounts have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PolicyKind {
    Lifecycle = 1,
    Inventory = 2,
}

/// What is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Due {
    /// The retention of what was soft-deleted ends.
    Deletion = 1,
    /// Blocks were not committed in time.
    Staging = 2,
    /// The blob is out of the archive.
    Rehydration = 3,
    /// A copy from elsewhere goes on, if anybody still brings its content.
    Copy = 4,
}

const CONTAINER: u8 = 34;
const DELETED_CONTAINER: u8 = 35;
const ALIVE: u8 = 36;
const SETTINGS: u8 = 37;
const SWEEP: u8 = 38;
const TRIMMED: u8 = 39;
const GUARD: u8 = 40;
const POLICY: u8 = 41;
const POLICY_RUN: u8 = 42;

const CURRENT: u8 = 1;
const HISTORY: u8 = 2;
const STAGING: u8 = 3;
const BLOCK: u8 = 4;
const DUE: u8 = 5;
const PROTECTED: u8 = 6;

const PIECE: u8 = 1;
const BLOCK_LIST: u8 = 2;
const SHARERS: u8 = 3;

impl Row<'_> {
    pub fn key(&self) -> Bytes {
        let key = match *self {
            Row::Container { account, name } => {
                KeyBuf::new().u8(CONTAINER).bytes(account.as_bytes()).raw(name.as_bytes())
            }
            Row::DeletedContainer { account, name, version } => KeyBuf::new()
                .u8(DELETED_CONTAINER)
                .bytes(account.as_bytes())
                .bytes(name.as_bytes())
                .u64(version.count()),
            Row::Alive { container } => KeyBuf::new().u8(ALIVE).u32(container),
            Row::Settings { account } => KeyBuf::new().u8(SETTINGS).raw(account.as_bytes()),
            Row::Sweep { container } => KeyBuf::new().u8(SWEEP).u32(container),
            Row::Trimmed { container } => KeyBuf::new().u8(TRIMMED).u32(container),
            Row::Guard { container } => KeyBuf::new().u8(GUARD).u32(container),
            Row::Policy { kind, account } => KeyBuf::new().u8(POLICY).u8(kind as u8).raw(account.as_bytes()),
            Row::PolicyRun { kind, account, at } => {
                KeyBuf::new().u8(POLICY_RUN).u8(kind as u8).bytes(account.as_bytes()).u64(at.count())
            }
            Row::Current { container, name } => of(container, CURRENT).raw(name.as_bytes()),
            Row::History { container, name, state } => state_key(of(container, HISTORY), name, state),
            Row::Staging { container, name } => of(container, STAGING).raw(name.as_bytes()),
            Row::Block { container, name, id } => of(container, BLOCK).bytes(name.as_bytes()).raw(id),
            Row::Due { container, at, what, name, state } => {
                state_key(of(container, DUE).u64(at.millis()).u8(what as u8), name, state)
            }
            Row::Protected { container, name, state } => state_key(of(container, PROTECTED), name, state),
            Row::Piece { content, end } => KeyBuf::new().u64(content).u8(PIECE).u64(end),
            Row::BlockList { content, page } => KeyBuf::new().u64(content).u8(BLOCK_LIST).u64(page),
            Row::Sharers { content } => KeyBuf::new().u64(content).u8(SHARERS),
            Row::Tag { container, key, value, name } => KeyBuf::new()
                .u32(container)
                .bytes(key.as_bytes())
                .bytes(value.as_bytes())
                .raw(name.as_bytes()),
        };
        Bytes::from(key.finish())
    }
}

fn of(container: u32, what: u8) -> KeyBuf {
    KeyBuf::new().u32(container).u8(what)
}

const SNAPSHOT: u8 = 1;
const VERSION: u8 = 2;
const DELETED_BLOB: u8 = 3;
const CURRENT_STATE: u8 = 4;

/// The states of one name from the oldest to the newest.
fn state_key(key: KeyBuf, name: &str, state: BlobState) -> KeyBuf {
    let (at, what) = match state {
        BlobState::Snapshot(at) => (at.count(), SNAPSHOT),
        BlobState::Version(at) => (at.count(), VERSION),
        BlobState::DeletedBlob => (u64::MAX, DELETED_BLOB),
        BlobState::Current => (u64::MAX, CURRENT_STATE),
    };
    key.bytes(name.as_bytes()).u64(at).u8(what)
}

fn read_state(reader: &mut KeyReader<'_>) -> Option<(String, BlobState)> {
    let name = String::from_utf8(reader.bytes().ok()?.into_owned()).ok()?;
    let at = Ticks::from_count(reader.u64().ok()?);
    let state = match reader.u8().ok()? {
        SNAPSHOT => BlobState::Snapshot(at),
        VERSION => BlobState::Version(at),
        DELETED_BLOB => BlobState::DeletedBlob,
        CURRENT_STATE => BlobState::Current,
        _ => return None,
    };
    Some((name, state))
}

/// The keys of one kind of row in a container, and what they are made of.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    Current,
    History,
    Staging,
    Protected,
}

impl Kind {
    fn tag(self) -> u8 {
        match self {
            Self::Current => CURRENT,
            Self::History => HISTORY,
            Self::Staging => STAGING,
            Self::Protected => PROTECTED,
        }
    }

    /// From the first row whose name is not before `from`.
    pub fn range_from(self, container: u32, from: &[u8]) -> KeyRange {
        let start = match self {
            Self::Current | Self::Staging => of(container, self.tag()).raw(from),
            Self::History | Self::Protected => of(container, self.tag()).open_bytes(from),
        };
        KeyRange { start: start.finish(), ..self.all(container) }
    }

    pub fn all(self, container: u32) -> KeyRange {
        KeyRange::prefix(&of(container, self.tag()).finish())
    }
}

/// The states of one name beside the current one.
pub(crate) fn history_of(container: u32, name: &str) -> KeyRange {
    KeyRange::prefix(&of(container, HISTORY).bytes(name.as_bytes()).finish())
}

/// The blocks of one name that wait to be committed.
pub(crate) fn blocks_of(container: u32, name: &str) -> KeyRange {
    KeyRange::prefix(&of(container, BLOCK).bytes(name.as_bytes()).finish())
}

/// What is due by now.
pub(crate) fn due_by(container: u32, now: Timestamp) -> KeyRange {
    let end = of(container, DUE).u64(now.millis().saturating_add(1)).finish();
    KeyRange::new(of(container, DUE).finish(), end)
}

/// Everything of a container in the space `blobs`.
pub(crate) fn of_container(container: u32) -> KeyRange {
    KeyRange::prefix(&KeyBuf::new().u32(container).finish())
}

/// The pieces of content from the one that has this offset on.
pub(crate) fn pieces_from(content: u64, offset: u64) -> KeyRange {
    let start = Row::Piece { content, end: offset.saturating_add(1) }.key().to_vec();
    KeyRange { start, ..KeyRange::prefix(&KeyBuf::new().u64(content).u8(PIECE).finish()) }
}

pub(crate) fn block_list(content: u64) -> KeyRange {
    KeyRange::prefix(&KeyBuf::new().u64(content).u8(BLOCK_LIST).finish())
}

/// Everything of one content.
pub(crate) fn content(content: u64) -> KeyRange {
    KeyRange::prefix(&KeyBuf::new().u64(content).finish())
}

pub(crate) fn containers() -> KeyRange {
    KeyRange::prefix(&[CONTAINER])
}

pub(crate) fn deleted_containers() -> KeyRange {
    KeyRange::prefix(&[DELETED_CONTAINER])
}

/// The containers of an account from a name on.
pub(crate) fn containers_from(account: &str, name: &str) -> KeyRange {
    let of_account = KeyBuf::new().u8(CONTAINER).bytes(account.as_bytes());
    let start = of_account.clone().raw(name.as_bytes()).finish();
    KeyRange { start, ..KeyRange::prefix(of_account.as_bytes()) }
}

pub(crate) fn deleted_containers_from(account: &str, name: &str) -> KeyRange {
    let of_account = KeyBuf::new().u8(DELETED_CONTAINER).bytes(account.as_bytes());
    let start = of_account.clone().open_bytes(name.as_bytes()).finish();
    KeyRange { start, ..KeyRange::prefix(of_account.as_bytes()) }
}

/// Whether it is the key of a block that waits to be committed.
pub(crate) fn is_block(key: &[u8]) -> bool {
    key.get(NAME_AT - 1) == Some(&BLOCK)
}

/// The policies of one kind of all accounts.
pub(crate) fn policies(kind: PolicyKind) -> KeyRange {
    KeyRange::prefix(&[POLICY, kind as u8])
}

/// The account of a policy's key.
pub(crate) fn read_policy(key: &[u8]) -> Result<String, Error> {
    let account = key.get(2..).and_then(|account| String::from_utf8(account.to_vec()).ok());
    account.ok_or_else(|| damaged("a policy"))
}

pub(crate) fn policy_runs(kind: PolicyKind, account: &str) -> KeyRange {
    KeyRange::prefix(&KeyBuf::new().u8(POLICY_RUN).u8(kind as u8).bytes(account.as_bytes()).finish())
}

pub(crate) fn sweeps() -> KeyRange {
    KeyRange::prefix(&[SWEEP])
}

fn damaged(what: &str) -> Error {
    Error::Corrupt(format!("the key of {what}"))
}

/// The account and the name of a container's key.
pub(crate) fn read_container(key: &[u8]) -> Result<(String, String), Error> {
    let parts = || {
        let mut reader = KeyReader::new(key);
        reader.u8().ok().filter(|tag| *tag == CONTAINER)?;
        let account = String::from_utf8(reader.bytes().ok()?.into_owned()).ok()?;
        Some((account, String::from_utf8(reader.raw().to_vec()).ok()?))
    };
    parts().ok_or_else(|| damaged("a container"))
}

/// The account, the name and the version of a deleted container's key.
pub(crate) fn read_deleted_container(key: &[u8]) -> Result<(String, String, Ticks), Error> {
    let parts = || {
        let mut reader = KeyReader::new(key);
        reader.u8().ok().filter(|tag| *tag == DELETED_CONTAINER)?;
        let account = String::from_utf8(reader.bytes().ok()?.into_owned()).ok()?;
        let name = String::from_utf8(reader.bytes().ok()?.into_owned()).ok()?;
        Some((account, name, Ticks::from_count(reader.u64().ok()?)))
    };
    parts().ok_or_else(|| damaged("a deleted container"))
}

pub(crate) fn read_sweep(key: &[u8]) -> Result<u32, Error> {
    let parts = || {
        let mut reader = KeyReader::new(key);
        reader.u8().ok().filter(|tag| *tag == SWEEP)?;
        reader.u32().ok()
    };
    parts().ok_or_else(|| damaged("a job"))
}

/// The name of a key that has nothing behind it.
pub(crate) fn read_name(key: &[u8]) -> Result<String, Error> {
    let name = key.get(NAME_AT..).and_then(|name| String::from_utf8(name.to_vec()).ok());
    name.ok_or_else(|| damaged("a blob"))
}

/// Where what follows the container and the kind begins.
const NAME_AT: usize = 5;

/// The name and the state of a key of history or protection.
pub(crate) fn read_history(key: &[u8]) -> Result<(String, BlobState), Error> {
    let rest = key.get(NAME_AT..).ok_or_else(|| damaged("a blob's history"))?;
    read_state(&mut KeyReader::new(rest)).ok_or_else(|| damaged("a blob's history"))
}

/// The id of a block's key.
pub(crate) fn read_block(key: &[u8]) -> Result<Bytes, Error> {
    let parts = || {
        let mut reader = KeyReader::new(key.get(NAME_AT..)?);
        reader.bytes().ok()?;
        Some(Bytes::copy_from_slice(reader.raw()))
    };
    parts().ok_or_else(|| damaged("a block"))
}

pub(crate) fn read_due(key: &[u8]) -> Result<(Timestamp, Due, String, BlobState), Error> {
    let parts = || {
        let mut reader = KeyReader::new(key.get(NAME_AT..)?);
        let at = Timestamp::from_millis(reader.u64().ok()?);
        let what = match reader.u8().ok()? {
            1 => Due::Deletion,
            2 => Due::Staging,
            3 => Due::Rehydration,
            4 => Due::Copy,
            _ => return None,
        };
        let (name, state) = read_state(&mut reader)?;
        Some((at, what, name, state))
    };
    parts().ok_or_else(|| damaged("what is due"))
}

/// The offset at which a piece ends.
pub(crate) fn read_piece(key: &[u8]) -> Result<u64, Error> {
    let parts = || {
        let mut reader = KeyReader::new(key);
        reader.u64().ok()?;
        reader.u8().ok().filter(|tag| *tag == PIECE)?;
        reader.u64().ok()
    };
    parts().ok_or_else(|| damaged("a piece of content"))
}

/// The tags of a container that have this key.
pub(crate) fn tags_of_key(container: u32, key: &str) -> KeyRange {
    KeyRange::prefix(&KeyBuf::new().u32(container).bytes(key.as_bytes()).finish())
}

/// The key of a tag's row up to its value, and the value's beginning: for bounds of ranges.
pub(crate) fn tag_value(container: u32, key: &str, value: &str) -> Vec<u8> {
    KeyBuf::new().u32(container).bytes(key.as_bytes()).bytes(value.as_bytes()).finish()
}

/// Everything of a container in the space of tags.
pub(crate) fn tags_of_container(container: u32) -> KeyRange {
    KeyRange::prefix(&KeyBuf::new().u32(container).finish())
}

/// The value and the name of a tag's key.
pub(crate) fn read_tag(key: &[u8]) -> Result<(String, String), Error> {
    let parts = || {
        let mut reader = KeyReader::new(key);
        reader.u32().ok()?;
        reader.bytes().ok()?;
        let value = String::from_utf8(reader.bytes().ok()?.into_owned()).ok()?;
        Some((value, String::from_utf8(reader.raw().to_vec()).ok()?))
    };
    parts().ok_or_else(|| damaged("a tag"))
}

/// The name and the state of the key of any state.
pub(crate) fn read_state_key(key: &[u8]) -> Result<(String, BlobState), Error> {
    match key.get(NAME_AT - 1) {
        Some(&CURRENT) => Ok((read_name(key)?, BlobState::Current)),
        Some(&HISTORY) => read_history(key),
        _ => Err(damaged("a blob's state")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_row_in_meta_has_a_tag_of_its_own() {
        let own = [CONTAINER, DELETED_CONTAINER, ALIVE, SETTINGS, SWEEP, TRIMMED, GUARD, POLICY, POLICY_RUN];
        let tags = [&orrery_catalog::row::TAGS[..], &own].concat();
        let different: std::collections::BTreeSet<u8> = tags.iter().copied().collect();
        assert_eq!(different.len(), tags.len());
    }

    #[test]
    fn the_states_of_a_name_sort_from_the_oldest_to_the_newest() {
        let at = Ticks::from_count;
        let states = [
            ("a", BlobState::Snapshot(at(1))),
            ("a", BlobState::Version(at(1))),
            ("a", BlobState::Snapshot(at(2))),
            ("a", BlobState::DeletedBlob),
            ("a\0", BlobState::Snapshot(at(1))),
            ("a/b", BlobState::Version(at(1))),
        ];
        let keys = states.map(|(name, state)| Row::History { container: 7, name, state }.key());
        assert!(keys.is_sorted());
        for ((name, state), key) in states.into_iter().zip(&keys) {
            assert_eq!(read_state_key(key), Ok((name.to_owned(), state)));
            assert!(history_of(7, name).contains(key));
        }
        let from = Kind::History.range_from(7, b"a/");
        assert_eq!(keys.iter().filter(|key| from.contains(key)).count(), 1);
    }

    #[test]
    fn a_range_of_pieces_begins_with_the_one_that_has_the_offset() {
        let keys = [10, 20, 30].map(|end| Row::Piece { content: 7, end }.key());
        let first = |offset: u64| {
            let range = pieces_from(7, offset);
            keys.iter().position(|key| range.contains(key))
        };
        assert_eq!([0, 9, 10, 29, 30].map(first), [Some(0), Some(0), Some(1), Some(2), None]);
        assert_eq!(read_piece(&keys[1]), Ok(20));
        assert!(read_piece(&Row::Sharers { content: 7 }.key()).is_err());
    }
}
