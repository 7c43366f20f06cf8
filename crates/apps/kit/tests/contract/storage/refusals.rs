//! What only an account over the wire can do: refuse strangers, and be away.

use super::world::{Way, is_refused, key, remote, sas};
use crate::server::Server;
use orrery_kit::ports::StoreError;
use orrery_kit::ports::queues::{NewMessage, Queues};
use orrery_kit::ports::tables::{Entity, Tables, Value, Write};
use orrery_protocol::storage::DEVELOPMENT_KEY;
use std::time::Duration;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn strangers_are_refused() {
    let server = Server::start(&[]);
    let until = "2099-01-01T00:00:00Z";
    for stranger in [key("bm90IGEga2V5"), sas("raud", "2020-01-01T00:00:00Z"), sas("l", until)] {
        let (tables, queues) = remote(&server, Way::TlsKey, stranger);
        is_refused(tables.ensure(&["table"]).await, &[403]);
        is_refused(queues.ensure(&["queue"]).await, &[403]);
    }
    // The right key and a certificate of somebody else.
    let other = Server::start(&[]);
    let options = orrery_kit::ports::StorageOptions {
        url: format!("https://localhost:{}/devstoreaccount1", server.table),
        credential: key(DEVELOPMENT_KEY),
        trust: super::world::trust(&other),
    };
    let env = orrery_core::Env::system().unwrap();
    let tables = orrery_kit::ports::tables::Remote::new(options, env).unwrap();
    is_unavailable(tables.with_patience(Duration::from_millis(100)).ensure(&["table"]).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_account_that_is_killed_is_unavailable_until_it_is_back() {
    let mut server = Server::start(&[]);
    let (tables, queues) = remote(&server, Way::TlsKey, key(DEVELOPMENT_KEY));
    let patient = (Tables::Remote(tables.clone()), Queues::Remote(queues.clone()));
    patient.0.ensure(&["table"]).await.unwrap();
    patient.1.ensure(&["queue"]).await.unwrap();
    let entity = Entity::new("p", "r").property("n", Value::Int64(1));
    let etag = patient.0.write("table", &Write::Insert(entity)).await.unwrap();
    let new = NewMessage { text: "a".to_owned(), ..NewMessage::default() };
    patient.1.put("queue", &new).await.unwrap();
    server.kill();
    let short = Duration::from_millis(100);
    is_unavailable(tables.with_patience(short).read("table", "p", "r").await);
    is_unavailable(queues.with_patience(short).put("queue", &new).await);
    // Who waits long enough does not notice: it was never sent, so even this is tried again.
    let waiting = tokio::spawn(async move {
        let new = NewMessage { text: "b".to_owned(), ..NewMessage::default() };
        patient.1.put("queue", &new).await.map(drop)
    });
    server.restart(&[]);
    waiting.await.unwrap().unwrap();
    let found = tables.read("table", "p", "r").await.unwrap().unwrap();
    assert_eq!(found.etag, etag);
    assert_eq!(queues.count("queue").await, Ok(2));
}

fn is_unavailable<T: std::fmt::Debug>(outcome: Result<T, StoreError>) {
    assert!(matches!(outcome, Err(StoreError::Unavailable(_))), "{outcome:?}");
}
