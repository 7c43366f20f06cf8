//! A server that is killed and restarted.

use crate::fixture::{Connection, ITEMS, item, layout, query, remote};
use crate::server::Server;
use orrery_kit::ports::documents::{Credential, Documents, Remote, StoreError, Write};
use orrery_testing_client::EMULATOR_KEY;
use std::time::Duration;

fn key() -> Credential {
    Credential::Key(EMULATOR_KEY.to_owned())
}

fn is_unavailable<T: std::fmt::Debug>(outcome: Result<T, StoreError>) {
    assert!(matches!(outcome, Err(StoreError::Unavailable(_))), "{outcome:?}");
}

fn impatient(remote: &Remote) -> Documents {
    Documents::Remote(remote.clone().with_time_limit(Duration::from_millis(100)))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_store_is_unavailable_until_it_is_back() {
    let mut server = Server::start(&[]);
    for connection in [Connection::HttpKey, Connection::TlsKey] {
        let database = format!("{connection:?}");
        let patient = remote(&server, connection, &database, key());
        let documents = impatient(&patient);
        Documents::Remote(patient.clone()).ensure(&layout()).await.unwrap();
        let create = |id: &str| Write::Create(item("p", id, 1));
        let before =
            Documents::Remote(patient.clone()).write(ITEMS, "p", create("a")).await.unwrap().unwrap();
        server.kill();
        is_unavailable(documents.read(ITEMS, "p", "a").await);
        is_unavailable(documents.write(ITEMS, "p", create("b")).await);
        is_unavailable(documents.batch(ITEMS, "p", vec![create("b")]).await);
        is_unavailable(documents.query(ITEMS, None, &query("SELECT * FROM c", 0)).await);
        is_unavailable(documents.changes(ITEMS, None, None, 10).await);
        // A caller that waits long enough does not notice: the request was never sent, so even this one
        // is repeated.
        let waiting = tokio::spawn(async move {
            let upsert = Write::Upsert { item: item("p", "c", 1), if_match: None };
            Documents::Remote(patient).write(ITEMS, "p", upsert).await
        });
        server.restart(&[]);
        assert!(waiting.await.unwrap().is_ok());
        let after = documents.read(ITEMS, "p", "a").await.unwrap().unwrap();
        assert_eq!(after.value, before.value);
        assert_eq!(documents.read(ITEMS, "p", "b").await, Ok(None));
    }
}

/// A foreign certificate is not trusted, and a wrong account key grants nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn untrusted_certificates_and_wrong_keys_are_refused() {
    let (server, other) = (Server::start(&[]), Server::start(&[]));
    let certificate = std::fs::read(other.data().join("cert.pem")).unwrap();
    let options = orrery_kit::ports::documents::RemoteOptions {
        endpoint: format!("https://localhost:{}", server.port),
        database: "d".to_owned(),
        credential: key(),
        trust: orrery_kit::http::Trust::These(orrery_kit::http::certificates(&certificate).unwrap()),
    };
    let remote_to = Remote::new(options, orrery_core::Env::system().unwrap()).unwrap();
    is_unavailable(impatient(&remote_to).ensure(&layout()).await);
    for credential in [
        Credential::Key("bm90IGEga2V5".to_owned()),
        Credential::Token(std::sync::Arc::new(|| "x".to_owned())),
    ] {
        let documents = Documents::Remote(remote(&server, Connection::HttpKey, "d", credential));
        let outcome = documents.ensure(&layout()).await;
        assert!(matches!(outcome, Err(StoreError::Refused { status: 401 | 403, .. })), "{outcome:?}");
    }
}
