//! The store under test: in memory, or on a server over the wire with a database per fixture.
//!
//! The service decides by its own clock. The server's clock is moved along by the same amount, since items
//! expire and requests are signed by it.

use crate::fixture::{Fixture, START};
use orrery_core::{Env, Timestamp};
use orrery_document_store::{Store, Sync};
use orrery_documents::spaces::SPACES;
use orrery_kit::http::Trust;
use orrery_kit::ports::documents::{Credential, Documents, Embedded, Remote, RemoteOptions};
use orrery_kv::MemoryEngine;
use orrery_testing_client::{Durability, EMULATOR_KEY, Options, ServerProcess, newest_binary};
use serde_json::{Value, json};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tempfile::TempDir;

#[derive(Clone)]
pub enum Place {
    Memory,
    Server(Arc<Server>),
}

impl Place {
    pub fn server() -> Self {
        Self::Server(Arc::new(Server::start()))
    }

    pub async fn fixture(&self) -> Fixture {
        self.world_at(START).await
    }

    pub async fn world_at(&self, start: &str) -> Fixture {
        Fixture::make(self, start).await
    }

    /// A separate store for a fixture.
    pub fn store(&self, env: &Env) -> Home {
        match self {
            Self::Memory => Home::Memory(memory(env)),
            Self::Server(server) => {
                let database = format!("asora-{}", server.worlds.fetch_add(1, Ordering::SeqCst));
                Home::Server { server: server.clone(), database }
            }
        }
    }
}

/// The store of one fixture, which any number of processes may open.
#[derive(Clone)]
pub enum Home {
    Memory(Documents),
    Server { server: Arc<Server>, database: String },
}

impl Home {
    /// Opens it like a separate process: with its own connections and session tokens.
    pub fn open(&self) -> Documents {
        match self {
            Self::Memory(documents) => documents.clone(),
            Self::Server { server, database } => {
                Documents::Remote(server.remote(server.endpoint(), database))
            }
        }
    }

    pub fn advance(&self, by: Duration) {
        if let Self::Server { server, .. } = self {
            server.advance(by);
        }
    }
}

fn memory(env: &Env) -> Documents {
    let store = Store::standalone(MemoryEngine::new(&SPACES), env.clone(), Sync::Data).unwrap();
    let database = orrery_notifications::service::containers::DATABASE;
    Documents::Embedded(Embedded::new(store, database))
}

pub struct Server {
    process: Mutex<Option<ServerProcess>>,
    folder: TempDir,
    /// Shows the server's clock.
    clock: Env,
    worlds: AtomicUsize,
}

impl Server {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let process = run(&folder);
        let now = ask(process.ports().services, "GET", "")["now_ms"].as_u64().unwrap();
        let clock = Env::seeded(Timestamp::from_millis(now), now);
        Self { process: Mutex::new(Some(process)), folder, clock, worlds: AtomicUsize::new(0) }
    }

    /// `kill -9`.
    pub fn kill(&self) {
        self.process.lock().unwrap().take().unwrap().kill().unwrap();
    }

    /// In the same folder, on another port, with the clock where it was.
    pub fn restart(&self) {
        let process = run(&self.folder);
        let now = ask(process.ports().services, "GET", "")["now_ms"].as_u64().unwrap();
        // The real time since the start may exceed, or fall short of, the amount that the clock was
        // moved.
        let (ahead, behind) =
            (self.clock.now().millis().saturating_sub(now), now.saturating_sub(self.clock.now().millis()));
        move_on(process.ports().services, Duration::from_millis(ahead));
        self.clock.advance(Duration::from_millis(behind)).unwrap();
        *self.process.lock().unwrap() = Some(process);
    }

    pub fn port(&self) -> u16 {
        self.process.lock().unwrap().as_ref().unwrap().ports().cosmos
    }

    pub fn remote(&self, endpoint: String, database: &str) -> Remote {
        let credential = Credential::Key(EMULATOR_KEY.to_owned());
        let options =
            RemoteOptions { endpoint, database: database.to_owned(), credential, trust: Trust::System };
        Remote::new(options, self.clock.clone()).unwrap()
    }

    fn endpoint(&self) -> String {
        format!("http://127.0.0.1:{}", self.port())
    }

    pub fn advance(&self, by: Duration) {
        let process = self.process.lock().unwrap();
        move_on(process.as_ref().unwrap().ports().services, by);
        self.clock.advance(by).unwrap();
    }
}

fn run(folder: &TempDir) -> ServerProcess {
    let binary = newest_binary().unwrap_or_else(|error| panic!("{error}"));
    let arguments = ["--clock", "manual", "--notifications", "off"].map(Into::into).to_vec();
    let options = Options { durability: Durability::Relaxed, arguments, ..Options::new(binary) };
    ServerProcess::start(&folder.path().join("data"), &options).unwrap_or_else(|error| panic!("{error}"))
}

fn move_on(port: u16, by: Duration) {
    ask(port, "POST", &json!({"advance_seconds": by.as_secs_f64()}).to_string());
}

/// The clock, read or moved.
fn ask(port: u16, verb: &str, body: &str) -> Value {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    let head = format!(
        "{verb} /v1/clock HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap()
}
