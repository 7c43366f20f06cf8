//! Transactions over a gate, and rows simple enough to count with.

use crate::gate::Gate;
use orrery_core::{Env, Lsn, Timestamp};
use orrery_kv::contract::DOCUMENTS;
use orrery_kv::{Engine, Error, Read, Sync, Txn};
use orrery_txn::{Committed, Options, Scope, TxnManager, WriteError};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

pub const START: Timestamp = Timestamp::from_seconds(1_000_000);

pub struct Place {
    pub gate: Gate,
    pub txns: TxnManager,
}

impl Place {
    pub fn new() -> Self {
        let gate = Gate::new();
        Self { txns: open(gate.clone(), Sync::Data), gate }
    }

    /// A place whose committer stands before the gate with a write of nobody's concern: all that comes now
    /// waits in the queue and is the next group.
    pub fn held() -> (Self, Write<'static, u64, Error>) {
        let place = Self::new();
        place.gate.shut();
        let first = place.begin(elsewhere(), |txn| add(txn, b"elsewhere", 1));
        place.gate.wait_for_arrivals(1);
        (place, first)
    }

    /// Starts a write; it has run and waits for the disk, or has its answer.
    pub fn begin<'a, T: 'a, E: 'a>(
        &self,
        scope: Scope<'a>,
        body: impl Fn(&mut Txn<'_>) -> Result<T, E> + 'a,
    ) -> Write<'a, T, E> {
        let txns = self.txns.clone();
        let mut write =
            Write { future: Box::pin(async move { txns.write(scope, body).await }), answer: None };
        write.poll();
        write
    }

    /// The number that a reader finds under a key, and the commit that put it there.
    pub fn number(&self, key: &[u8]) -> Option<(u64, Lsn)> {
        self.txns.snapshot().get(DOCUMENTS, key).unwrap().map(|value| read_number(&value))
    }
}

pub fn open(engine: impl Engine + 'static, sync: Sync) -> TxnManager {
    open_at(engine, sync, Env::seeded(START, 1))
}

pub fn open_at(engine: impl Engine + 'static, sync: Sync, env: Env) -> TxnManager {
    let on_stuck = || panic!("a commit does not end");
    TxnManager::open(
        Box::new(engine),
        env,
        &Options { sync, accept_loss: false, cache_bytes: 1 << 20, on_stuck },
    )
    .unwrap()
}

type Answer<T, E> = Result<Committed<T>, WriteError<E>>;

/// A write that was begun.
pub struct Write<'a, T, E> {
    future: Pin<Box<dyn Future<Output = Answer<T, E>> + 'a>>,
    answer: Option<Answer<T, E>>,
}

impl<T, E> Write<'_, T, E> {
    fn poll(&mut self) {
        if self.answer.is_none() {
            let mut context = Context::from_waker(Waker::noop());
            if let Poll::Ready(answer) = self.future.as_mut().poll(&mut context) {
                self.answer = Some(answer);
            }
        }
    }

    /// Whether nobody has been told anything yet.
    pub fn waits(&mut self) -> bool {
        self.poll();
        self.answer.is_none()
    }

    pub fn wait(self) -> Answer<T, E> {
        let Self { future, answer } = self;
        answer.unwrap_or_else(|| {
            tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
        })
    }
}

pub fn here() -> Scope<'static> {
    Scope::new(b"here")
}

pub fn catalog() -> Scope<'static> {
    Scope::new(b"catalog")
}

pub fn elsewhere() -> Scope<'static> {
    Scope::new(b"elsewhere")
}

/// Adds to the number under a key and says what it is now. The row is the number and its LSN.
pub fn add(txn: &mut Txn<'_>, key: &'static [u8], count: u64) -> Result<u64, Error> {
    let before = txn.get(DOCUMENTS, key)?.map_or(0, |value| read_number(&value).0);
    let now = before + count;
    txn.put_stamped(DOCUMENTS, key, [now.to_be_bytes(), [0; 8]].concat(), 8);
    Ok(now)
}

pub fn read_number(value: &[u8]) -> (u64, Lsn) {
    let word = |at: usize| u64::from_be_bytes(value[at..at + 8].try_into().unwrap());
    (word(0), Lsn(word(8)))
}
