//! Running queries beside the connections: so many at once and no more, and none for a client that has gone. Those that
//! were short the last time are run at once, where they are.

use super::host::QueryHost;
use super::pace::Track;
use crate::failure::Failure;
use crate::handlers::on_a_thread;
use crate::service::Cosmos;
use orrery_core::limits;
use std::sync::Arc;
use std::time::Duration;

const SHORT: Duration = Duration::from_micros(limits::QUERY_SHORT_MICROS_MAX);

/// Work of a kind that says nothing of how long it will take.
pub async fn run<T: Send + 'static>(
    cosmos: &Cosmos,
    host: QueryHost,
    work: impl FnOnce(&QueryHost) -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    // Dropped with this future, which is dropped with its connection.
    let _waiting = host.waiting();
    let permit = cosmos.queries().acquire_owned().await;
    let permit = permit.map_err(|_| Failure::internal("Queries are not taken any more."))?;
    let work = move || {
        let _permit = permit;
        work(&host)
    };
    on_a_thread(work).await?
}

/// A query that has a track. What turns out not to be short after all is begun again on a thread, so that no connection
/// waits for another's query.
pub async fn run_tracked<T: Send + 'static>(
    cosmos: &Cosmos,
    track: Track,
    work: impl Fn(&QueryHost) -> Result<T, Failure> + Send + Sync + 'static,
) -> Result<T, Failure> {
    if cosmos.pace().of(track).is_some_and(|took| took <= SHORT) {
        let host = QueryHost::impatient(cosmos.store().env());
        let answer = work(&host);
        if !host.is_tired() {
            cosmos.pace().note(track, host.elapsed());
            return answer;
        }
    }
    let host = QueryHost::new(cosmos.store().env());
    let work = {
        let (cosmos, work) = (cosmos.clone(), Arc::new(work));
        move |host: &QueryHost| {
            // Waiting for a turn says nothing of the query.
            let before = host.elapsed();
            let answer = work(host);
            cosmos.pace().note(track, host.elapsed().saturating_sub(before));
            answer
        }
    };
    run(cosmos, host, work).await
}
