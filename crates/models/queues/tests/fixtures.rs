//! Rows of queues and messages as version 1 stores them, kept as bytes: today's code reads them, and still writes them.
//!
//! `tests/fixtures/v1.rows` is a small store, a row a line: its space, key and value in hex. It stays as it is for ever; a
//! new version of a record gets a file of its own beside it. Where there is no file yet, `BLESS=1` writes one.

#![expect(clippy::unwrap_used, reason = "a helper of a test that cannot go on panics, as the test does")]

use orrery_catalog::storage::{
    AccessPolicy, AccountName, PolicyTime, QueueName, SignedIdentifier, SignedIdentifiers,
};
use orrery_core::{Lsn, Timestamp};
use orrery_kv::{
    Db, Engine, KeyRange, MemoryEngine, Order, Outcome, Overlay, Put, Read, Snapshot, Sync, Txn,
};
use orrery_queues::messages::{self, NewMessage, QueueSize, Stamp, Update};
use orrery_queues::spaces::SPACES;
use orrery_queues::{
    Leftover, MessageCount, MessageId, MessageText, Metadata, Position, QueueId, TimeToLive,
    VisibilityTimeout, leftovers, queues,
};
use std::path::PathBuf;
use std::sync::Arc;

const START: Timestamp = Timestamp::from_seconds(1_000_000);
const STAMP: Stamp = Stamp { now: START, random: 0x0123_4567_89ab_cdef };

struct World {
    db: Db,
}

impl World {
    fn over(engine: MemoryEngine) -> Self {
        Self { db: Db::open(Box::new(engine), Sync::Data).unwrap() }
    }

    fn txn<T, E: std::fmt::Debug>(&self, body: impl FnOnce(&mut Txn<'_>) -> Result<T, E>) -> T {
        let (snapshot, pending) = (self.db.snapshot(), Overlay::default());
        let mut txn = Txn::new(&snapshot, &pending);
        let value = body(&mut txn).unwrap();
        let batch = txn.into_batch().stamp(Lsn(self.db.tip().lsn.0 + 1));
        assert_eq!(self.db.commit(vec![batch]).unwrap(), [Outcome::Committed]);
        value
    }

    fn snapshot(&self) -> Arc<Snapshot> {
        self.db.snapshot()
    }
}

fn queue_id(name: &str) -> QueueId {
    QueueId {
        account: AccountName::parse("devstoreaccount1").unwrap(),
        name: QueueName::parse(name).unwrap(),
    }
}

fn metadata() -> Metadata {
    Metadata::new([("Owner".to_owned(), "a team".to_owned())]).unwrap()
}

fn policies() -> SignedIdentifiers {
    let policy = AccessPolicy {
        start: None,
        expiry: Some(PolicyTime::new("2027-01-15T08:00:00.0000000Z", Timestamp::from_seconds(1_800_000_000))),
        permission: Some("rp".into()),
    };
    SignedIdentifiers::new(vec![SignedIdentifier { id: "readers".into(), policy }]).unwrap()
}

fn new(text: &str, hidden: i64, lives: i64) -> NewMessage {
    NewMessage {
        text: MessageText::new(text.to_owned()).unwrap(),
        visibility: VisibilityTimeout::for_put(hidden).unwrap(),
        time_to_live: TimeToLive::parse(lives).unwrap(),
    }
}

/// The store of the fixture, made by today's code: every kind of row there is.
fn made_today() -> World {
    let world = World::over(MemoryEngine::new(&SPACES));
    let (turns, dropped) = (queue_id("turns"), queue_id("dropped"));
    world.txn(|txn| queues::create(txn, &turns, &metadata()));
    world.txn(|txn| queues::create(txn, &dropped, &Metadata::default()));
    world.txn(|txn| queues::set_policies(txn, &turns, &policies()));
    world.txn(|txn| queues::delete(txn, &dropped));
    let id = |ordinal| MessageId::new(ordinal, STAMP.random);
    world.txn(|txn| messages::put(txn, 1, id(1), &new("cleared", 0, -1), STAMP));
    world.txn(|txn| messages::clear(txn, 1));
    world.txn(|txn| messages::put(txn, 1, id(2), &new(" é\n", 0, -1), STAMP));
    world.txn(|txn| messages::put(txn, 1, id(3), &new("hidden", 60, 3600), STAMP));
    world.txn(|txn| {
        let hidden = VisibilityTimeout::for_get(30).unwrap();
        messages::get(txn, 1, Position::default(), MessageCount::ONE, hidden, STAMP)
    });
    world
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Vec<u8> {
    let pairs = text.as_bytes().chunks(2);
    pairs.map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

fn lines(state: &dyn Read) -> String {
    let row = |name: &str, key: &[u8], value: &[u8]| format!("{name} {} {}\n", hex(key), hex(value));
    let mut found = String::new();
    for spec in SPACES.iter() {
        for entry in state.range(spec.space, &KeyRange::all(), Order::Ascending) {
            let (key, value) = entry.unwrap();
            found += &row(spec.name, &key, &value);
        }
    }
    found
}

fn fixture() -> String {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/v1.rows");
    if !file.exists() && std::env::var_os("BLESS").is_some() {
        std::fs::write(&file, lines(&*made_today().snapshot())).unwrap();
    }
    std::fs::read_to_string(file).expect("the fixture of version 1 is there")
}

/// The store that the fixture holds.
fn stored_then() -> World {
    let put = |line: &str| {
        let parts: Vec<&str> = line.split(' ').collect();
        let space = SPACES.iter().find(|spec| spec.name == parts[0]).unwrap().space;
        Put { space, key: unhex(parts[1]).into(), value: Some(unhex(parts[2]).into()) }
    };
    let engine = MemoryEngine::new(&SPACES);
    engine.write(fixture().lines().map(put).collect(), Sync::Data).unwrap();
    World::over(engine)
}

#[test]
fn queues_of_version_1_are_read() {
    let world = stored_then();
    let known = queues::load_all(&*world.snapshot()).unwrap();
    assert_eq!(known.len(), 1);
    assert_eq!((&known[0].id, known[0].number), (&queue_id("turns"), 1));
    assert_eq!((&known[0].metadata, &known[0].policies), (&metadata(), &policies()));
    let left: Vec<u32> =
        leftovers(&*world.snapshot()).unwrap().into_iter().map(Leftover::queue_number).collect();
    assert_eq!(left, [1, 2], "what was cleared, and what was dropped");
}

#[test]
fn messages_of_version_1_are_read_and_their_receipts_are_good() {
    let world = stored_then();
    let texts = " é\n".len() + "hidden".len();
    let size = QueueSize { messages: 2, bytes: texts as u64 };
    assert_eq!(messages::size(&*world.snapshot(), 1), Ok(size));
    let later = Stamp { now: Timestamp::from_seconds(1_000_060), random: 7 };
    let all = MessageCount::parse(32).unwrap();
    let shown = messages::peek(&*world.snapshot(), 1, Position::default(), all, later.now).unwrap();
    let shown: Vec<_> =
        shown.messages.iter().map(|m| (m.text.as_str(), m.dequeue_count, m.expires)).collect();
    let expires = Some(Timestamp::from_seconds(1_003_600));
    assert_eq!(shown, [(" é\n", 1, None), ("hidden", 0, expires)]);
    let receipt = orrery_queues::PopReceipt::parse("AAAAADubPzAAAAAAAAAAAgAAAAGJq83v");
    let held = Update {
        id: MessageId::new(2, STAMP.random),
        receipt: receipt.unwrap(),
        visibility: VisibilityTimeout::for_put(5).unwrap(),
        text: None,
    };
    let updated = world.txn(|txn| messages::update(txn, 1, &held, later));
    assert_eq!(updated.next_visible, Timestamp::from_seconds(1_000_065));
}

/// A change of format is a new version, never another meaning of the old one.
#[test]
fn todays_code_still_writes_version_1() {
    assert_eq!(lines(&*made_today().snapshot()), fixture());
}
