//! Optimistic transactions of a stripe: each learns of every other write to its scope, or holds the scope alone.

use crate::Scope;
use tokio::sync::oneshot;

/// The optimistic transactions that run in a stripe. Nearly every stripe has none.
#[derive(Default)]
pub(crate) struct ScopeWatches(Vec<ScopeWatch>);

struct ScopeWatch {
    id: u64,
    scope: Box<[u8]>,
    is_written: bool,
    /// Writers that wait for this transaction to end; `None` if it does not hold the scope alone.
    blocked: Option<Vec<oneshot::Sender<()>>>,
}

/// Another transaction holds the scope alone.
pub(crate) struct Reserved(oneshot::Receiver<()>);

impl Reserved {
    /// Waits until the scope is free.
    pub async fn released(self) {
        let _ = self.0.await;
    }
}

impl ScopeWatches {
    /// Begins a watch; an `exclusive` one keeps all other writers out until it ends.
    pub fn begin(&mut self, id: u64, scope: Scope<'_>, exclusive: bool) {
        let blocked = exclusive.then(Vec::new);
        self.0.push(ScopeWatch { id, scope: scope.bytes().into(), is_written: false, blocked });
    }

    /// Ends a watch. Dropping its senders wakes the writers that it kept out.
    pub fn end(&mut self, id: u64) {
        self.0.retain(|watch| watch.id != id);
    }

    /// Whether anyone wrote to the scope since the watch began.
    pub fn is_written(&self, id: u64) -> bool {
        self.0.iter().any(|watch| watch.id == id && watch.is_written)
    }

    pub fn note_write(&mut self, scope: Scope<'_>) {
        for watch in self.0.iter_mut().filter(|watch| *watch.scope == *scope.bytes()) {
            watch.is_written = true;
        }
    }

    /// The transaction other than `asker` that holds the scope alone, if there is one.
    pub fn reserved(&mut self, scope: Scope<'_>, asker: Option<u64>) -> Option<Reserved> {
        let is_others = |watch: &&mut ScopeWatch| Some(watch.id) != asker && *watch.scope == *scope.bytes();
        let blocked = self.0.iter_mut().filter(is_others).find_map(|watch| watch.blocked.as_mut())?;
        let (release, receiver) = oneshot::channel();
        blocked.push(release);
        Some(Reserved(receiver))
    }
}
