//! Rows of containers and blobs as version 1 stores them, kept as bytes: today's code reads them, and still writes them.
//!
//! `tests/fixtures/v1.rows` is a small store, a row a line: its space, key and value in hex. It stays as it is for ever; a
//! new version of a record gets a file of its own beside it. Where there is no file yet, `BLESS=1` writes one.

#![expect(clippy::unwrap_used, reason = "a helper of a test that cannot go on panics, as the test does")]

use bytes::Bytes;
use orrery_blobs::blob::{BlockId, ContentHeaders, Immutability, ImmutabilityMode};
use orrery_blobs::containers::{self, ContainerConditions, NewContainer, PublicAccess};
use orrery_blobs::content::Upload;
use orrery_blobs::lease::{LeaseAction, LeaseDuration};
use orrery_blobs::lifecycle::{self, LifecyclePolicy, LifecycleRun};
use orrery_blobs::operations::{
    self, AppendConditions, BlockRef, BlockSource, DeleteBlob, ListBlobs, ListInclude, NewBlob, NewPageBlob,
    PageConditions, Place, PutOptions, RehydrationTimes, SetTier,
};
use orrery_blobs::settings::{BlobSettings, Days, DeleteRetention, load_settings, save_settings};
use orrery_blobs::spaces::SPACES;
use orrery_blobs::tags::TagSet;
use orrery_blobs::tier::Tier;
use orrery_blobs::{BlobError, BlobName, Conditions, ContainerId, Selector, Stamp};
use orrery_catalog::storage::{AccountName, BlobContainerName, Metadata};
use orrery_chunks::files::MemoryFiles;
use orrery_chunks::{Chunks, Synced};
use orrery_core::{Lsn, Ticks, Timestamp};
use orrery_kv::{
    Db, Engine, Error, KeyRange, MemoryEngine, Order, Outcome, Overlay, Put, Read, Snapshot, Sync, Txn,
};
use serde_json::json;
use std::cell::Cell;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

const START: Timestamp = Timestamp::from_seconds(1_800_000_000);

struct World {
    db: Db,
    chunks: Chunks,
    next: Cell<u64>,
}

impl World {
    fn over(engine: MemoryEngine) -> Self {
        let db = Db::open(Box::new(engine), Sync::Data).unwrap();
        let options = orrery_chunks::Options { disk_free_bytes_min: 0, ..Default::default() };
        let chunks = Chunks::open(Box::new(MemoryFiles::new()), &*db.snapshot(), options).unwrap();
        Self { db, chunks, next: Cell::new(1) }
    }

    fn stamp(&self) -> Stamp {
        let next = self.next.replace(self.next.get() + 1);
        Stamp {
            now: START,
            ticks: Ticks::from_count(Ticks::at(START).count() + next),
            random: 0x0123_4567_89ab_4def_8123_4567_89ab_cdef,
            ordinal: next,
        }
    }

    fn txn<T, E: std::fmt::Debug>(&self, body: impl FnOnce(&mut Txn<'_>, Stamp) -> Result<T, E>) -> T {
        let (snapshot, pending) = (self.db.snapshot(), Overlay::default());
        let mut txn = Txn::new(&snapshot, &pending);
        let value = body(&mut txn, self.stamp()).unwrap();
        let batch = txn.into_batch().stamp(Lsn(self.db.tip().lsn.0 + 1));
        assert_eq!(self.db.commit(vec![batch]).unwrap(), [Outcome::Committed]);
        value
    }

    fn blob<T>(
        &self,
        name: &str,
        body: impl FnOnce(&mut Txn<'_>, Place<'_>, Stamp) -> Result<T, BlobError>,
    ) -> T {
        let (name, settings) = (BlobName::parse(name).unwrap(), settings());
        self.txn(|txn, stamp| body(txn, Place { container: 1, settings: &settings, name: &name }, stamp))
    }

    fn put(&self, name: &str, bytes: &'static [u8], options: &PutOptions) {
        let bytes = Bytes::from_static(bytes);
        self.blob(name, |txn, place, stamp| {
            operations::put(txn, place, NewBlob::Block(Upload::Inline(&bytes)), options, stamp)
        });
    }

    fn large(&self) -> Synced {
        let mut writer = self.chunks.writer_of(100_000);
        writer.write(&[7; 100_000]).unwrap();
        writer.finish().unwrap().sync().unwrap()
    }

    fn snapshot(&self) -> Arc<Snapshot> {
        self.db.snapshot()
    }
}

fn account() -> AccountName {
    AccountName::parse("devstoreaccount1").unwrap()
}

fn container(name: &str) -> ContainerId {
    ContainerId { account: account(), name: BlobContainerName::parse(name).unwrap() }
}

fn settings() -> BlobSettings {
    let days = Days::new(7).unwrap();
    BlobSettings {
        delete_retention: Some(DeleteRetention { days, allow_permanent_delete: true }),
        container_delete_retention: Some(days),
        ..BlobSettings::default()
    }
}

fn metadata() -> Metadata {
    Metadata::new([("Owner".to_owned(), "a team".to_owned())]).unwrap()
}

fn policy() -> LifecyclePolicy {
    let rule = json!({ "name": "r", "type": "Lifecycle", "definition": {
        "filters": { "blobTypes": ["blockBlob"] },
        "actions": { "baseBlob": { "delete": { "daysAfterModificationGreaterThan": 1 } } },
    } });
    LifecyclePolicy::parse(&json!({ "rules": [rule] })).unwrap()
}

/// The store of the fixture, made by today's code: every kind of row there is.
fn made_today() -> World {
    let world = World::over(MemoryEngine::new(&SPACES));
    let new = NewContainer { metadata: metadata(), public_access: PublicAccess::Blob };
    for name in ["runs", "deleted", "dropped"] {
        world.txn(|txn, stamp| containers::create(txn, &container(name), &new, stamp));
    }
    let delete = |name: &str, settings: &BlobSettings| {
        world.txn(|txn, stamp| {
            containers::delete(txn, &container(name), ContainerConditions::default(), settings, stamp)
        });
    };
    delete("deleted", &settings());
    delete("dropped", &BlobSettings::default());
    let duration = LeaseDuration::Seconds(15);
    let acquire = LeaseAction::Acquire { duration, proposed: None };
    world.txn(|txn, stamp| {
        containers::lease(txn, &container("runs"), acquire, ContainerConditions::default(), stamp)
    });
    world.txn(|txn, stamp| {
        save_settings(txn, &account(), &settings());
        lifecycle::save_policy(txn, &account(), Some(&policy()));
        lifecycle::save_run(
            txn,
            &account(),
            stamp.ticks,
            &LifecycleRun { looked_at: 3, ..LifecycleRun::default() },
        )
    });
    blobs(&world);
    world
}

fn blobs(world: &World) {
    let headers = ContentHeaders {
        content_type: Some("text/plain".into()),
        content_md5: Some([1; 16]),
        ..ContentHeaders::default()
    };
    let tags = TagSet::new([("status".to_owned(), "done".to_owned())]).unwrap();
    let full =
        PutOptions { headers, metadata: metadata(), tags, tier: Some(Tier::Cool), ..PutOptions::default() };
    let none = Conditions::default();
    world.put("a/é", b"old", &PutOptions::default());
    world.put("a/é", b"new", &full);
    world.blob("a/é", |txn, place, stamp| operations::snapshot(txn, place, None, &none, stamp));
    let times = RehydrationTimes { standard: Duration::from_secs(60), high: Duration::from_secs(10) };
    let tier = |tier| SetTier { selector: Selector::Current, tier, priority: None, conditions: none.clone() };
    for to in [Tier::Archive, Tier::Hot] {
        world.blob("a/é", |txn, place, stamp| operations::set_tier(txn, place, &tier(to), times, stamp));
    }
    let until = START.plus(Duration::from_secs(3600));
    let policy = Immutability { until, mode: ImmutabilityMode::Locked };
    world.blob("a/é", |txn, place, stamp| {
        operations::set_immutability(txn, place, Selector::Current, policy, &none, stamp)
    });
    let acquire = LeaseAction::Acquire { duration: LeaseDuration::Infinite, proposed: None };
    world.blob("a/é", |txn, place, stamp| operations::lease(txn, place, acquire, &none, stamp));
    world.put("gone", b"deleted", &PutOptions::default());
    world.blob("gone", |txn, place, stamp| operations::delete(txn, place, &DeleteBlob::default(), stamp));
    for (id, name) in [("QQ==", "blocks"), ("Qg==", "blocks"), ("QQ==", "staged")] {
        let (id, synced) = (BlockId::parse(id).unwrap(), world.large());
        world.blob(name, |txn, place, stamp| {
            operations::stage_block(txn, place, &id, Upload::Chunks(&synced), None, stamp)
        });
    }
    let block = |id| BlockRef { id: BlockId::parse(id).unwrap(), from: BlockSource::Latest };
    world.blob("blocks", |txn, place, stamp| {
        let list = [block("QQ=="), block("Qg=="), block("QQ==")];
        operations::commit_block_list(txn, place, &list, &PutOptions::default(), stamp)
    });
    world.blob("log", |txn, place, stamp| {
        operations::put(txn, place, NewBlob::Append, &PutOptions::default(), stamp)
    });
    let bytes = Bytes::from_static(b"appended");
    world.blob("log", |txn, place, stamp| {
        operations::append(txn, place, Upload::Inline(&bytes), &AppendConditions::default(), stamp)
    });
    let page = NewBlob::Page(NewPageBlob { length: 2048, sequence: 7 });
    world.blob("disk", |txn, place, stamp| operations::put(txn, place, page, &PutOptions::default(), stamp));
    let bytes = Bytes::from_static(&[3; 1024]);
    for offset in [0, 512] {
        world.blob("disk", |txn, place, stamp| {
            operations::put_pages(
                txn,
                place,
                offset,
                Upload::Inline(&bytes),
                &PageConditions::default(),
                stamp,
            )
        });
    }
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
    std::fs::read_to_string(file).unwrap()
}

/// The store of the fixture, read by today's code.
fn kept() -> World {
    let engine = MemoryEngine::new(&SPACES);
    let space = |name: &str| SPACES.iter().find(|spec| spec.name == name).unwrap().space;
    let fixture = fixture();
    let puts = fixture.lines().map(|line| {
        let mut parts = line.split(' ');
        let (name, key, value) = (parts.next().unwrap(), parts.next().unwrap(), parts.next().unwrap());
        Put { space: space(name), key: unhex(key).into(), value: Some(unhex(value).into()) }
    });
    engine.write(puts.collect(), Sync::Data).unwrap();
    World::over(engine)
}

#[test]
fn today_writes_what_version_1_wrote() {
    let (today, kept) = (lines(&*made_today().snapshot()), fixture());
    let differs = today.lines().zip(kept.lines()).find(|(today, kept)| today != kept);
    assert_eq!(differs, None);
    assert_eq!(today.lines().count(), kept.lines().count());
}

#[test]
fn today_reads_what_version_1_wrote() {
    let (kept, today) = (kept(), made_today());
    let (kept, today) = (kept.snapshot(), today.snapshot());
    let include = ListInclude {
        snapshots: true,
        deleted: true,
        uncommitted: true,
        versions: true,
        ..ListInclude::default()
    };
    let request = ListBlobs { include, ..ListBlobs::default() };
    let list = |state: &dyn Read| orrery_blobs::list(state, 1, &request).unwrap();
    assert_eq!(list(&*kept), list(&*today));
    assert_eq!(list(&*kept).entries.len(), 8);
    let all = |state: &dyn Read| -> Result<_, Error> {
        Ok((containers::all(state)?, containers::sweeps(state)?, orrery_blobs::chunk_references(state)?))
    };
    assert_eq!(all(&*kept), all(&*today));
    assert_eq!(load_settings(&*kept, &account()), Ok(settings()));
    assert_eq!(lifecycle::load_policy(&*kept, &account()), Ok(Some(policy())));
    assert_eq!(lifecycle::runs(&*kept, &account()).unwrap()[0].looked_at, 3);
}
