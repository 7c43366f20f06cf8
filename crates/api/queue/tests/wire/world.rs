//! The service on a store in memory behind a port of its own, and what every reply of it owes.

use crate::call::Call;
use orrery_api_common::bearer::{Bearers, DevelopmentKey, Grant, Issuer, Mint};
use orrery_api_common::secrets::StorageAccounts;
use orrery_api_common::{CorsRules, Listener, Options as ListenerOptions, Stop, WebGuard};
use orrery_api_queue::Queue;
use orrery_api_storage::xml::{self, Element};
use orrery_api_storage::{Options, Storage};
use orrery_core::{Env, Timestamp};
use orrery_kv::{MemoryEngine, Sync};
use orrery_queue_store::QueueStore;
use orrery_queues::spaces::SPACES;
use orrery_testing_client::{Connection, OwnedReply};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

pub const OTHER_KEY: &str = "b3RoZXIga2V5IG9mIHRoZSB0ZXN0cw==";
const AUDIENCE: &str = "https://storage.azure.com";

pub struct World {
    pub address: SocketAddr,
    pub env: Env,
    pub engine: MemoryEngine,
    pub store: QueueStore,
    issuer: DevelopmentKey,
    _folder: tempfile::TempDir,
}

impl World {
    /// With the queue `turns`; the clock stands still. Beside the emulators' account there is `other`.
    pub async fn new() -> Self {
        let (env, engine) =
            (Env::seeded(Timestamp::from_seconds(1_800_000_000), 7), MemoryEngine::new(&SPACES));
        let store = QueueStore::standalone(engine.clone(), env.clone(), Sync::Data).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let accounts = StorageAccounts::load_or_make(folder.path(), true).unwrap();
        accounts.add_with("other", [OTHER_KEY.to_owned(), OTHER_KEY.to_owned()]).unwrap();
        let issuer = DevelopmentKey::read(&DevelopmentKey::make().unwrap()).unwrap();
        let bearers = Bearers::new(vec![Issuer::development(&issuer)], vec![AUDIENCE.to_owned()]);
        let mut options = Options::new(Arc::new(accounts), env.clone());
        options.bearers = Some(Arc::new(bearers));
        let queue = Queue::new(Storage::new(options), store.clone());
        let guard = WebGuard::new(true, Vec::new(), CorsRules::default()).with_rules_of_protocol();
        let options =
            ListenerOptions { keeps_spelling: true, guard: Some(guard), ..ListenerOptions::default() };
        let listener = Listener::bind_with(SocketAddr::from(([127, 0, 0, 1], 0)), None, options).unwrap();
        let address = listener.local_addr().unwrap();
        let serving = listener.serve(
            move |request, peer| {
                let queue = queue.clone();
                async move { queue.handle(request, peer).await }
            },
            Stop::new(),
        );
        tokio::spawn(serving);
        let world = Self { address, env, engine, store, issuer, _folder: folder };
        world.answered(201, Call::put("/turns")).await;
        world
    }

    pub fn advance(&self, seconds: u64) {
        self.env.advance(Duration::from_secs(seconds)).unwrap();
    }

    /// A bearer token with one role, as the header has it.
    pub fn bearer(&self, role: &str, scope: &str) -> String {
        let grants = vec![Grant { role: role.to_owned(), scope: scope.to_owned() }];
        let lifetime = Duration::from_secs(3600);
        let mint = Mint { principal: "dev".into(), audience: AUDIENCE.into(), grants, lifetime };
        format!("Bearer {}", self.issuer.mint(&mint, self.env.now()).unwrap())
    }

    /// The reply, which must have this status.
    pub async fn answered(&self, status: u16, call: Call) -> OwnedReply {
        let reply = self.call(&call).await;
        assert_eq!(reply.status, status, "{}", String::from_utf8_lossy(&reply.body));
        reply
    }

    /// The root of the answer, which must be 200 or 201.
    pub async fn document(&self, call: Call) -> Element {
        let reply = self.call(&call).await;
        assert!(matches!(reply.status, 200 | 201), "{}", String::from_utf8_lossy(&reply.body));
        xml::read(&reply.body).unwrap()
    }

    /// The messages of the answer.
    pub async fn messages(&self, call: Call) -> Vec<Element> {
        let list = self.document(call).await;
        assert_eq!(list.name, "QueueMessagesList");
        list.children
    }

    pub async fn texts(&self, call: Call) -> Vec<String> {
        let messages = self.messages(call).await;
        messages.iter().map(|message| message.text_of("MessageText").unwrap().to_owned()).collect()
    }

    /// The call is refused with this status and code; the details of the error, by name.
    pub async fn refused(&self, call: Call, status: u16, code: &str) -> Element {
        let reply = self.answered(status, call).await;
        let error = xml::read(&reply.body).unwrap();
        assert_eq!(error.text_of("Code"), Some(code), "{error:?}");
        error
    }

    /// Sends the call on a connection of its own.
    pub async fn call(&self, call: &Call) -> OwnedReply {
        let mut connection = Connection::connect(self.address).await.unwrap();
        let reply = connection.exchange(&call.encode(&self.env.now().to_http())).await.unwrap().to_owned();
        check_always(&reply);
        reply
    }

    /// Sends the call, which asks for the connection to be closed, and gives all that comes until then.
    pub async fn raw(&self, call: Call) -> String {
        let bytes = call.header("Connection", "close").encode(&self.env.now().to_http());
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        stream.write_all(&bytes).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.store.close();
    }
}

/// What holds for every reply: ids, a version, a date; and for an error its code in a header and in the body.
fn check_always(reply: &OwnedReply) {
    let (status, header) = (reply.status, |name: &str| reply.header(name));
    assert_eq!(header("x-ms-request-id").map(str::len), Some(36), "{status}");
    assert!(header("x-ms-version").is_some() && header("date").is_some(), "{status}");
    if !reply.body.is_empty() {
        assert_eq!(header("content-type"), Some("application/xml"), "{status}");
        assert!(status != 204, "204 with a body");
    }
    if status < 400 {
        assert_eq!(header("x-ms-error-code"), None);
        return;
    }
    let error = xml::read(&reply.body).unwrap();
    assert_eq!(error.name, "Error");
    assert_eq!(error.text_of("Code"), header("x-ms-error-code"));
    let message = error.text_of("Message").unwrap();
    let id = format!("\nRequestId:{}\nTime:", header("x-ms-request-id").unwrap());
    assert!(message.contains(&id) && message.ends_with('Z'), "{message}");
}
