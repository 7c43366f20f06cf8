//! Random histories beside a naive model: owners have content, whatever is copied, deleted, reclaimed, or cut off.

use crate::world::{World, content};
use orrery_chunks::files::Fault;
use orrery_chunks::{Chunk, Location, Pin, Synced, add, locate, release, retain};
use orrery_kv::{Fault as EngineFault, Txn};
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Op {
    Upload {
        length: usize,
    },
    Commit(usize),
    Abandon(usize),
    /// Commits with the client gone before the transaction is decided.
    Copy(usize),
    Delete(usize),
    Pin(usize),
    Unpin(usize),
    Reclaim {
        steps: usize,
    },
    Fail(Fault, u64),
    FailCommit,
    Crash(u64),
}

fn op() -> impl Strategy<Value = Op> {
    let at = 0..20usize;
    let fault = prop_oneof![
        Just(Fault::Write),
        Just(Fault::ShortWrite),
        Just(Fault::Sync),
        Just(Fault::SyncFolder),
        Just(Fault::Create),
        Just(Fault::Remove),
    ];
    prop_oneof![
        6 => prop_oneof![1..2000usize, 60_000..140_000usize].prop_map(|length| Op::Upload { length }),
        6 => at.clone().prop_map(Op::Commit),
        1 => at.clone().prop_map(Op::Abandon),
        3 => at.clone().prop_map(Op::Copy),
        4 => at.clone().prop_map(Op::Delete),
        1 => at.clone().prop_map(Op::Pin),
        1 => at.prop_map(Op::Unpin),
        4 => (1..6usize).prop_map(|steps| Op::Reclaim { steps }),
        1 => (fault, 0..3u64).prop_map(|(fault, nth)| Op::Fail(fault, nth)),
        1 => Just(Op::FailCommit),
        1 => any::<u64>().prop_map(Op::Crash),
    ]
}

/// Somebody who has references.
struct Owner {
    chunks: Vec<Chunk>,
    content: Vec<u8>,
}

struct Reader {
    pin: Pin,
    location: Location,
    content: Vec<u8>,
}

struct History {
    world: World,
    uploads: Vec<(Synced, Vec<u8>)>,
    owners: Vec<Owner>,
    readers: Vec<Reader>,
    seed: u64,
}

impl History {
    fn run(&mut self, op: &Op) {
        match *op {
            Op::Upload { length } => {
                self.seed += 1;
                let content = content(self.seed, length);
                if let Ok(synced) = self.world.upload(&content) {
                    self.uploads.push((synced, content));
                }
            }
            Op::Commit(at) => {
                let Some((synced, content)) = take(&mut self.uploads, at) else { return };
                if self.commits(|txn| add(txn, &synced)) {
                    self.owners.push(Owner { chunks: synced.chunks().collect(), content });
                }
            }
            Op::Abandon(at) => drop(take(&mut self.uploads, at)),
            Op::Copy(at) => {
                let Some(owner) = pick(&self.owners, at) else { return };
                let (chunks, content) = (owner.chunks.clone(), owner.content.clone());
                if self.commits(|txn| chunks.iter().for_each(|chunk| retain(txn, chunk.id))) {
                    self.owners.push(Owner { chunks, content });
                }
            }
            Op::Delete(at) => {
                let Some(owner) = take(&mut self.owners, at) else { return };
                if !self.commits(|txn| owner.chunks.iter().for_each(|chunk| release(txn, chunk.id))) {
                    self.owners.push(owner);
                }
            }
            Op::Pin(at) => {
                let Some(owner) = pick(&self.owners, at) else { return };
                let (pin, chunk) = (self.world.chunks.pin(), owner.chunks[0]);
                let location =
                    locate(&*self.world.store.db.snapshot(), chunk.id).expect("readable").expect("there");
                self.readers.push(Reader { pin, location, content: owner.content.clone() });
            }
            Op::Unpin(at) => drop(take(&mut self.readers, at)),
            Op::Reclaim { steps } => {
                (0..steps).for_each(|_| drop(self.world.chunks.reclaim(&self.world.store)))
            }
            Op::Fail(fault, nth) => self.world.files.fail_at(nth, fault),
            Op::FailCommit => self.world.engine.fail_at(0, EngineFault::BeforeWrite),
            Op::Crash(seed) => self.crash(seed),
        }
    }

    /// Whether the transaction was committed. What is retained here is owned, so nothing is refused.
    fn commits(&self, body: impl Fn(&mut Txn<'_>)) -> bool {
        self.world
            .store
            .try_txn(body)
            .inspect(|held| assert!(held, "nothing that it requires is gone"))
            .is_ok()
    }

    fn crash(&mut self, seed: u64) {
        let mut bits = content(seed, 1 << 16).into_iter().cycle();
        self.world = self.world.crash(|| bits.next().is_some_and(|byte| byte % 2 == 0));
        self.uploads.clear();
        self.readers.clear();
    }

    fn holds(&self) {
        for owner in &self.owners {
            assert!(self.world.read(&owner.chunks).expect("readable") == owner.content);
        }
        for Reader { pin, location, content } in &self.readers {
            assert!(pin.read(location, 0..location.length).expect("readable")[..] == *content);
        }
        let references = self.owners.iter().flat_map(|owner| &owner.chunks).map(|chunk| chunk.id);
        assert_eq!(self.world.check(references).faults, [""; 0]);
    }

    /// With everybody gone, everything is given back but the garbage of files that are mostly live.
    fn ends_tidy(mut self) {
        self.uploads.clear();
        self.readers.clear();
        // Faults that were not met, and numbers of small files that wait for more of them.
        self.crash(1);
        self.world.reclaim();
        self.holds();
        let checked =
            self.world.check(self.owners.iter().flat_map(|owner| &owner.chunks).map(|chunk| chunk.id));
        let live: u64 = self.owners.iter().map(|owner| owner.content.len() as u64 + 32).sum();
        assert_eq!(checked.files_reclaimable, 0, "{checked:?}");
        assert!(checked.bytes_reclaimable <= live, "{checked:?}");
    }
}

fn take<T>(list: &mut Vec<T>, at: usize) -> Option<T> {
    (!list.is_empty()).then(|| list.swap_remove(at % list.len()))
}

fn pick<T>(list: &[T], at: usize) -> Option<&T> {
    (!list.is_empty()).then(|| &list[at % list.len()])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn owners_keep_their_content_and_nobody_else_does(ops in prop::collection::vec(op(), 1..80)) {
        let mut history =
            History { world: World::new(), uploads: Vec::new(), owners: Vec::new(), readers: Vec::new(), seed: 0 };
        for (number, op) in ops.iter().enumerate() {
            history.run(op);
            if number % 8 == 0 || matches!(op, Op::Crash(_)) {
                history.holds();
            }
        }
        history.holds();
        history.ends_tidy();
    }
}
