//! An engine that counts its writes, and holds them while its gate is shut.

use orrery_kv::contract::SPACES;
use orrery_kv::{Engine, Error, MemoryEngine, Purpose, Put, Read, SpaceSet, Sync, Tip};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::ThreadId;

#[derive(Clone)]
pub struct Gate(Arc<Inner>);

struct Inner {
    engine: MemoryEngine,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    shut: bool,
    arrived: usize,
    written: usize,
    last_writer: Option<ThreadId>,
}

impl Gate {
    pub fn new() -> Self {
        let engine = MemoryEngine::new(&SPACES);
        Self(Arc::new(Inner { engine, state: Mutex::default(), changed: Condvar::new() }))
    }

    pub fn engine(&self) -> &MemoryEngine {
        &self.0.engine
    }

    /// From now on a write waits before it reaches the disk.
    pub fn shut(&self) {
        self.state().shut = true;
    }

    pub fn open(&self) {
        self.state().shut = false;
        self.0.changed.notify_all();
    }

    /// Waits until so many writes in all have come to the gate.
    pub fn wait_for_arrivals(&self, count: usize) {
        let arrived = |state: &mut State| state.arrived < count;
        drop(self.0.changed.wait_while(self.state(), arrived).unwrap());
    }

    /// How many writes went through.
    pub fn written(&self) -> usize {
        self.state().written
    }

    /// The thread of the last write that went through.
    pub fn last_writer(&self) -> Option<ThreadId> {
        self.state().last_writer
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap()
    }
}

impl Engine for Gate {
    fn spaces(&self) -> &'static SpaceSet {
        self.0.engine.spaces()
    }

    fn view(&self) -> Arc<dyn Read + Send + std::marker::Sync> {
        self.0.engine.view()
    }

    fn write(&self, puts: Vec<Put>, sync: Sync) -> Result<(), Error> {
        let mut state = self.state();
        state.arrived += 1;
        self.0.changed.notify_all();
        state = self.0.changed.wait_while(state, |state| state.shut).unwrap();
        state.written += 1;
        state.last_writer = Some(std::thread::current().id());
        drop(state);
        self.0.engine.write(puts, sync)
    }

    fn check_room(&self, bytes: u64, purpose: Purpose) -> Result<(), Error> {
        self.0.engine.check_room(bytes, purpose)
    }

    fn note_promise(&self, tip: Tip) {
        self.0.engine.note_promise(tip);
    }

    fn promised(&self) -> Option<Tip> {
        self.0.engine.promised()
    }
}
