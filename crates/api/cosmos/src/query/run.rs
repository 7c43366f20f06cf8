//! Running queries beside the connections: so many at once and no more, and none for a client that has gone.

use super::host::QueryHost;
use crate::failure::Failure;
use crate::service::Cosmos;

pub async fn run<T: Send + 'static>(
    cosmos: &Cosmos,
    host: QueryHost,
    work: impl FnOnce(&QueryHost) -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    // Dropped with this future, which is dropped with its connection.
    let _waiting = host.waiting();
    let stopping = || Failure::internal("The work broke off; look into the server's log.");
    let permit = cosmos.queries().acquire_owned().await.map_err(|_| stopping())?;
    let work = move || {
        let _permit = permit;
        work(&host)
    };
    tokio::task::spawn_blocking(work).await.map_err(|_| stopping())?
}
