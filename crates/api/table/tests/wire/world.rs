//! The service on a store in memory behind a port of its own, and what every reply of it owes.

use crate::call::Call;
use orrery_api_common::secrets::StorageAccounts;
use orrery_api_common::{CorsRules, Listener, Options as ListenerOptions, Stop, WebGuard};
use orrery_api_storage::{Options, Storage};
use orrery_api_table::Table;
use orrery_core::{Env, Timestamp};
use orrery_kv::{MemoryEngine, Sync};
use orrery_table_store::TableStore;
use orrery_tables::spaces::SPACES;
use orrery_testing_client::{Connection, OwnedReply};
use serde_json::Value;
use std::net::SocketAddr;
use std::sync::Arc;
use tempfile::TempDir;

pub struct World {
    address: SocketAddr,
    pub env: Env,
    store: TableStore,
    /// Where the accounts' keys are kept.
    _folder: TempDir,
}

impl World {
    /// With the tables `runs` and `Other`; the clock stands still.
    pub async fn new() -> Self {
        Self::empty().await.with_tables().await
    }

    pub async fn with_tables(self) -> Self {
        for name in ["runs", "Other"] {
            self.answered(201, Call::post("/Tables", format!(r#"{{"TableName":"{name}"}}"#))).await;
        }
        self
    }

    pub async fn empty() -> Self {
        Self::with(|_| {}).await
    }

    /// With options that the test changes.
    pub async fn with(change: impl FnOnce(&mut Options)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let env = Env::seeded(Timestamp::from_seconds(1_800_000_000), 7);
        let store = TableStore::standalone(MemoryEngine::new(&SPACES), env.clone(), Sync::Data).unwrap();
        let accounts = Arc::new(StorageAccounts::load_or_make(folder.path(), true).unwrap());
        let mut options = Options::new(accounts, env.clone());
        change(&mut options);
        let table = Table::new(Storage::new(options), store.clone());
        let guard = WebGuard::new(true, Vec::new(), CorsRules::default()).with_rules_of_protocol();
        let options = ListenerOptions { guard: Some(guard), ..ListenerOptions::default() };
        let listener = Listener::bind_with(SocketAddr::from(([127, 0, 0, 1], 0)), None, options).unwrap();
        let address = listener.local_addr().unwrap();
        let serving = listener.serve(
            move |request, peer| {
                let table = table.clone();
                async move { table.handle(request, peer).await }
            },
            Stop::new(),
        );
        tokio::spawn(serving);
        Self { address, env, store, _folder: folder }
    }

    /// Sends the call on a connection of its own.
    pub async fn call(&self, call: &Call) -> OwnedReply {
        let mut connection = Connection::connect(self.address).await.unwrap();
        let reply = connection.exchange(&call.encode(&self.env.now().to_http())).await.unwrap().to_owned();
        check_always(&reply);
        reply
    }

    /// The reply, which must have this status.
    pub async fn answered(&self, status: u16, call: Call) -> OwnedReply {
        let reply = self.call(&call).await;
        assert_eq!(reply.status, status, "{}", text(&reply));
        reply
    }

    pub async fn json(&self, call: Call) -> Value {
        self.answered(200, call).await.json().unwrap()
    }

    /// The call is refused with this status and code, and a sentence with `fragment`.
    pub async fn refused(&self, call: Call, status: u16, code: &str, fragment: &str) {
        let reply = self.call(&call).await;
        assert_eq!((reply.status, reply.header("x-ms-error-code")), (status, Some(code)), "{}", text(&reply));
        let message = message(&reply.json().unwrap());
        assert!(message.contains(fragment), "no {fragment:?} in {message:?}");
    }

    /// The batch is answered, with one part alone: this status and code, and a sentence that begins so.
    pub async fn batch_refused(&self, call: Call, status: u16, code: &str, begins: &str) {
        let reply = self.answered(202, call).await;
        let body = text(&reply);
        assert_eq!(body.matches("HTTP/1.1 ").count(), 1, "{body}");
        assert!(body.contains(&format!("HTTP/1.1 {status} ")), "{body}");
        let line = body.lines().find(|line| line.starts_with('{')).unwrap_or_else(|| panic!("{body}"));
        let error: Value = serde_json::from_str(line).unwrap();
        assert_eq!(error["odata.error"]["code"], code, "{body}");
        let message = message(&error);
        assert!(message.starts_with(begins), "{message:?} does not begin with {begins:?}");
    }

    /// An entity with these JSON members beside its keys.
    pub async fn insert(&self, partition_key: &str, row_key: &str, more: &str) -> OwnedReply {
        let body = format!(r#"{{"PartitionKey":"{partition_key}","RowKey":"{row_key}"{more}}}"#);
        self.answered(201, Call::post("/runs", body)).await
    }

    /// The row keys that a query finds, on one page.
    pub async fn rows(&self, target: &str) -> Vec<String> {
        row_keys(&self.json(Call::get(target)).await)
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.store.close();
    }
}

pub fn row_keys(page: &Value) -> Vec<String> {
    let entities = page["value"].as_array().unwrap().iter();
    entities.map(|entity| entity["RowKey"].as_str().unwrap().to_owned()).collect()
}

pub fn text(reply: &OwnedReply) -> String {
    String::from_utf8_lossy(&reply.body).into_owned()
}

/// The sentence of an error.
fn message(error: &Value) -> String {
    error["odata.error"]["message"]["value"].as_str().unwrap().to_owned()
}

/// What holds for every reply: an id, a version, a date, and an error on one line that has its code as a header too.
fn check_always(reply: &OwnedReply) {
    let (status, header) = (reply.status, |name: &str| reply.header(name));
    assert!(header("x-ms-request-id").is_some_and(|id| id.len() == 36), "{status}");
    assert!(header("x-ms-version").is_some() && header("date").is_some(), "{status}");
    if status < 400 {
        assert_eq!(header("x-ms-error-code"), None);
        assert!(status != 204 || reply.body.is_empty());
        return;
    }
    let body = text(reply);
    assert!(!body.contains('\n'), "an error on several lines: {body}");
    let error = reply.json().unwrap();
    let members: Vec<&String> = error["odata.error"].as_object().unwrap().keys().collect();
    assert_eq!(members, ["code", "message"]);
    assert_eq!(error["odata.error"]["code"].as_str(), header("x-ms-error-code"), "{body}");
    assert_eq!(error["odata.error"]["message"]["lang"], "en-US");
    let message = message(&error);
    assert!(message.contains("\nRequestId:") && message.contains("\nTime:"), "{message}");
}
