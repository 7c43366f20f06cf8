//! How fast chunks are appended and synced, beside plain files written and synced the same way; and how fast they are read.
//!
//!     cargo run --release -p orrery-chunks --example append_rate -- FOLDER MEGABYTES

use orrery_chunks::files::FolderFiles;
use orrery_chunks::{Chunks, Options, Synced, add, locate};
use orrery_core::Lsn;
use orrery_kv::{Db, MemoryEngine, Overlay, SpaceSet, Sync, Txn};
use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::Instant;

static SPACES: SpaceSet = SpaceSet::new(&[orrery_chunks::SPECS]);

/// As a body arrives from a socket.
const PIECE_BYTES: usize = 128 * 1024;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, megabytes] = arguments.as_slice() else { return Err("FOLDER MEGABYTES".into()) };
    let (folder, bytes) = (PathBuf::from(folder), megabytes.parse::<usize>()? << 20);
    std::fs::create_dir_all(&folder)?;
    for threads in [1, 8, 64] {
        for size in [64 << 10, 1 << 20, 64 << 20] {
            let uploads = (bytes / size / threads).max(1);
            let plain = rate(threads, uploads, size, |name, content| plain(&folder, &name, content));
            let (db, chunks) = open(&folder)?;
            let appended = rate(threads, uploads, size, |_, content| drop(upload(&chunks, content)));
            let read = read_rate(&db, &chunks, size)?;
            drop(chunks);
            std::fs::remove_dir_all(folder.join("chunks"))?;
            println!(
                "{threads:3} uploads of {:6} KiB: plain {plain:5.0} MB/s, chunks {appended:5.0} MB/s; read {read:5.0} MB/s",
                size >> 10
            );
        }
    }
    Ok(())
}

fn open(folder: &Path) -> Result<(Db, Chunks), Box<dyn std::error::Error>> {
    let db = Db::open(Box::new(MemoryEngine::new(&SPACES)), Sync::Data)?;
    let chunks = Chunks::open(Box::new(FolderFiles::new(folder)), &*db.snapshot(), Options::default())?;
    Ok((db, chunks))
}

/// Megabytes a second over all threads.
fn rate(
    threads: usize,
    uploads: usize,
    size: usize,
    store: impl Fn(String, &[u8]) + std::marker::Sync,
) -> f64 {
    let (content, begin) = (vec![7; size], Instant::now());
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let (content, store) = (&content, &store);
            scope.spawn(move || (0..uploads).for_each(|upload| store(format!("{thread}-{upload}"), content)));
        }
    });
    (threads * uploads * size) as f64 / 1e6 / begin.elapsed().as_secs_f64()
}

fn plain(folder: &Path, name: &str, content: &[u8]) {
    let path = folder.join(name);
    let write = || -> io::Result<()> {
        let mut file = File::create(&path)?;
        content.chunks(PIECE_BYTES).try_for_each(|piece| file.write_all(piece))?;
        file.sync_data()
    };
    write().expect("written");
    std::fs::remove_file(path).expect("removed");
}

fn upload(chunks: &Chunks, content: &[u8]) -> Synced {
    let mut writer = chunks.writer_of(content.len() as u64);
    content.chunks(PIECE_BYTES).for_each(|piece| writer.write(piece).expect("written"));
    writer.finish().expect("written").sync().expect("synced")
}

/// One upload, read in pieces of 256 KiB from the page cache.
fn read_rate(db: &Db, chunks: &Chunks, size: usize) -> Result<f64, Box<dyn std::error::Error>> {
    const READ_BYTES: u32 = 256 * 1024;
    let synced = upload(chunks, &vec![7; size]);
    let (snapshot, pending) = (db.snapshot(), Overlay::default());
    let mut txn = Txn::new(&snapshot, &pending);
    add(&mut txn, &synced);
    db.commit(vec![txn.into_batch().stamp(Lsn(db.tip().lsn.0 + 1))])?;
    let (pin, snapshot, begin) = (chunks.pin(), db.snapshot(), Instant::now());
    let rounds = (256 << 20) / size;
    for chunk in (0..rounds).flat_map(|_| synced.chunks()) {
        let location = locate(&*snapshot, chunk.id)?.ok_or("it was added")?;
        for start in (0..chunk.length).step_by(READ_BYTES as usize) {
            pin.read(&location, start..chunk.length.min(start + READ_BYTES))?;
        }
    }
    Ok((rounds * size) as f64 / 1e6 / begin.elapsed().as_secs_f64())
}
