//! The auditor: goes through every stored row and panics with a sentence if two of them disagree.
//!
//! It works the rows out again from the items' text with other code than the model's, so that a mistake there
//! is not repeated here. The store's crash tests use it too.

use orrery_catalog::change_log;
use orrery_catalog::jobs::JobKind;
use orrery_catalog::{Catalog, Container, OfferTarget};
use orrery_core::Lsn;
use orrery_documents::index::LogOwners;
use orrery_documents::item::{ItemHead, ItemRow};
use orrery_documents::row::{self, Row};
use orrery_documents::spaces::{DOCUMENTS, INDEX, LOG, OVERFLOW, SPACES};
use orrery_documents::{changes, expiry, index};
use orrery_keys::{Direction, KeyBuf, KeyReader};
use orrery_kv::{KeyRange, LogRecord, META, Order, Read, Space};
use orrery_value::Value;
use std::collections::{BTreeMap, BTreeSet};

/// How many rows of each kind there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub items: usize,
    pub unique: usize,
    pub expiring: usize,
    pub log: usize,
}

/// Goes through everything in `state`, whose newest commit is `tip`.
pub fn audit(state: &dyn Read, tip: Lsn) -> Tally {
    let catalog = Catalog::default().refreshed(state).expect("the catalog loads");
    check_catalog(state, &catalog);
    check_owners(state, &catalog);
    let mut tally = Tally::default();
    for container in catalog.all_containers() {
        let items = items_of(state, container, tip);
        tally.items += items.len();
        tally.unique += check_unique(state, container, &items);
        tally.expiring += check_expiry(state, container, &items);
        check_partitions(state, container, &items);
        tally.log += check_log(state, container, &items, tip);
        let checked = index::check_container(state, container).expect("rows are readable");
        assert_eq!(checked.findings, [], "what items ask for is there, and no more");
    }
    assert_eq!(index::check_owners(state, &catalog, &LogOwners::new()).expect("rows are readable"), []);
    check_texts(state);
    assert_eq!(index::check_texts(state, &LogOwners::new()).expect("rows are readable"), []);
    tally
}

type Items = BTreeMap<Vec<u8>, ItemRow>;

fn rows(state: &dyn Read, space: Space, range: &KeyRange) -> Vec<orrery_kv::Row> {
    state.range(space, range, Order::Ascending).collect::<Result<_, _>>().expect("rows are readable")
}

fn check_catalog(state: &dyn Read, catalog: &Catalog) {
    let any = orrery_catalog::row::Row::Alive { container: 0 }.key();
    let alive = rows(state, META, &KeyRange::prefix(&any[..1]));
    let alive: BTreeSet<u32> =
        alive.iter().map(|(key, _)| KeyReader::new(&key[1..]).u32().expect("a container's number")).collect();
    let numbers: BTreeSet<u32> = catalog.all_containers().map(|container| container.number()).collect();
    assert_eq!(alive, numbers, "a container is alive while it is in the catalog");
    let schemas = rows(state, META, &orrery_catalog::row::schemas());
    for (key, _) in &schemas {
        let owner = KeyReader::new(&key[1..]).u32().expect("a container's number");
        assert!(numbers.contains(&owner), "a schema belongs to a container that is there");
    }
    let mut owned = BTreeSet::new();
    for container in catalog.all_containers() {
        let database =
            catalog.database(container.database().as_str()).expect("a container's database is there");
        assert_eq!(database.rid, container.rid().database);
        owned.extend(
            container
                .offer()
                .map(|offer| (offer, OfferTargetKey::of(OfferTarget::Container(container.rid())))),
        );
    }
    for database in catalog.databases() {
        owned.extend(
            database.offer.map(|offer| (offer, OfferTargetKey::of(OfferTarget::Database(database.rid)))),
        );
    }
    let offers: BTreeSet<_> =
        catalog.offers().map(|offer| (offer.rid, OfferTargetKey::of(offer.target))).collect();
    assert_eq!(offers, owned, "an offer belongs to the one resource that names it");
}

/// An offer's target as something that sorts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct OfferTargetKey(u32, Option<u32>);

impl OfferTargetKey {
    fn of(target: OfferTarget) -> Self {
        match target {
            OfferTarget::Database(database) => Self(database.0, None),
            OfferTarget::Container(container) => Self(container.database.0, Some(container.number())),
        }
    }
}

/// Every row belongs to a container that is there, or that waits to be swept.
fn check_owners(state: &dyn Read, catalog: &Catalog) {
    let mut known: BTreeSet<u32> = catalog.all_containers().map(|container| container.number()).collect();
    let jobs = orrery_catalog::jobs::jobs(state).expect("jobs are readable");
    known.extend(jobs.iter().filter(|(kind, _)| *kind == JobKind::Sweep).map(|(_, container)| *container));
    for space in [DOCUMENTS, INDEX, LOG] {
        for (key, _) in rows(state, space, &KeyRange::all()) {
            let mut reader = KeyReader::new(&key);
            let owner = match space {
                LOG => reader.u64().unwrap() as u32,
                _ => reader.u32().unwrap(),
            };
            assert!(known.contains(&owner), "a row of {} belongs to nobody: {owner}", SPACES.name(space));
        }
    }
}

/// A text that lies apart belongs to the one row that points to it: an item's, or what a log entry replaced.
fn check_texts(state: &dyn Read) {
    let items = rows(state, DOCUMENTS, &KeyRange::all()).into_iter().map(|(_, value)| value);
    let items = items.map(|value| ItemHead::read(value).expect("an item's row is readable"));
    let entries = rows(state, LOG, &KeyRange::all());
    let replaced = entries.iter().filter_map(|found| {
        LogEntry::read(&LogRecord::read(found).expect("a log entry is readable").payload).replaced
    });
    let mut expected: Vec<_> = items.chain(replaced).filter_map(|item| item.text_key()).collect();
    expected.sort_unstable();
    let found: Vec<_> = rows(state, OVERFLOW, &KeyRange::all()).into_iter().map(|(key, _)| key).collect();
    assert_eq!(found, expected, "each text that lies apart has one row that points to it");
}

/// The items of a container by key, each checked to lie where its text says.
fn items_of(state: &dyn Read, container: &Container, tip: Lsn) -> Items {
    let found = rows(state, DOCUMENTS, &row::of_container(container.number()));
    let read = |(key, value): orrery_kv::Row| {
        let item = ItemRow::read(state, value).expect("an item's row is readable");
        check_item(container, &key, &item, tip);
        (Vec::from(key), item)
    };
    found.into_iter().map(read).collect()
}

fn check_item(container: &Container, key: &[u8], item: &ItemRow, tip: Lsn) {
    let (epk, id) = row::read_item(key).expect("an item's key");
    let value = Value::parse(item.text()).expect("an item's text is JSON");
    assert!(
        item.lsn() <= tip && item.lsn() > Lsn(0),
        "{id} was written at {}, after the end {tip}",
        item.lsn()
    );
    assert!(matches!(value.member("id"), Value::String(own) if *own == id), "{id} lies under its id");
    let paths = container.definition().partition_key().paths();
    let key: Vec<Value> = paths.iter().map(|path| at(&value, path.segments()).clone()).collect();
    let expected = orrery_keys::epk(container.hashing(), &key);
    assert_eq!(epk, expected.as_bytes(), "{id} lies in its partition");
}

fn at<'a>(value: &'a Value, path: &[String]) -> &'a Value {
    path.iter().fold(value, |value, name| value.member(name))
}

/// There is exactly one row for each unique key of each item, and it names the item.
fn check_unique(state: &dyn Read, container: &Container, items: &Items) -> usize {
    const UNIQUE: u8 = 1;
    let mut expected = BTreeMap::new();
    for (key, item) in items {
        let (epk, id) = row::read_item(key).expect("an item's key");
        let value = Value::parse(item.text()).expect("an item's text is JSON");
        for (number, paths) in container.definition().unique_keys().iter().enumerate() {
            let values = paths.iter().fold(KeyBuf::new(), |key, path| {
                let found = at(&value, path.segments());
                key.value(if found.is_undefined() { &Value::Null } else { found }, Direction::Ascending)
            });
            let values = values.finish();
            let row =
                Row::Unique { container: container.number(), epk: &epk, key: number as u8, values: &values };
            let other = expected.insert(row.key(), id.clone());
            assert_eq!(other, None, "{id} and another item have the same unique values");
        }
    }
    let prefix = KeyRange::prefix(&KeyBuf::new().u32(container.number()).u8(UNIQUE).finish());
    let found: BTreeMap<_, _> = rows(state, INDEX, &prefix)
        .into_iter()
        .map(|(key, holder)| (key, String::from_utf8(holder.to_vec()).expect("an id")))
        .collect();
    assert_eq!(found, expected, "the unique rows are those of the items");
    found.len()
}

/// There is exactly one row for each partition that has items, and it adds them up.
fn check_partitions(state: &dyn Read, container: &Container, items: &Items) {
    const PARTITION: u8 = 3;
    let mut expected: BTreeMap<Vec<u8>, (u64, u64)> = BTreeMap::new();
    for (key, item) in items {
        let (epk, _) = row::read_item(key).expect("an item's key");
        let (count, bytes) = expected.entry(epk).or_default();
        *count += 1;
        *bytes += item.text().len() as u64;
    }
    let prefix = KeyBuf::new().u32(container.number()).u8(PARTITION).finish();
    let read = |(key, value): orrery_kv::Row| {
        let mut words = KeyReader::new(&value);
        (key[prefix.len()..].to_vec(), (words.u64().expect("a count"), words.u64().expect("bytes")))
    };
    let found: BTreeMap<_, _> =
        rows(state, INDEX, &KeyRange::prefix(&prefix)).into_iter().map(read).collect();
    assert_eq!(found, expected, "the partitions' rows add up their items");
}

/// Every item that expires has its row; rows that are stale may be there too.
fn check_expiry(state: &dyn Read, container: &Container, items: &Items) -> usize {
    let rebuilding = (JobKind::Expiry, container.number());
    if orrery_catalog::jobs::jobs(state).expect("jobs are readable").contains(&rebuilding) {
        return 0;
    }
    let expiring = items.iter().filter_map(|(key, item)| Some((key, expiry::expires_at(container, item)?)));
    expiring
        .inspect(|(key, at)| {
            let (epk, id) = row::read_item(key).expect("an item's key");
            let row = Row::Expiry { container: container.number(), at: *at, epk: &epk, id: &id };
            assert!(state.get(INDEX, &row.key()).unwrap().is_some(), "{id} expires at {at} without a row");
        })
        .count()
}

/// Beside each version that ended stands the commit that ended it.
fn check_successors(state: &dyn Read, container: &Container, expected: &BTreeMap<bytes::Bytes, Lsn>) {
    const SUCCESSOR: u8 = 8;
    let prefix = KeyRange::prefix(&KeyBuf::new().u32(container.number()).u8(SUCCESSOR).finish());
    let read = |(key, value): orrery_kv::Row| (key, Lsn(KeyReader::new(&value).u64().expect("an LSN")));
    let found: BTreeMap<_, _> = rows(state, INDEX, &prefix).into_iter().map(read).collect();
    assert_eq!(&found, expected, "the successors are those of the log");
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    Create,
    Replace,
    Delete,
    Expire,
}

/// A log entry's payload: version, change, when (ms), the key's length, the key, the row it replaced.
pub struct LogEntry {
    pub change: Change,
    pub at_ms: u64,
    pub key: Vec<u8>,
    pub replaced: Option<ItemHead>,
}

impl LogEntry {
    pub fn read(payload: &[u8]) -> Self {
        let mut reader = KeyReader::new(payload);
        assert_eq!(reader.u8().unwrap(), 1, "the version of a log entry");
        let change = match reader.u8().unwrap() {
            1 => Change::Create,
            2 => Change::Replace,
            3 => Change::Delete,
            4 => Change::Expire,
            other => panic!("{other} is no change"),
        };
        let at_ms = reader.u64().unwrap();
        let length = reader.u32().unwrap() as usize;
        let (key, image) = reader.raw().split_at(length);
        let image = Some(image).filter(|image| !image.is_empty());
        let read = |image: &[u8]| ItemHead::read(image.to_vec().into()).expect("an image is a row");
        Self { change, at_ms, key: key.to_vec(), replaced: image.map(read) }
    }

    pub fn id(&self) -> String {
        row::read_item(&self.key).expect("an item's key").1
    }
}

/// The log, from its start, makes the items that are there, and each entry holds what it replaced. Where it was trimmed,
/// there is one entry for each item that was there then.
fn check_log(state: &dyn Read, container: &Container, items: &Items, tip: Lsn) -> usize {
    let range = LogRecord::range(change_log::stream(container.number()), Lsn(0));
    let trimmed = changes::horizon(state, container.number()).expect("how far the log is trimmed");
    let mut written: BTreeMap<Vec<u8>, (Lsn, u64)> = BTreeMap::new();
    let mut successors = BTreeMap::new();
    let mut entries = 0;
    for found in rows(state, LOG, &range) {
        let record = LogRecord::read(&found).expect("a log entry is readable");
        assert!(record.lsn <= tip, "log entry {} lies after the end {tip}", record.lsn);
        let entry = LogEntry::read(&record.payload);
        entries += 1;
        let before = written.get(&entry.key).map(|(lsn, _)| *lsn);
        if record.lsn <= trimmed {
            assert!(entry.replaced.is_none() && before.is_none(), "{} is there once and bare", entry.id());
            written.insert(entry.key, (record.lsn, entry.at_ms));
            continue;
        }
        // What was written in the same commit has no number in its image yet.
        let replaced = entry.replaced.as_ref().map(ItemHead::lsn);
        let replaced = replaced.map(|lsn| if lsn == Lsn(0) { record.lsn } else { lsn });
        // What wrote it may be trimmed, because this came after.
        let before = before.or(replaced.filter(|lsn| *lsn <= trimmed));
        assert_eq!(replaced, before, "{} holds what it replaced", entry.id());
        if let Some(before) = before.filter(|before| *before < record.lsn) {
            let item = row::without_container(&entry.key);
            let row = Row::Successor { container: container.number(), lsn: before, item };
            successors.insert(row.key(), record.lsn);
        }
        match entry.change {
            Change::Create | Change::Replace => {
                assert_eq!(before.is_some(), entry.change == Change::Replace, "{}", entry.id());
                written.insert(entry.key, (record.lsn, entry.at_ms));
            }
            Change::Delete | Change::Expire => {
                assert!(before.is_some(), "{} was there", entry.id());
                written.remove(&entry.key);
            }
        }
    }
    check_successors(state, container, &successors);
    let stamps = |item: &ItemRow| (item.lsn(), item.written().millis());
    let stored: BTreeMap<Vec<u8>, (Lsn, u64)> =
        items.iter().map(|(key, item)| (key.clone(), stamps(item))).collect();
    assert_eq!(written, stored, "the log makes the items");
    entries
}
