//! Chunks in a folder beside fjall: threads that upload, read, delete and reclaim at the same time, and a start after that.

use crate::world::{SPACES, Store, content};
use orrery_chunks::files::FolderFiles;
use orrery_chunks::{Chunk, Chunks, Options, add, check, locate, release};
use orrery_kv::{Db, Sync};
use orrery_kv_fjall::{FjallEngine, Folder, Options as EngineOptions};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

fn open(path: &Path) -> (Store, Chunks) {
    let folder = Folder::open(path).expect("taken");
    let engine = FjallEngine::open(folder, &SPACES, &EngineOptions::default()).expect("opened");
    let db = Db::open(Box::new(engine), Sync::Data).expect("opened");
    let options = Options { file_bytes_max: 1 << 20, disk_free_bytes_min: 0, ..Options::default() };
    let chunks = Chunks::open(Box::new(FolderFiles::new(path)), &*db.snapshot(), options).expect("opened");
    (Store::new(db), chunks)
}

fn put(store: &Store, chunks: &Chunks, content: &[u8]) -> Vec<Chunk> {
    let mut writer = chunks.writer_of(content.len() as u64);
    content.chunks(50_000).for_each(|piece| writer.write(piece).expect("written"));
    let synced = writer.finish().expect("written").sync().expect("synced");
    assert!(store.txn(|txn| add(txn, &synced)));
    synced.chunks().collect()
}

fn read(store: &Store, chunks: &Chunks, of: &[Chunk]) -> Vec<u8> {
    let pin = chunks.pin();
    let snapshot = store.db.snapshot();
    let read = |chunk: &Chunk| {
        let location = locate(&*snapshot, chunk.id).expect("readable").expect("there");
        pin.read(&location, 0..chunk.length).expect("whole")
    };
    of.iter().flat_map(read).collect()
}

#[test]
fn uploads_reads_deletes_and_reclaiming_at_the_same_time() {
    let folder = tempfile::tempdir().expect("a folder");
    let (store, chunks) = open(folder.path());
    let is_over = AtomicBool::new(false);
    let kept: Vec<(u64, Vec<Chunk>)> = std::thread::scope(|scope| {
        let reclaiming = scope.spawn(|| {
            while !is_over.load(Ordering::Acquire) {
                chunks.reclaim(&store).expect("reclaimed");
            }
        });
        let uploading: Vec<_> = (0..4u64)
            .map(|thread| {
                let (store, chunks) = (&store, &chunks);
                scope.spawn(move || {
                    let mut kept = Vec::new();
                    for round in 0..24 {
                        let seed = thread * 1000 + round;
                        let written = content(seed, 10_000 + seed as usize * 37);
                        let stored = put(store, chunks, &written);
                        assert!(read(store, chunks, &stored) == written);
                        if round % 4 == 0 {
                            kept.push((seed, stored));
                        } else {
                            assert!(store.txn(|txn| stored.iter().for_each(|chunk| release(txn, chunk.id))));
                        }
                    }
                    kept
                })
            })
            .collect();
        let kept = uploading.into_iter().flat_map(|thread| thread.join().expect("well")).collect();
        is_over.store(true, Ordering::Release);
        reclaiming.join().expect("well");
        kept
    });
    drop((store, chunks));
    let (store, chunks) = open(folder.path());
    while chunks.reclaim(&store).expect("reclaimed").has_more {}
    for (seed, stored) in &kept {
        assert!(read(&store, &chunks, stored) == content(*seed, 10_000 + *seed as usize * 37));
    }
    let mut references = kept.iter().flat_map(|(_, stored)| stored).map(|chunk| Ok(chunk.id));
    let checked = check(&FolderFiles::new(folder.path()), &*store.db.snapshot(), Some(&mut references));
    let checked = checked.expect("checked");
    assert_eq!((checked.faults.len(), checked.files_reclaimable), (0, 0), "{checked:?}");
}
