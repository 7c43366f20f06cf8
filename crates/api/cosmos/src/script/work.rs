//! Running what takes seconds: on a thread of its own, so many at once, and with an end for whoever waits.

use crate::failure::Failure;
use crate::service::Cosmos;
use orrery_core::limits;
use orrery_document_store::{Committed, Scope, Txn};
use orrery_documents::catalog::Container;
use orrery_keys::Epk;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Runs `body` as a long transaction in a partition of the container. Nothing is committed once the asker was told
/// that the time is over.
pub async fn write<T: Send + 'static>(
    cosmos: &Cosmos,
    container: &Arc<Container>,
    epk: &Epk,
    mut body: impl FnMut(&mut Txn<'_>) -> Result<T, Failure> + Send + 'static,
) -> Result<Committed<T>, Failure> {
    let slot = cosmos.script_slots().take().await;
    let slot = slot.map_err(|_| Failure::internal("Scripts are not taken any more."))?;
    let is_late = Arc::new(AtomicBool::new(false));
    let (store, container, epk, late) =
        (cosmos.store().clone(), container.clone(), epk.clone(), is_late.clone());
    let work = tokio::task::spawn_blocking(move || {
        let scope = Scope::Partition { container: container.number(), epk: epk.as_bytes() };
        let written = store.write_optimistic(scope, |txn| {
            let said = body(txn)?;
            if late.load(Ordering::Acquire) { Err(Failure::script_too_long()) } else { Ok(said) }
        });
        written.map_err(Failure::from)
    });
    // A task of its own: the slot is held until the script has ended, whether or not the client waits for it.
    let work = tokio::spawn(slot.hold(work));
    match tokio::time::timeout(Duration::from_millis(limits::SCRIPT_ANSWER_MILLIS_MAX), work).await {
        Ok(Ok(Ok(done))) => done,
        Ok(_) => Err(Failure::internal("The script broke off; look into the server's log.")),
        Err(_) => {
            is_late.store(true, Ordering::Release);
            Err(Failure::script_too_long())
        }
    }
}
