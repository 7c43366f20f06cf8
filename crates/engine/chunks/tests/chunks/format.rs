//! Bytes of version 1, kept: today's code reads them, and still writes them.
//!
//! `fixtures/v1` is a small store: a file of chunks, and the rows beside it in hex. It stays as it is for ever. Where there is none
//! yet, `BLESS=1` writes one.

use crate::world::{SPACES, World, content, ids, options};
use orrery_chunks::files::{Files, MemoryFiles};
use orrery_chunks::{CHUNKS, Chunk, ChunkId, FileId};
use orrery_kv::{Engine, KeyRange, MemoryEngine, Order, Put, Read, Sync};
use std::fmt::Write as _;
use std::path::PathBuf;

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/v1").join(name)
}

/// A chunk of two frames, one that is shared, and one that was released.
fn written() -> World {
    let world = World::new();
    let chunks: Vec<Chunk> =
        [65_600, 500, 20].into_iter().flat_map(|length| world.put(&content(1, length))).collect();
    assert!(world.retain(&chunks[1..2]));
    world.release(&chunks[2..]);
    world
}

fn bytes(files: &MemoryFiles) -> Vec<u8> {
    let mut bytes = Vec::new();
    files.open(FileId(1)).expect("there").read_at(&mut bytes, 1 << 20, 0).expect("read");
    bytes
}

fn rows(world: &World) -> String {
    let hex = |bytes: &[u8]| {
        bytes.iter().fold(String::new(), |mut text, byte| {
            write!(text, "{byte:02x}").expect("memory");
            text
        })
    };
    let snapshot = world.store.db.snapshot();
    let rows = snapshot.range(CHUNKS, &KeyRange::all(), Order::Ascending);
    rows.map(|row| row.map(|(key, value)| format!("{} {}\n", hex(&key), hex(&value))).expect("readable"))
        .collect()
}

fn read_hex(text: &str) -> Vec<u8> {
    let digits = |at: usize| u8::from_str_radix(&text[at..at + 2], 16).expect("hex");
    (0..text.len()).step_by(2).map(digits).collect()
}

#[test]
fn version_1_is_still_written() {
    let world = written();
    if std::env::var_os("BLESS").is_some() && !path("rows").exists() {
        std::fs::create_dir_all(path("")).expect("made");
        std::fs::write(path("0000000001.chunks"), bytes(&world.files)).expect("written");
        std::fs::write(path("rows"), rows(&world)).expect("written");
    }
    assert_eq!(rows(&world), std::fs::read_to_string(path("rows")).expect("the fixture"));
    assert!(bytes(&world.files) == std::fs::read(path("0000000001.chunks")).expect("the fixture"));
}

#[test]
fn version_1_is_read() {
    let (files, engine) = (MemoryFiles::new(), MemoryEngine::new(&SPACES));
    let bytes = std::fs::read(path("0000000001.chunks")).expect("the fixture");
    files.create(FileId(1)).expect("made").write_all_at(&bytes, 0).expect("written");
    let text = std::fs::read_to_string(path("rows")).expect("the fixture");
    let puts = text.lines().map(|line| {
        let (key, value) = line.split_once(' ').expect("a key and a value");
        Put { space: CHUNKS, key: read_hex(key).into(), value: Some(read_hex(value).into()) }
    });
    engine.write(puts.collect(), Sync::Data).expect("written");
    let world = World::over(files, engine, options());
    let chunk = |number: u64, length| Chunk { id: ChunkId((1 << 24) + number), length };
    let chunks = [chunk(0, 65_600), chunk(1, 500)];
    assert!(world.read(&chunks[..1]).expect("readable") == content(1, 65_600));
    assert!(world.read(&chunks[1..]).expect("readable") == content(1, 500));
    assert_eq!(world.reclaim().chunks_removed, 1);
    assert_eq!(world.check([ids(&chunks), ids(&chunks[1..])].concat()).faults, [""; 0]);
}
