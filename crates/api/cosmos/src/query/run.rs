//! Running queries beside the connections: so many at once and no more, and none for a client that has gone.

use super::host::QueryHost;
use crate::failure::Failure;
use crate::handlers::on_a_thread;
use crate::service::Cosmos;

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
