//! A server process of a test, and ways to speak to it.

use orrery_core::Env;
use orrery_testing_client::{Client, Connection, ContainerPath, OwnedReply, Request, Signer};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Longer than anything here takes, even on a machine that is busy with other things.
const DEADLINE: Duration = Duration::from_secs(60);

/// What the services port wants to hear of every body.
const JSON: &str = "content-type: application/json\r\n";

/// How often something is looked at that will be so soon.
const POLL: Duration = Duration::from_millis(2);

/// The binary with nothing inherited but what the test gives, in a folder where no configuration lies about.
pub fn orrery(here: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_orrery"));
    command.env_clear().current_dir(here).stdin(Stdio::null());
    command
}

/// Looks until there is something to see.
pub fn poll<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let until = Instant::now() + DEADLINE;
    loop {
        if let Some(seen) = look() {
            return seen;
        }
        assert!(Instant::now() < until, "waited in vain until {what}");
        std::thread::sleep(POLL);
    }
}

pub struct Server {
    child: Child,
    scratch: TempDir,
    pub cosmos: SocketAddr,
    pub services: SocketAddr,
    pub queue: SocketAddr,
    pub table: SocketAddr,
}

impl Server {
    /// On loopback and any free ports.
    pub fn start(data: &Path, flags: &[&str]) -> Self {
        let scratch = tempfile::tempdir().unwrap();
        let mut command = orrery(scratch.path());
        command.arg("serve").arg("--data").arg(data).args(["--free-ports"]).args(flags);
        Self::run(command, scratch)
    }

    /// What `command` starts, which must be told its ports by a ports file; the rest is its own affair.
    pub fn run(mut command: Command, scratch: TempDir) -> Self {
        let (ports, out, errors) =
            (scratch.path().join("ports.json"), scratch.path().join("out"), scratch.path().join("errors"));
        command.arg("--ports-file").arg(&ports);
        command.stdout(std::fs::File::create(&out).unwrap()).stderr(std::fs::File::create(&errors).unwrap());
        let mut child = command.spawn().unwrap();
        let ports: Value = poll("the server answers", || {
            let ended = child.try_wait().unwrap();
            assert!(ended.is_none(), "it ended: {}", std::fs::read_to_string(&errors).unwrap());
            serde_json::from_slice(&std::fs::read(&ports).ok()?).ok()
        });
        let address = |name: &str| SocketAddr::from(([127, 0, 0, 1], ports[name].as_u64().unwrap() as u16));
        let [cosmos, services] = ["cosmos", "services"].map(address);
        let [queue, table] = ["queue", "table"].map(address);
        Self { child, scratch, cosmos, services, queue, table }
    }

    pub fn client(&self) -> Client {
        Client::new(self.cosmos, Env::system().unwrap())
    }

    pub fn printed(&self) -> String {
        std::fs::read_to_string(self.scratch.path().join("out")).unwrap()
    }

    pub fn errors(&self) -> String {
        std::fs::read_to_string(self.scratch.path().join("errors")).unwrap()
    }

    pub fn ports_file(&self) -> PathBuf {
        self.scratch.path().join("ports.json")
    }

    pub fn process_id(&self) -> u32 {
        self.child.id()
    }

    pub fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([name, &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
    }

    pub fn wait(&mut self) -> ExitStatus {
        poll("the server ends", || self.child.try_wait().unwrap())
    }

    /// SIGTERM; it must end well.
    pub fn stop(mut self) {
        self.signal("-TERM");
        let status = self.wait();
        assert_eq!(status.code(), Some(0), "{}", self.errors());
    }

    /// A request to the services port: status and body.
    pub async fn ask(&self, verb: &str, path: &str, body: &str) -> (u16, Value) {
        let request = format!(
            "{verb} {path} HTTP/1.1\r\nhost: localhost\r\n{JSON}content-length: {}\r\n\r\n{body}",
            body.len()
        );
        let mut connection = Connection::connect(self.services).await.unwrap();
        let reply = connection.exchange(request.as_bytes()).await.unwrap().to_owned();
        (reply.status, reply.json().unwrap())
    }

    /// What `/readyz` says once it has this status.
    pub async fn readiness(&self, wanted: u16) -> Value {
        let until = Instant::now() + DEADLINE;
        loop {
            let (status, body) = self.ask("GET", "/readyz", "").await;
            if status == wanted {
                return body;
            }
            assert!(Instant::now() < until, "readiness stays {status}: {body}");
            tokio::time::sleep(POLL).await;
        }
    }

    pub async fn advance(&self, seconds: u64) {
        let (status, _) =
            self.ask("POST", "/v1/clock", &json!({"advance_seconds": seconds}).to_string()).await;
        assert_eq!(status, 200);
    }

    /// A request signed with a key of the caller's choice.
    pub async fn call(&self, key: &str, request: &Request) -> OwnedReply {
        let signer = Signer::new(key, Env::system().unwrap().now()).unwrap();
        let mut connection = Connection::connect(self.cosmos).await.unwrap();
        connection.exchange(&request.encode(&signer)).await.unwrap().to_owned()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The container `c` of the database `d`, made if it must be; `more` adds to its definition.
pub async fn make_container(client: &mut Client, more: &Value) -> ContainerPath {
    let path = ContainerPath::new("d", "c");
    assert_eq!(client.create_database("d").await.unwrap().status, 201);
    assert_eq!(client.create_container(&path, more).await.unwrap().status, 201);
    path
}

pub fn message(reply: &OwnedReply) -> String {
    reply.json().unwrap()["message"].as_str().unwrap().to_owned()
}
