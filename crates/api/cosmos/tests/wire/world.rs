//! The service on a store in memory behind a port of its own, and what every reply of it owes.

use crate::call::{Call, READ_ONLY_KEY, READ_WRITE_KEY};
use orrery_api_common::{Key, Keys, Listener, Stop};
use orrery_api_cosmos::{Consistency, Cosmos, Options, OtherPorts};
use orrery_core::{Env, Timestamp, limits};
use orrery_document_store::{CrossPartition, Jobs, Options as StoreOptions, Progress, Store, Sync};
use orrery_documents::spaces::SPACES;
use orrery_kv::MemoryEngine;
use orrery_testing_client::{Connection, OwnedReply};
use serde_json::{Value, json};
use std::net::SocketAddr;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// The container that most tests use: by `/pk`, items may expire, `/email` is unique.
pub const CONTAINER: &str = "dbs/d/colls/c";
pub const ITEMS: &str = "dbs/d/colls/c/docs";
/// No sentence needs more, whatever a client sent.
const MESSAGE_BYTES_MAX: usize = 4096 + 128;

pub struct World {
    pub address: SocketAddr,
    pub env: Env,
    pub engine: MemoryEngine,
    pub cosmos: Cosmos,
    store: Store,
}

impl World {
    /// A database `d` with the container `c`; the clock stands still.
    pub async fn new() -> Self {
        let world = Self::empty(Env::seeded(Timestamp::from_seconds(1_800_000_000), 7));
        world.make_container().await;
        world
    }

    /// The same by the clock of the system, for what depends on dates.
    pub async fn by_system_clock() -> Self {
        let world = Self::empty(Env::system().unwrap());
        world.make_container().await;
        world
    }

    pub fn empty(env: Env) -> Self {
        Self::on(MemoryEngine::new(&SPACES), env)
    }

    pub fn on(engine: MemoryEngine, env: Env) -> Self {
        Self::bounded(engine, env, limits::PARTITION_BYTES_MAX)
    }

    /// With another bound on what a logical partition holds.
    pub fn bounded(engine: MemoryEngine, env: Env, partition_bytes_max: u64) -> Self {
        Self::with_store(engine, env, |options| options.partition_bytes_max = partition_bytes_max)
    }

    /// With options of the store that the test changes.
    pub fn with_store(engine: MemoryEngine, env: Env, change: impl FnOnce(&mut StoreOptions)) -> Self {
        let mut options = StoreOptions { secret: [5; 32], ..StoreOptions::standalone() };
        change(&mut options);
        Self::over(engine, env, options, |_| {})
    }

    /// With options of the protocol that the test changes.
    pub fn with(engine: MemoryEngine, env: Env, change: impl FnOnce(&mut Options)) -> Self {
        Self::over(engine, env, StoreOptions { secret: [5; 32], ..StoreOptions::standalone() }, change)
    }

    fn over(engine: MemoryEngine, env: Env, store: StoreOptions, change: impl FnOnce(&mut Options)) -> Self {
        let store = Store::standalone_with(engine.clone(), env.clone(), Sync::Data, store).unwrap();
        let key = |text: &str| Key::parse(text).unwrap();
        let keys = Keys {
            primary: key(READ_WRITE_KEY),
            secondary: key("c2Vjb25kYXJ5"),
            primary_readonly: Some(key(READ_ONLY_KEY)),
            secondary_readonly: None,
            published: None,
        };
        let mut options = Options {
            keys,
            account: "orrery".to_owned(),
            account_id: "id-of-the-account".to_owned(),
            ports: OtherPorts { services: Some(8080), queue: Some(10001), table: Some(10002) },
            secret: [5; 32],
            consistency: Consistency::Session,
            advertised: None,
            // What most tests are about is the answer; `cross_partition.rs` is about who merges it.
            cross_partition: CrossPartition::Direct,
        };
        change(&mut options);
        let cosmos = Cosmos::new(store.clone(), options);
        let listener = Listener::bind(SocketAddr::from(([127, 0, 0, 1], 0)), None).unwrap();
        let address = listener.local_addr().unwrap();
        let served = cosmos.clone();
        let serving = listener.serve(
            move |request, peer| {
                let cosmos = served.clone();
                async move { cosmos.handle(request, peer).await }
            },
            Stop::new(),
        );
        tokio::spawn(serving);
        Self { address, env, engine, cosmos, store }
    }

    pub async fn make_container(&self) {
        self.made(Call::post("dbs", r#"{"id":"d"}"#)).await;
        self.container(
            "c",
            &json!({"defaultTtl": -1, "uniqueKeyPolicy": {"uniqueKeys": [{"paths": ["/email"]}]}}),
        )
        .await;
    }

    /// A container by `/pk`; `more` adds to its definition.
    pub async fn container(&self, id: &str, more: &Value) -> OwnedReply {
        let mut body = json!({"id": id, "partitionKey": {"paths": ["/pk"], "kind": "Hash", "version": 2}});
        for (name, value) in more.as_object().unwrap() {
            body[name] = value.clone();
        }
        self.made(Call::post("dbs/d/colls", body.to_string())).await
    }

    /// An item of the partition `p`.
    pub async fn item(&self, id: &str) -> OwnedReply {
        self.made(
            Call::post(ITEMS, json!({"id": id, "pk": "p", "email": id}).to_string()).partition(r#"["p"]"#),
        )
        .await
    }

    /// Background work until nothing is left of it.
    pub async fn background(&self) {
        let store = self.store.clone();
        let rounds = move || {
            let mut jobs = Jobs::default();
            store.register_jobs(&mut jobs);
            while jobs.round().unwrap() == Progress::More {}
        };
        tokio::task::spawn_blocking(rounds).await.unwrap();
    }

    /// The offer of a container.
    pub async fn offer(&self, container: &str) -> Value {
        let rid = self.answered(200, Call::get(container)).await.json().unwrap()["_rid"].clone();
        let offers = self.answered(200, Call::get("offers")).await.json().unwrap();
        let found = offers["Offers"].as_array().unwrap().iter().find(|offer| offer["offerResourceId"] == rid);
        found.unwrap().clone()
    }

    pub async fn made(&self, call: Call) -> OwnedReply {
        self.answered(201, call).await
    }

    /// The reply, which must have this status.
    pub async fn answered(&self, status: u16, call: Call) -> OwnedReply {
        let reply = self.call(&call).await;
        assert_eq!(reply.status, status, "{}", String::from_utf8_lossy(&reply.body));
        reply
    }

    /// Sends the call on a connection of its own.
    pub async fn call(&self, call: &Call) -> OwnedReply {
        let mut connection = Connection::connect(self.address).await.unwrap();
        self.call_on(&mut connection, call).await
    }

    pub async fn call_on(&self, connection: &mut Connection, call: &Call) -> OwnedReply {
        let bytes = call.encode(&self.env.now().to_http());
        let reply = connection.exchange(&bytes).await.unwrap().to_owned();
        check_always(&reply);
        reply
    }

    /// Sends bytes and gives all that comes until the server closes.
    pub async fn raw(&self, bytes: &[u8]) -> String {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        let _ = stream.write_all(bytes).await;
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer).await;
        String::from_utf8_lossy(&answer).into_owned()
    }

    /// The call is refused with this status and sub-status, Azure's code for it, and a sentence with `fragment`.
    pub async fn refused(&self, call: Call, (status, substatus): (u16, u32), fragment: &str) -> OwnedReply {
        let reply = self.call(&call).await;
        let body = String::from_utf8_lossy(&reply.body).into_owned();
        let actual = (reply.status, reply.header("x-ms-substatus"));
        assert_eq!(actual, (status, Some(substatus.to_string().as_str())), "{fragment}: {body}");
        let error = reply.json().unwrap();
        assert_eq!(error["code"], code_of(status), "{fragment}: {body}");
        let message = error["message"].as_str().unwrap();
        assert!(message.contains(fragment), "no {fragment:?} in {message:?}");
        reply
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.store.close();
    }
}

fn code_of(status: u16) -> &'static str {
    match status {
        400 => "BadRequest",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "NotFound",
        405 => "MethodNotAllowed",
        408 => "RequestTimeout",
        409 => "Conflict",
        410 => "Gone",
        412 => "PreconditionFailed",
        413 => "RequestEntityTooLarge",
        429 => "TooManyRequests",
        503 => "ServiceUnavailable",
        _ => "no code that these tests know",
    }
}

/// What holds for every reply: an id, a charge, the time it took, and either a JSON body that says so or none.
fn check_always(reply: &OwnedReply) {
    let (status, header) = (reply.status, |name: &str| reply.header(name));
    assert!(header("x-ms-activity-id").is_some_and(|id| !id.is_empty()), "{status}");
    assert!(header("x-ms-request-charge").unwrap().parse::<f64>().unwrap() > 0.0, "{status}");
    assert!(header("x-ms-request-duration-ms").unwrap().parse::<f64>().unwrap() >= 0.0, "{status}");
    if reply.body.is_empty() {
        assert!(status < 400, "an error of {status} without a body");
        return;
    }
    assert!(!matches!(status, 204 | 304), "{status} with a body");
    assert_eq!(header("content-type"), Some("application/json"));
    orrery_value::scan_value(&reply.body).unwrap();
    if status < 400 {
        assert_eq!(header("x-ms-substatus"), None);
        return;
    }
    let body = reply.json().unwrap();
    let members: Vec<&str> = body.as_object().unwrap().keys().map(String::as_str).collect();
    assert!(matches!(members[..], ["code", "message"] | ["code", "message", "additionalErrorInfo"]));
    header("x-ms-substatus").unwrap().parse::<u32>().unwrap();
    let message = body["message"].as_str().unwrap();
    let (sentence, id) = message.split_once("\r\nActivityId: ").unwrap();
    assert_eq!(Some(id), header("x-ms-activity-id"));
    assert!(
        sentence.len() > 10 && sentence.len() <= MESSAGE_BYTES_MAX,
        "{} bytes: {sentence:.100}",
        sentence.len()
    );
}
