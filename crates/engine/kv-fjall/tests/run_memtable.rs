//! The newest rows of the index, which are in memory and become files: always read as if they were all in one place, by those
//! who look now and by those who looked before.

use bytes::Bytes;
use orrery_kv::contract::{INDEX, SPACES};
use orrery_kv::{Engine, Error, KeyRange, Order, Put, Read, Sync};
use orrery_kv_fjall::{FORMAT_VERSION, FjallEngine, Folder, Options};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

type Model = BTreeMap<Vec<u8>, Vec<u8>>;
type View = Arc<dyn Read + Send + std::marker::Sync>;

/// So little is kept in memory that it becomes a file after a few writes.
fn open(path: &Path) -> Result<FjallEngine, Error> {
    let options = Options { run_memtable_bytes: 3000, ..Options::default() };
    FjallEngine::open(Folder::open(path).expect("taken"), &SPACES, &options)
}

struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }

    fn key(&mut self) -> Vec<u8> {
        (0..1 + self.below(3)).map(|_| [0, 1, 0x7f, 0xfe, 0xff][self.below(5) as usize]).collect()
    }

    fn range(&mut self) -> KeyRange {
        let end = (self.below(4) > 0).then(|| self.key());
        KeyRange { start: if self.below(4) > 0 { self.key() } else { Vec::new() }, end }
    }

    fn puts(&mut self, model: &mut Model) -> Vec<Put> {
        let mut puts = Vec::new();
        for _ in 0..self.below(8) {
            let (key, value) = (self.key(), (self.below(3) > 0).then(|| vec![self.below(256) as u8; 30]));
            match &value {
                Some(value) => model.insert(key.clone(), value.clone()),
                None => model.remove(&key),
            };
            puts.push(Put { space: INDEX, key: key.into(), value: value.map(Bytes::from) });
        }
        puts
    }
}

fn check(view: &View, model: &Model, random: &mut Random) {
    let range = random.range();
    let mut wanted: Vec<_> = model.iter().filter(|(key, _)| range.contains(key)).collect();
    for order in [Order::Ascending, Order::Descending] {
        let found: Vec<_> = view.range(INDEX, &range, order).map(|row| row.expect("read")).collect();
        let found: Vec<_> = found.iter().map(|(key, value)| (key.to_vec(), value.to_vec())).collect();
        assert_eq!(
            found.iter().map(|(key, value)| (key, value)).collect::<Vec<_>>(),
            wanted,
            "{range:?} {order:?}"
        );
        wanted.reverse();
    }
    let key = random.key();
    let found = view.get(INDEX, &key).expect("read");
    assert_eq!(found.as_deref(), model.get(&key).map(Vec::as_slice), "{key:?}");
}

fn measure(engine: &FjallEngine, name: &str) -> u64 {
    engine.measures().iter().find(|measure| measure.name == name).expect("measured").value
}

#[test]
fn runs_answer_like_a_map_now_and_later_and_again() {
    let place = tempfile::tempdir().expect("a folder");
    let mut random = Random(7);
    let (mut model, mut flushes) = (Model::new(), 0);
    for _ in 0..12 {
        let engine = open(place.path()).expect("opened");
        let mut seen: Vec<(View, Model)> = Vec::new();
        for _ in 0..400 {
            let puts = random.puts(&mut model);
            engine.write(puts, Sync::None).expect("written");
            if random.below(40) == 0 {
                engine.idle().expect("flushed");
            }
            let view = engine.view();
            check(&view, &model, &mut random);
            if random.below(20) == 0 {
                seen.push((view, model.clone()));
            }
        }
        seen.iter().for_each(|(view, model)| (0..20).for_each(|_| check(view, model, &mut random)));
        flushes += measure(&engine, "index_spilled");
    }
    assert!(flushes > 12, "{flushes} times to a file");
    let engine = open(place.path()).expect("opened");
    let all: Vec<_> =
        engine.view().range(INDEX, &KeyRange::all(), Order::Ascending).map(Result::unwrap).collect();
    let all: Model = all.into_iter().map(|(key, value)| (key.to_vec(), value.to_vec())).collect();
    assert_eq!(all, model);
}

fn row(number: u64) -> Put {
    let value = Some(Bytes::from(vec![7; 100]));
    Put { space: INDEX, key: Bytes::copy_from_slice(&number.to_be_bytes()), value }
}

/// The same places are used for all runs, whether they bring new rows or the same ones again and again.
#[test]
fn the_runs_themselves_do_not_pile_up() {
    for different in [3000, 1] {
        let place = tempfile::tempdir().expect("a folder");
        let engine = open(place.path()).expect("opened");
        for number in 0..3000 {
            engine.write(vec![row(number % different)], Sync::None).expect("written");
        }
        drop(engine);
        let database = fjall::Database::builder(place.path().join("engine")).open().expect("opened");
        let runs = database.keyspace("runs", fjall::KeyspaceCreateOptions::default).expect("opened");
        let rows = runs.len().expect("read");
        assert!(rows < 200, "{rows} rows of runs");
    }
}

#[test]
fn a_missing_run_is_reported() {
    let place = tempfile::tempdir().expect("a folder");
    let engine = open(place.path()).expect("opened");
    (0..5).for_each(|number| engine.write(vec![row(number)], Sync::Data).expect("written"));
    drop(engine);
    {
        let database = fjall::Database::builder(place.path().join("engine")).open().expect("opened");
        let runs = database.keyspace("runs", fjall::KeyspaceCreateOptions::default).expect("opened");
        runs.remove([0, 0, 0, 0, 2]).expect("removed");
    }
    let error = open(place.path()).err().expect("refused").to_string();
    assert!(error.contains("run 3"), "{error}");
    let options = Options { accept_loss: true, ..Options::default() };
    let check = |engine: &FjallEngine, wanted: &[u64]| {
        let rows = engine.view();
        let rows = rows.range(INDEX, &KeyRange::all(), Order::Ascending).map(|row| row.expect("read").0);
        assert_eq!(
            rows.collect::<Vec<_>>(),
            wanted.iter().map(|number| row(*number).key).collect::<Vec<_>>()
        );
    };
    let engine =
        FjallEngine::open(Folder::open(place.path()).expect("taken"), &SPACES, &options).expect("opened");
    check(&engine, &[0, 1, 3, 4]);
    drop(engine);
    let engine = open(place.path()).expect("it is whole again");
    engine.write(vec![row(5)], Sync::Data).expect("written");
    check(&engine, &[0, 1, 3, 4, 5]);
    drop(engine);
    check(&open(place.path()).expect("opened"), &[0, 1, 3, 4, 5]);
}

#[test]
fn a_folder_gets_its_format_with_its_first_run() {
    let place = tempfile::tempdir().expect("a folder");
    drop(open(place.path()).expect("opened"));
    let format = || fs::read_to_string(place.path().join("FORMAT")).expect("read");
    fs::write(place.path().join("FORMAT"), "orrery data folder, format 3\n").expect("written");
    let engine = open(place.path()).expect("opened");
    assert_eq!(format(), "orrery data folder, format 3\n", "who only looks changes nothing");
    engine.write(vec![row(1)], Sync::Data).expect("written");
    assert_eq!(format(), format!("orrery data folder, format {FORMAT_VERSION}\n"));
}
