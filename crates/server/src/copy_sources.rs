//! Sources of copies that are elsewhere: read with the HTTP client of this repository, for the blob port.

use orrery_api_blob::Fetch;
use orrery_client::http::{Client, Tls};
use std::sync::Arc;
use std::time::Duration;

/// One window of a source, or a small source as a whole, arrives within it.
const FETCH_SECONDS_MAX: u64 = 60;
/// A source that does not know ranges is read as a whole, up to this size.
const FETCH_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Machines without any trusted certificate read no https sources; everything else works.
pub fn fetch() -> Fetch {
    let client = Client::new(Tls::default());
    Arc::new(move |request| {
        let client = client.clone();
        Box::pin(async move {
            let time_max = Duration::from_secs(FETCH_SECONDS_MAX);
            let sent = client?.send(request, time_max, FETCH_BYTES_MAX).await;
            sent.map_err(|error| format!("The source cannot be read: {error}."))
        })
    })
}
