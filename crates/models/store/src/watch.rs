//! Who runs a long transaction in a scope of a stripe: told of every other write there, or alone in it.

use crate::Scope;
use crate::scope::OwnedScope;
use tokio::sync::oneshot;

/// The long transactions of a stripe. There are none in nearly every one.
#[derive(Default)]
pub(crate) struct Watches(Vec<Watch>);

struct Watch {
    id: u64,
    scope: OwnedScope,
    is_written: bool,
    /// Those who wait for it to end; `None` if nobody has to.
    waiting: Option<Vec<oneshot::Sender<()>>>,
}

/// Somebody has the scope for itself.
pub(crate) struct Reserved(oneshot::Receiver<()>);

impl Reserved {
    pub async fn over(self) {
        let _ = self.0.await;
    }

    /// [`over`](Self::over) for a thread that may block.
    pub fn wait(self) {
        let _ = self.0.blocking_recv();
    }
}

impl Watches {
    /// Begins a watch; `alone` keeps all others from writing until it ends.
    pub fn begin(&mut self, id: u64, scope: Scope<'_>, alone: bool) {
        let waiting = alone.then(Vec::new);
        self.0.push(Watch { id, scope: scope.to_owned(), is_written: false, waiting });
    }

    /// Ends a watch. Whoever waited for it goes on, because what would have told them is dropped.
    pub fn end(&mut self, id: u64) {
        self.0.retain(|watch| watch.id != id);
    }

    /// Whether somebody wrote to the scope since the watch began.
    pub fn is_written(&self, id: u64) -> bool {
        self.0.iter().any(|watch| watch.id == id && watch.is_written)
    }

    pub fn written(&mut self, scope: Scope<'_>) {
        for watch in self.0.iter_mut().filter(|watch| watch.scope.is(scope)) {
            watch.is_written = true;
        }
    }

    /// Somebody other than `asker` who has the scope for itself.
    pub fn reserved(&mut self, scope: Scope<'_>, asker: Option<u64>) -> Option<Reserved> {
        let is_theirs = |watch: &&mut Watch| Some(watch.id) != asker && watch.scope.is(scope);
        let waiting = self.0.iter_mut().filter(is_theirs).find_map(|watch| watch.waiting.as_mut())?;
        let (over, receiver) = oneshot::channel();
        waiting.push(over);
        Some(Reserved(receiver))
    }
}
