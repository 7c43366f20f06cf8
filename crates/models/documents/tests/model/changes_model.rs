//! What the change feed must say, worked out from what was done and not from what was stored.

use crate::world::{World, epk, prepared, target};
use orrery_catalog::Container;
use orrery_catalog::Stamp;
use orrery_core::Lsn;
use orrery_documents::changes::Change;
use orrery_documents::expiry;
use orrery_documents::item::{self, ItemError, Preconditions};
use orrery_documents::limits;
use orrery_kv::Txn;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Partitions that items are spread over.
pub const PARTITIONS: u32 = 3;
/// Ids, the partition of each its remainder.
pub const IDS: u32 = 9;
/// Items with an odd number live so long.
pub const TTL_SECONDS: u64 = 3;

#[derive(Clone, Copy, Debug)]
pub enum Write {
    Create(u32),
    Upsert(u32),
    Replace(u32),
    Delete(u32),
    /// To the id that is so many partitions' worth further.
    Rename(u32, u32),
}

#[derive(Clone, Debug)]
pub enum Step {
    /// One transaction in one partition; if a part fails, all of it.
    Write(Vec<Write>),
    Pass(u64),
    /// The clock is set back, but not far.
    Back(u64),
    Reap,
    /// Time passes, many commits happen elsewhere, and the log is trimmed.
    Trim,
}

fn write() -> impl Strategy<Value = Write> {
    let id = 0..IDS;
    prop_oneof![
        id.clone().prop_map(Write::Create),
        id.clone().prop_map(Write::Upsert),
        id.clone().prop_map(Write::Upsert),
        id.clone().prop_map(Write::Replace),
        id.clone().prop_map(Write::Delete),
        (id, 1..3u32).prop_map(|(id, by)| Write::Rename(id, by)),
    ]
}

/// Writes that stay in the partition of the first.
fn batch() -> impl Strategy<Value = Vec<Write>> {
    let moved = |write: Write, to: u32| {
        let id = |id: u32| id - id % PARTITIONS + to;
        match write {
            Write::Create(n) => Write::Create(id(n)),
            Write::Upsert(n) => Write::Upsert(id(n)),
            Write::Replace(n) => Write::Replace(id(n)),
            Write::Delete(n) => Write::Delete(id(n)),
            Write::Rename(n, by) => Write::Rename(id(n), by),
        }
    };
    (0..PARTITIONS, prop::collection::vec(write(), 1..5))
        .prop_map(move |(to, writes)| writes.into_iter().map(|write| moved(write, to)).collect())
}

pub fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        8 => write().prop_map(|write| Step::Write(vec![write])),
        4 => batch().prop_map(Step::Write),
        2 => (1..3u64).prop_map(Step::Pass),
        1 => (1..4u64).prop_map(Step::Back),
        1 => Just(Step::Reap),
        1 => Just(Step::Trim),
    ];
    prop::collection::vec(step, 1..60)
}

/// One change as it must be told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    pub lsn: Lsn,
    pub second: u64,
    pub n: u32,
    pub change: Change,
    pub current: Option<String>,
    pub previous: Option<(String, Lsn)>,
}

#[derive(Clone, Debug)]
struct Stored {
    text: String,
    lsn: Lsn,
    second: u64,
}

/// A world, and beside it everything that happened.
pub struct Diary {
    pub world: World,
    pub container: Container,
    pub told: Vec<Told>,
    stored: BTreeMap<u32, Stored>,
    seconds: u64,
    texts: u32,
}

impl Diary {
    /// Versions are kept for a minute.
    pub fn new() -> Self {
        let mut world = World::new();
        let container = world.container(r#""defaultTtl":-1,"changeFeedPolicy":{"retentionDuration":1}"#);
        Self { world, container, told: Vec::new(), stored: BTreeMap::new(), seconds: 100, texts: 0 }
    }

    pub fn second(&self) -> u64 {
        crate::world::START + self.seconds
    }

    fn set_clock(&mut self, seconds: u64) {
        self.seconds = seconds;
        self.world.at(seconds);
    }

    pub fn tip(&self) -> Lsn {
        self.world.db.tip().lsn
    }

    pub fn step(&mut self, step: &Step) {
        self.set_clock(self.seconds);
        match step {
            Step::Write(writes) => self.write(writes),
            Step::Pass(seconds) => self.set_clock(self.seconds + seconds),
            Step::Back(seconds) => self.set_clock(self.seconds - seconds),
            Step::Reap => self.reap(),
            Step::Trim => {
                self.set_clock(self.seconds + 70);
                self.world.skip_commits(20_000);
                self.world.edit(|txn| txn.put(orrery_kv::META, vec![7], Vec::new()));
                trim(&mut self.world, &self.container);
            }
        }
    }

    fn is_expired(&self, n: u32) -> bool {
        let gone = |stored: &Stored| n % 2 == 1 && stored.second + TTL_SECONDS <= self.second();
        self.stored.get(&n).is_some_and(gone)
    }

    fn write(&mut self, writes: &[Write]) {
        let bodies: Vec<(Write, String, Stamp, u64)> = writes
            .iter()
            .map(|write| {
                self.texts += 1;
                let id = match write {
                    Write::Rename(n, by) => renamed(*n, *by),
                    Write::Create(n) | Write::Upsert(n) | Write::Replace(n) | Write::Delete(n) => *n,
                };
                let text = text(id, self.texts);
                (*write, text, self.world.stamp(), self.world.ordinal())
            })
            .collect();
        let container = self.container.clone();
        let done = self.world.txn(|txn| {
            let mut each = bodies.iter();
            each.try_for_each(|(write, body, stamp, ordinal)| {
                one(txn, &container, *write, body, *stamp, *ordinal)
            })
        });
        // What must have happened, if it happened at all.
        let (stored, told) = (self.stored.clone(), self.told.len());
        let lsn = self.tip();
        let expected = bodies.iter().try_for_each(|(write, body, _, _)| self.tell(*write, body, lsn));
        assert_eq!(done.is_ok(), expected.is_some(), "{writes:?}: {done:?}");
        if expected.is_none() {
            self.stored = stored;
            self.told.truncate(told);
        }
    }

    fn tell(&mut self, write: Write, body: &str, lsn: Lsn) -> Option<()> {
        let is_live = |diary: &Self, n: u32| diary.stored.contains_key(&n) && !diary.is_expired(n);
        match write {
            Write::Create(n) if is_live(self, n) => return None,
            Write::Replace(n) | Write::Delete(n) | Write::Rename(n, _) if !is_live(self, n) => return None,
            Write::Create(n) | Write::Upsert(n) => {
                self.expire_if_due(n, lsn);
                self.put(n, body, lsn);
            }
            Write::Replace(n) => self.put(n, body, lsn),
            Write::Delete(n) => self.remove(n, Change::Delete, lsn),
            Write::Rename(n, by) => {
                let to = renamed(n, by);
                if is_live(self, to) {
                    return None;
                }
                self.expire_if_due(to, lsn);
                self.remove(n, Change::Delete, lsn);
                self.put(to, body, lsn);
            }
        }
        Some(())
    }

    fn expire_if_due(&mut self, n: u32, lsn: Lsn) {
        if self.is_expired(n) {
            self.remove(n, Change::Expire, lsn);
        }
    }

    fn put(&mut self, n: u32, body: &str, lsn: Lsn) {
        let second = self.second();
        let stored = Stored { text: body.to_owned(), lsn, second };
        let previous = self.stored.insert(n, stored).map(|old| (old.text, old.lsn));
        let change = if previous.is_some() { Change::Replace } else { Change::Create };
        self.told.push(Told { lsn, second, n, change, current: Some(body.to_owned()), previous });
    }

    fn remove(&mut self, n: u32, change: Change, lsn: Lsn) {
        let old = self.stored.remove(&n).expect("what is removed is there");
        let previous = Some((old.text, old.lsn));
        self.told.push(Told { lsn, second: self.second(), n, change, current: None, previous });
    }

    /// Each partition in a transaction of its own, as the reaper does it.
    fn reap(&mut self) {
        let (now, container) = (self.world.now(), self.container.clone());
        let mut due = expiry::due(&*self.world.snapshot(), &container, now).unwrap();
        due.sort_by(|a, b| a.epk.cmp(&b.epk));
        for partition in due.chunk_by(|a, b| a.epk == b.epk) {
            self.world.txn(|txn| expiry::reap(txn, &container, partition, now)).unwrap();
            let lsn = self.tip();
            let of_partition = |n: &u32| key_of(&container, *n) == partition[0].epk;
            let mut gone: Vec<u32> = (0..IDS).filter(|n| self.is_expired(*n)).filter(of_partition).collect();
            gone.sort_by_key(|n| (self.stored[n].second, n.to_string()));
            gone.into_iter().for_each(|n| self.remove(n, Change::Expire, lsn));
        }
    }

    /// The items that are there now and were last written after `after`, in the order of that.
    pub fn latest_after(&self, after: Lsn, is_in: impl Fn(u32) -> bool) -> Vec<(Lsn, String)> {
        let is_last = |told: &&Told| {
            let stored = self.stored.get(&told.n);
            stored.is_some_and(|stored| Some(&stored.text) == told.current.as_ref())
        };
        let live = self.told.iter().filter(|told| told.lsn > after && is_in(told.n)).filter(is_last);
        let live = live.filter(|told| !self.is_expired(told.n));
        live.map(|told| (told.lsn, told.current.clone().expect("it is there"))).collect()
    }

    pub fn told_after(&self, after: Lsn, is_in: impl Fn(u32) -> bool) -> Vec<Told> {
        self.told.iter().filter(|told| told.lsn > after && is_in(told.n)).cloned().collect()
    }
}

/// Trims until nothing is left to trim. Says how many rows went.
pub fn trim(world: &mut World, container: &Container) -> usize {
    use orrery_documents::changes::{apply_trimming, plan_trimming};
    let mut rows = 0;
    while let Some(step) = plan_trimming(&world.snapshot(), container, world.now()).unwrap() {
        rows += step.rows();
        world.edit(|txn| apply_trimming(txn, container, &step));
    }
    rows
}

pub fn key_of(container: &Container, n: u32) -> Vec<u8> {
    epk(container, &(n % PARTITIONS).to_string()).as_bytes().to_vec()
}

fn renamed(n: u32, by: u32) -> u32 {
    (n + by * PARTITIONS) % IDS
}

/// Every third text is one that lies apart from its row.
fn text(n: u32, number: u32) -> String {
    let ttl = if n % 2 == 1 { format!(r#","ttl":{TTL_SECONDS}"#) } else { String::new() };
    let much =
        if number.is_multiple_of(3) { "x".repeat(limits::TEXT_APART_BYTES_MIN) } else { String::new() };
    format!(r#"{{"id":"{n}","pk":{},"text":{number}{ttl},"much":"{much}"}}"#, n % PARTITIONS)
}

fn one(
    txn: &mut Txn<'_>,
    container: &Container,
    write: Write,
    body: &str,
    stamp: Stamp,
    ordinal: u64,
) -> Result<(), ItemError> {
    let (item, always) = (prepared(container, body), Preconditions::default());
    let place = |n: u32| target(container, &(n % PARTITIONS).to_string(), &n.to_string());
    match write {
        Write::Create(_) => item::create(txn, container, &item, stamp, || ordinal),
        Write::Upsert(_) => item::upsert(txn, container, &item, always, stamp, || ordinal),
        Write::Replace(n) | Write::Rename(n, _) => {
            item::replace(txn, container, &place(n), &item, always, stamp)
        }
        Write::Delete(n) => item::delete(txn, container, &place(n), always, stamp),
    }
    .map(drop)
}
