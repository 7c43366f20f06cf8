//! A commit that panics: the process stops, because others may already have built on what was not written.

use crate::place::{add, here, open};
use orrery_kv::contract::SPACES;
use orrery_kv::{Engine, Error, MemoryEngine, Put, Read, SpaceSet, Sync, Tip};
use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use std::sync::Arc;

/// Set for the process that is to stop: this test, started once more.
const INSIDE: &str = "ORRERY_TEST_A_COMMIT_PANICS";
const ABORTED: i32 = 6;

#[test]
fn a_commit_that_panics_stops_the_process_with_a_sentence() {
    if std::env::var_os(INSIDE).is_some() {
        let store = open(Panicking(MemoryEngine::new(&SPACES)), Sync::Data);
        let answer = store.write_blocking(here(), |txn| add(txn, b"n", 1));
        panic!("the process went on and answered {answer:?}");
    }
    let this_test = "panicking::a_commit_that_panics_stops_the_process_with_a_sentence";
    let mut inside = Command::new(std::env::current_exe().unwrap());
    let output = inside.args(["--exact", this_test, "--nocapture"]).env(INSIDE, "1").output().unwrap();
    let printed = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.signal(), Some(ABORTED), "{printed}");
    assert!(printed.contains("a commit broke off in the middle; stopping."), "{printed}");
}

/// An engine whose writes break an invariant.
struct Panicking(MemoryEngine);

impl Engine for Panicking {
    fn spaces(&self) -> &'static SpaceSet {
        self.0.spaces()
    }

    fn view(&self) -> Arc<dyn Read + Send + std::marker::Sync> {
        self.0.view()
    }

    fn write(&self, _puts: Vec<Put>, _sync: Sync) -> Result<(), Error> {
        panic!("an invariant of the engine is broken");
    }

    fn note_promise(&self, tip: Tip) {
        self.0.note_promise(tip);
    }

    fn promised(&self) -> Option<Tip> {
        self.0.promised()
    }
}
