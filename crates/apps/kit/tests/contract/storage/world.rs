//! Stores of tables and of queues, by any of the ways to them.

use crate::server::Server;
use orrery_catalog::storage::AccountName;
use orrery_client::storage::StorageCredential;
use orrery_core::Env;
use orrery_kit::http::{Trust, certificates};
use orrery_kit::ports::queues::{self, Queues};
use orrery_kit::ports::tables::{self, Tables};
use orrery_kit::ports::{StorageOptions, StoreError};
use orrery_kv::{MemoryEngine, Sync};
use orrery_protocol::Key;
use orrery_protocol::storage::sas::Fields;
use orrery_protocol::storage::{DEVELOPMENT_ACCOUNT, DEVELOPMENT_KEY};
use orrery_queue_store::QueueStore;
use orrery_table_store::TableStore;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    Embedded,
    HttpKey,
    TlsKey,
    /// With a shared access signature of the account.
    TlsSas,
}

/// One table and one queue of an account.
#[derive(Clone)]
pub struct World {
    pub tables: Tables,
    pub queues: Queues,
    pub table: String,
    pub queue: String,
    /// Kept alive.
    _server: Option<Arc<Server>>,
    count: Arc<AtomicU32>,
}

impl World {
    pub async fn open(way: Way) -> Self {
        let (tables, queues, server) = match way {
            Way::Embedded => {
                let (tables, queues) = embedded();
                (tables, queues, None)
            }
            Way::HttpKey | Way::TlsKey | Way::TlsSas => {
                let server = Server::start(&[]);
                let credential = if way == Way::TlsSas { signature() } else { key(DEVELOPMENT_KEY) };
                let (tables, queues) = remote(&server, way, credential);
                (Tables::Remote(tables), Queues::Remote(queues), Some(Arc::new(server)))
            }
        };
        let (table, queue) = (String::new(), String::new());
        Self { tables, queues, table, queue, _server: server, count: Arc::default() }.anew().await
    }

    /// Another table and another queue of the same account.
    pub async fn anew(&self) -> Self {
        let number = self.count.fetch_add(1, Ordering::Relaxed);
        let (table, queue) = (format!("Table{number}"), format!("queue-{number}"));
        self.tables.ensure(&[&table]).await.unwrap();
        self.queues.ensure(&[&queue]).await.unwrap();
        Self { table, queue, ..self.clone() }
    }
}

fn embedded() -> (Tables, Queues) {
    let account = AccountName::parse(DEVELOPMENT_ACCOUNT).unwrap();
    let engine = MemoryEngine::new(&orrery_tables::spaces::SPACES);
    let tables = TableStore::standalone(engine, Env::system().unwrap(), Sync::Data).unwrap();
    let engine = MemoryEngine::new(&orrery_queues::spaces::SPACES);
    let queues = QueueStore::standalone(engine, Env::system().unwrap(), Sync::Data).unwrap();
    let (tables, queues) =
        (tables::Embedded::new(tables, account.clone()), queues::Embedded::new(queues, account));
    (Tables::Embedded(tables), Queues::Embedded(queues))
}

pub fn remote(server: &Server, way: Way, credential: StorageCredential) -> (tables::Remote, queues::Remote) {
    let (scheme, trust) = match way {
        Way::TlsKey | Way::TlsSas => ("https", trust(server)),
        Way::Embedded | Way::HttpKey => ("http", Trust::System),
    };
    let options = |port: u16| StorageOptions {
        url: format!("{scheme}://localhost:{port}/{DEVELOPMENT_ACCOUNT}"),
        credential: credential.clone(),
        trust: trust.clone(),
    };
    let env = || Env::system().unwrap();
    let tables = tables::Remote::new(options(server.table), env()).unwrap();
    (tables, queues::Remote::new(options(server.queue), env()).unwrap())
}

pub fn trust(server: &Server) -> Trust {
    let pem = std::fs::read(server.data().join("cert.pem")).unwrap();
    Trust::These(certificates(&pem).unwrap())
}

pub fn key(text: &str) -> StorageCredential {
    StorageCredential::key(DEVELOPMENT_ACCOUNT, text).unwrap()
}

/// Of everything in the tables and queues of the account, for a while.
pub fn signature() -> StorageCredential {
    sas("raudlcwp", "2099-01-01T00:00:00Z")
}

pub fn sas(permissions: &str, until: &str) -> StorageCredential {
    let fields = Fields {
        sv: Some("2020-12-06".to_owned()),
        ss: Some("qt".to_owned()),
        srt: Some("sco".to_owned()),
        sp: Some(permissions.to_owned()),
        se: Some(until.to_owned()),
        ..Fields::default()
    };
    let token = fields.account_token(DEVELOPMENT_ACCOUNT, &Key::parse(DEVELOPMENT_KEY).unwrap());
    StorageCredential::sas(&token)
}

pub fn is_refused<T: std::fmt::Debug>(outcome: Result<T, StoreError>, statuses: &[u16]) {
    match outcome {
        Err(StoreError::Refused { status, .. }) if statuses.contains(&status) => {}
        other => panic!("{other:?}, and not one of {statuses:?}"),
    }
}
