//! A store with a few containers, behind any of the adapters.

use crate::server::Server;
use orrery_core::{Env, Timestamp};
use orrery_document_store::Store;
use orrery_documents::spaces::SPACES;
use orrery_documents::subresources::{Definition, Kind, Owner};
use orrery_kit::http::{Trust, certificates};
use orrery_kit::ports::documents::{
    Credential, Documents, Embedded, Item, Layout, Page, Query, Remote, RemoteOptions, StoreError, Write,
};
use orrery_kit::service_container;
use orrery_kv::{MemoryEngine, Sync};
use orrery_testing_client::{Client, EMULATOR_KEY, Method, Request};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

pub const ITEMS: &str = "items";
pub const OWN: &str = "own";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Connection {
    Embedded,
    HttpKey,
    HttpToken,
    /// With a key, and without asking the server to merge.
    HttpMerging,
    TlsKey,
    TlsToken,
}

#[derive(Clone)]
pub struct Fixture {
    pub documents: Documents,
    /// A clock that the test moves; the store has its own.
    pub env: Env,
    connection: Connection,
    behind: Behind,
    database: String,
}

#[derive(Clone)]
enum Behind {
    Store(Store),
    Server(Arc<Server>, Option<String>),
}

impl Fixture {
    pub async fn open(connection: Connection) -> Self {
        let behind = match connection {
            Connection::Embedded => Behind::Store(memory_store()),
            Connection::HttpKey | Connection::HttpMerging | Connection::TlsKey => {
                Behind::Server(Arc::new(Server::start(&[])), None)
            }
            Connection::HttpToken | Connection::TlsToken => {
                let server = Server::start(&[]);
                let token = server.token();
                Behind::Server(Arc::new(server), Some(token))
            }
        };
        Self::of(connection, behind, "contract").await
    }

    /// Another database of the same store.
    pub async fn anew(&self, database: &str) -> Self {
        Self::of(self.connection, self.behind.clone(), database).await
    }

    async fn of(connection: Connection, behind: Behind, database: &str) -> Self {
        let documents = match &behind {
            Behind::Store(store) => {
                let embedded = Embedded::new(store.clone(), database);
                Documents::Embedded(embedded)
            }
            Behind::Server(server, token) => {
                let key = Credential::Key(EMULATOR_KEY.to_owned());
                if let Some(token) = token.clone() {
                    // A token may not create containers.
                    Documents::Remote(remote(server, connection, database, key))
                        .ensure(&layout())
                        .await
                        .unwrap();
                    let token = Credential::Token(Arc::new(move || token.clone()));
                    Documents::Remote(remote(server, connection, database, token))
                } else {
                    Documents::Remote(remote(server, connection, database, key))
                }
            }
        };
        documents.ensure(&layout()).await.unwrap();
        let env = Env::seeded(Timestamp::from_seconds(1_794_704_563), 1);
        Self { documents, env, connection, behind, database: database.to_owned() }
    }

    /// A user-defined function of the container; services cannot create one, so the test does it behind
    /// the port.
    pub async fn define_function(&self, name: &str, body: &str) {
        let definition = json!({"id": name, "body": body});
        match &self.behind {
            Behind::Store(store) => {
                let Value::Object(definition) = definition else { unreachable!("it is an object") };
                let kind = Kind::UserDefinedFunction;
                let definition = Definition::parse(kind, definition).unwrap();
                let owner = Owner::Container(store.container(&self.database, ITEMS).unwrap().rid());
                store.create_subresource(&owner, kind, &definition).await.unwrap();
            }
            Behind::Server(server, _) => {
                let address = std::net::SocketAddr::from(([127, 0, 0, 1], server.port));
                let path = format!("dbs/{}/colls/{ITEMS}/udfs", self.database);
                let request = Request::new(Method::Post, path).body(definition.to_string());
                let reply = Client::new(address, Env::system().unwrap()).call(&request).await.unwrap();
                assert_eq!(reply.status, 201, "{reply:?}");
            }
        }
    }

    pub fn advance(&self, seconds: u64) {
        self.env.advance(Duration::from_secs(seconds)).unwrap();
    }

    /// The number of concurrent requests: fewer where one test checks every fact.
    pub fn crowd(&self) -> usize {
        if matches!(self.connection, Connection::Embedded | Connection::HttpKey) { 64 } else { 16 }
    }

    pub async fn read(&self, partition: &str, id: &str) -> Option<Item> {
        self.documents.read(ITEMS, partition, id).await.unwrap()
    }

    pub async fn write(&self, partition: &str, write: Write) -> Result<Option<Item>, StoreError> {
        self.documents.write(ITEMS, partition, write).await
    }

    /// An item that does not exist yet.
    pub async fn create(&self, partition: &str, id: &str, n: i64) -> Item {
        self.write(partition, Write::Create(item(partition, id, n))).await.unwrap().unwrap()
    }

    pub async fn page(&self, partition: Option<&str>, query: &Query) -> Result<Page, StoreError> {
        self.documents.query(ITEMS, partition, query).await
    }

    /// All rows, page by page.
    pub async fn rows(&self, partition: Option<&str>, query: Query) -> Vec<Value> {
        let (mut rows, mut query) = (Vec::new(), query);
        loop {
            let page = self.page(partition, &query).await.unwrap();
            assert!(query.items_max == 0 || page.rows.len() <= query.items_max);
            rows.extend(page.rows);
            query.continuation = page.continuation;
            if query.continuation.is_none() {
                return rows;
            }
        }
    }
}

/// The container has a unique key, so each item gets its own value.
pub fn item(partition: &str, id: &str, n: i64) -> Value {
    json!({"id": id, "pk": partition, "n": n, "email": id})
}

pub fn query(text: &str, items_max: usize) -> Query {
    Query { text: text.to_owned(), items_max, ..Query::default() }
}

pub fn layout() -> Vec<Layout> {
    let items = json!({
        "id": ITEMS,
        "partitionKey": {"paths": ["/pk"], "kind": "Hash", "version": 2},
        "uniqueKeyPolicy": {"uniqueKeys": [{"paths": ["/email"]}]},
    });
    vec![Layout { definition: items }, service_container(OWN)]
}

pub fn remote(server: &Server, connection: Connection, database: &str, credential: Credential) -> Remote {
    let (scheme, trust) = match connection {
        Connection::TlsKey | Connection::TlsToken => {
            let pem = std::fs::read(server.data().join("cert.pem")).unwrap();
            ("https", Trust::These(certificates(&pem).unwrap()))
        }
        Connection::Embedded | Connection::HttpKey | Connection::HttpMerging | Connection::HttpToken => {
            ("http", Trust::System)
        }
    };
    let endpoint = format!("{scheme}://localhost:{}", server.port);
    let options = RemoteOptions { endpoint, database: database.to_owned(), credential, trust };
    let remote = Remote::new(options, Env::system().unwrap()).unwrap();
    if connection == Connection::HttpMerging { remote.merging() } else { remote }
}

fn memory_store() -> Store {
    Store::standalone(MemoryEngine::new(&SPACES), Env::system().unwrap(), Sync::Data).unwrap()
}
