//! The log of a container's changes: each has the row that it replaced or removed, so that an earlier state can be restored.
//!
//! ```text
//! key of an entry   what u8 | …
//!   1 state         the key of a state's row; the image is the state that was replaced or removed
//!   2 content       an ordinal: no state has this content any more
//!   3 piece         the key of a piece; the image is the piece that was replaced or removed
//!   4 event         a name; the image is an event of the change feed
//! ```
//!
//! An entry of content or of a piece owns it: when the entry is trimmed, the content is freed and the chunk released. Entries of
//! states that had the content are older, so they are gone by then.

use crate::blob::{Blob, BlobState, record};
use crate::content::{self, Piece};
use crate::limits;
use crate::row::{self, Kind, Row};
use crate::spaces::{BLOBS, LOG};
use bytes::Bytes;
use orrery_catalog::change_log;
use orrery_core::{Lsn, Timestamp};
use orrery_kv::{Error, Expect, LogRecord, META, Order, Read, Snapshot, Txn, unverified_before};
use std::time::Duration;

pub use change_log::{Change, Entry};

const STATE: u8 = 1;
const CONTENT_FREED: u8 = 2;
const PIECE: u8 = 3;
const EVENT: u8 = 4;

/// What an entry is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    State(Bytes),
    Content(u64),
    Piece(Bytes),
    /// The name of a blob.
    Event(Bytes),
}

pub(crate) fn log_state(
    txn: &mut Txn<'_>,
    container: u32,
    change: Change,
    key: &[u8],
    image: Option<&Bytes>,
    now: Timestamp,
) {
    log(txn, container, change, &[&[STATE], key].concat(), image, now);
}

pub(crate) fn log_content(txn: &mut Txn<'_>, container: u32, ordinal: u64, now: Timestamp) {
    log(txn, container, Change::Delete, &[&[CONTENT_FREED], &ordinal.to_be_bytes()[..]].concat(), None, now);
}

pub(crate) fn log_piece(txn: &mut Txn<'_>, container: u32, key: &[u8], image: &Bytes, now: Timestamp) {
    log(txn, container, Change::Delete, &[&[PIECE], key].concat(), Some(image), now);
}

pub(crate) fn log_event(txn: &mut Txn<'_>, container: u32, name: &str, event: Vec<u8>, now: Timestamp) {
    let key = [&[EVENT], name.as_bytes()].concat();
    log(txn, container, Change::Create, &key, Some(&event.into()), now);
}

fn log(txn: &mut Txn<'_>, container: u32, change: Change, key: &[u8], image: Option<&Bytes>, now: Timestamp) {
    let (entry, _) = change_log::payload(change, now, key, image.map_or(&[][..], |image| image));
    txn.log(LOG, change_log::stream(container), entry);
}

/// The entries of a container after a commit, in order.
pub fn after(
    state: &dyn Read,
    container: u32,
    after: Lsn,
) -> impl Iterator<Item = Result<Entry, Error>> + use<'_> {
    let range = LogRecord::range(change_log::stream(container), Lsn(after.0.saturating_add(1)));
    state.range(LOG, &range, Order::Ascending).map(|row| Entry::read(LogRecord::read(&row?)?))
}

pub fn subject(entry: &Entry) -> Result<Subject, Error> {
    let damaged = || Error::Corrupt(format!("the log entry of commit {} has no subject", entry.lsn()));
    let (what, rest) = entry.key().split_first().ok_or_else(damaged)?;
    match *what {
        STATE => Ok(Subject::State(Bytes::copy_from_slice(rest))),
        CONTENT_FREED => {
            rest.try_into().map(|word| Subject::Content(u64::from_be_bytes(word))).map_err(|_| damaged())
        }
        EVENT => Ok(Subject::Event(Bytes::copy_from_slice(rest))),
        PIECE => Ok(Subject::Piece(Bytes::copy_from_slice(rest))),
        _ => Err(damaged()),
    }
}

/// The name and state of a state's key.
pub fn state_of(key: &[u8]) -> Result<(String, BlobState), Error> {
    row::read_state_key(key)
}

/// A state from its key and its row, as an entry of the log has them. Its content is there until the entry is trimmed.
pub fn read_state(key: &[u8], image: &Bytes) -> Result<Blob, Error> {
    let (name, state) = row::read_state_key(key)?;
    record::read(&name, state, image)
}

/// The rows of all states of a container as they are now.
pub fn states(
    state: &dyn Read,
    container: u32,
) -> impl Iterator<Item = Result<(Bytes, Bytes), Error>> + use<'_> {
    let of = move |kind: Kind| state.range(BLOBS, &kind.all(container), Order::Ascending);
    of(Kind::Current).chain(of(Kind::History))
}

/// How far the log of a container is trimmed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Horizons {
    /// What entries up to here owned is freed; they stay as they are as long as opening the store verifies them.
    pub released: Lsn,
    /// Entries up to here are gone.
    pub removed: Lsn,
}

pub fn horizons(state: &dyn Read, container: u32) -> Result<Horizons, Error> {
    let Some(stored) = state.get(META, &Row::Trimmed { container }.key())? else {
        return Ok(Horizons::default());
    };
    let (words, rest) = stored.as_chunks();
    match words {
        [released, removed] if rest.is_empty() => {
            let [released, removed] = [released, removed].map(|word| Lsn(u64::from_be_bytes(*word)));
            Ok(Horizons { released, removed })
        }
        _ => Err(Error::Corrupt("the row that says how far a log is trimmed".into())),
    }
}

/// One step: entries past their retention give up what they own, and those that opening the store does not verify go.
#[derive(Debug, Default)]
pub struct Trimming {
    release: Vec<Entry>,
    remove: Vec<Bytes>,
    before: Horizons,
    horizons: Horizons,
}

impl Trimming {
    pub fn entries(&self) -> usize {
        self.release.len() + self.remove.len()
    }
}

/// The next step, if there is one. What was decided on a snapshot stays right.
pub fn plan_trimming(
    state: &Snapshot,
    container: u32,
    retention: Duration,
    now: Timestamp,
) -> Result<Option<Trimming>, Error> {
    let before = horizons(state, container)?;
    let mut step = Trimming { before, horizons: before, ..Trimming::default() };
    let is_old = |entry: &Entry| entry.at().plus(retention) <= now;
    step.horizons.released =
        whole_commits(state, container, before.released, is_old, |entry| step.release.push(entry))?;
    let end = unverified_before(state.lsn()).min(Lsn(before.released.0.saturating_add(1)));
    let mut remove = Vec::new();
    let mut removed = whole_commits(
        state,
        container,
        before.removed,
        |entry| entry.lsn() < end,
        |entry| {
            remove.push((entry.lsn(), entry.log_key()));
        },
    )?;
    // The next entry will be linked to the newest.
    if after(state, container, removed).next().is_none() {
        let newest = removed;
        remove.retain(|(lsn, _)| *lsn < newest);
        removed = remove.last().map_or(before.removed, |(lsn, _)| *lsn);
    }
    step.horizons.removed = removed;
    step.remove.extend(remove.into_iter().map(|(_, key)| key));
    Ok((step.horizons != before).then_some(step))
}

/// Takes entries after a commit as long as they are wanted, up to the limits of a step, and never a part of a commit. Returns the
/// last commit that it took.
fn whole_commits(
    state: &dyn Read,
    container: u32,
    start: Lsn,
    is_wanted: impl Fn(&Entry) -> bool,
    mut take: impl FnMut(Entry),
) -> Result<Lsn, Error> {
    let (mut reached, mut count, mut bytes) = (start, 0, 0);
    let mut commit: Vec<Entry> = Vec::new();
    for entry in after(state, container, start) {
        let entry = entry?;
        if commit.first().is_some_and(|first| first.lsn() != entry.lsn()) {
            reached = commit[0].lsn();
            commit.drain(..).for_each(&mut take);
            if count >= limits::LOG_TRIM_ENTRIES_MAX || bytes >= limits::LOG_TRIM_BYTES_MAX {
                return Ok(reached);
            }
        }
        if !is_wanted(&entry) {
            return Ok(reached);
        }
        (count, bytes) = (count + 1, bytes + entry.bytes());
        commit.push(entry);
    }
    if let Some(last) = commit.first() {
        reached = last.lsn();
        commit.into_iter().for_each(take);
    }
    Ok(reached)
}

/// Does what was planned, unless the container is gone by then: the sweep frees what its entries own, and nothing is freed twice.
pub fn apply_trimming(txn: &mut Txn<'_>, container: u32, step: &Trimming) -> Result<(), Error> {
    txn.require(META, Row::Alive { container }.key(), Expect::Present);
    if horizons(txn, container)? != step.before {
        return Ok(());
    }
    txn.frees();
    for entry in &step.release {
        release(txn, entry)?;
    }
    for key in &step.remove {
        txn.put_blind(LOG, key.clone(), None);
    }
    let Horizons { released, removed } = step.horizons;
    txn.put(
        META,
        Row::Trimmed { container }.key(),
        [released, removed].map(|lsn| lsn.0.to_be_bytes()).concat(),
    );
    Ok(())
}

/// Frees what an entry of a dropped container owns, unless trimming did.
pub(crate) fn release_dropped(txn: &mut Txn<'_>, container: u32, entry: &Entry) -> Result<(), Error> {
    let released = horizons(txn, container)?.released;
    if entry.lsn() > released { release(txn, entry) } else { Ok(()) }
}

/// Frees what an entry owns.
fn release(txn: &mut Txn<'_>, entry: &Entry) -> Result<(), Error> {
    match subject(entry)? {
        Subject::State(_) | Subject::Event(_) => {}
        Subject::Content(ordinal) => {
            content::free(txn, ordinal, usize::MAX)?;
        }
        Subject::Piece(_) => {
            if let Some(image) = entry.image() {
                Piece::read(&image)?.release(txn);
            }
        }
    }
    Ok(())
}
