//! A throttled store: 429 is waited for, and eventually reported.

use crate::fixture::{Connection, ITEMS, layout, remote};
use crate::server::Server;
use orrery_kit::ports::documents::{Credential, Documents, StoreError, Write};
use orrery_testing_client::EMULATOR_KEY;
use serde_json::json;
use std::time::Duration;

/// About 70 KB, which costs hundreds of request units.
fn large(id: &str) -> Write {
    Write::Create(json!({"id": id, "pk": "p", "email": id, "text": "x".repeat(70_000)}))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn throttled_requests_are_retried_within_the_time_limit() {
    // A clock that stands still refills no bucket, so the result does not depend on the machine's load.
    let server = Server::start(&["--throttle", "on", "--partition-rus", "400", "--clock", "manual"]);
    let key = Credential::Key(EMULATOR_KEY.to_owned());
    let remote = remote(&server, Connection::HttpKey, "d", key);
    let patient = Documents::Remote(remote.clone());
    patient.ensure(&layout()).await.unwrap();
    let impatient = Documents::Remote(remote.with_time_limit(Duration::from_secs(5)));
    let mut refused = None;
    for n in 0..100 {
        if let Err(error) = impatient.write(ITEMS, "p", large(&format!("i{n}"))).await {
            refused = Some(error);
            break;
        }
    }
    let Some(StoreError::Busy { after: Some(after) }) = refused else { panic!("{refused:?}") };
    assert!(after > Duration::ZERO);
    let (written, ()) = tokio::join!(patient.write(ITEMS, "p", large("later")), server.advance_clock(60));
    assert!(written.is_ok(), "it is tried again once there is something to spend: {written:?}");
    server.advance_clock(60).await;
    assert!(patient.batch(ITEMS, "p", vec![large("later still")]).await.is_ok());
}
