//! Runs work that takes seconds: on a thread of its own, a bounded number at once, and with a deadline for the caller.

use crate::error::Error;
use crate::items::Refused;
use crate::limits;
use crate::scope::Scope;
use crate::store::Store;
use orrery_documents::catalog::Container;
use orrery_keys::Epk;
use orrery_kv::Txn;
use orrery_txn::{Committed, WriteError};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

impl Store {
    /// Runs `body` as an optimistic transaction in a partition of the container. Commits nothing after the caller was
    /// told that the time is over.
    pub(crate) async fn run_script<T: Send + 'static>(
        &self,
        container: &Arc<Container>,
        epk: &Epk,
        mut body: impl FnMut(&mut Txn<'_>) -> Result<T, Refused> + Send + 'static,
    ) -> Result<Committed<T>, Refused> {
        let slot = self.script_slots().take().await;
        let slot = slot.map_err(|_| Error::Internal("Scripts are not taken any more."))?;
        let is_late = Arc::new(AtomicBool::new(false));
        let (store, container, epk, late) = (self.clone(), container.clone(), epk.clone(), is_late.clone());
        let work = tokio::task::spawn_blocking(move || {
            let scope = Scope::Partition { container: container.number(), epk: epk.as_bytes() };
            let written = store.write_optimistic(scope, |txn| {
                let returned = body(txn)?;
                if late.load(Ordering::Acquire) { Err(Error::ScriptTooLong.into()) } else { Ok(returned) }
            });
            written.map_err(|error| match error {
                WriteError::Model(refused) => refused,
                WriteError::PreconditionFailed => Error::ContainerGone.into(),
                WriteError::Busy => Error::Busy.into(),
                WriteError::Stopping => Error::Stopping.into(),
                WriteError::Engine(error) => Error::Engine(error).into(),
            })
        });
        // A separate task: the slot is held until the script ends, whether or not the client waits.
        let work = tokio::spawn(slot.hold(work));
        match tokio::time::timeout(Duration::from_millis(limits::SCRIPT_ANSWER_MILLIS_MAX), work).await {
            Ok(Ok(Ok(done))) => done,
            Ok(_) => Err(Error::Internal("The script broke off; look into the server's log.").into()),
            Err(_) => {
                is_late.store(true, Ordering::Release);
                Err(Error::ScriptTooLong.into())
            }
        }
    }
}
