//! A server process that a test starts, kills, and restarts on the same port.

use orrery_testing_client::{Connection, newest_binary};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Longer than a start takes, even on a busy machine.
const DEADLINE: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(2);

pub struct Server {
    child: Child,
    folder: TempDir,
    pub port: u16,
    pub queue: u16,
    pub table: u16,
    services: u16,
}

/// Where a server answers.
struct Ports {
    cosmos: u16,
    services: u16,
    queue: u16,
    table: u16,
}

impl Server {
    pub fn start(flags: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (child, ports) = run(folder.path(), [0; 3], flags);
        let Ports { cosmos, services, queue, table } = ports;
        Self { child, folder, port: cosmos, queue, table, services }
    }

    pub fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// `kill -9`.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// In the same folder and on the same ports as before.
    pub fn restart(&mut self, flags: &[&str]) {
        self.kill();
        let (child, ports) = run(self.folder.path(), [self.port, self.queue, self.table], flags);
        (self.child, self.services) = (child, ports.services);
    }

    /// Moves the clock of a server started with `--clock manual`.
    pub async fn advance_clock(&self, seconds: u64) {
        let body = format!(r#"{{"advance_seconds":{seconds}}}"#);
        let head = "POST /v1/clock HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n";
        let request = format!("{head}content-length: {}\r\n\r\n{body}", body.len());
        let mut connection = Connection::connect(([127, 0, 0, 1], self.services).into()).await.unwrap();
        assert_eq!(connection.exchange(request.as_bytes()).await.unwrap().status, 200);
    }

    /// A bearer token that may read and write items.
    pub fn token(&self) -> String {
        let output = orrery(self.folder.path())
            .arg("token")
            .arg("--data")
            .arg(self.data())
            .args(["--role", "contributor"])
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn orrery(here: &Path) -> Command {
    let mut command = Command::new(newest_binary().unwrap());
    command.env_clear().current_dir(here).stdin(Stdio::null());
    command
}

/// At these ports of Cosmos DB, queues and tables; 0 for any free one.
fn run(folder: &Path, at: [u16; 3], flags: &[&str]) -> (Child, Ports) {
    let (ports, log) = (folder.join("ports.json"), folder.join("log"));
    drop(std::fs::remove_file(&ports));
    let out = std::fs::File::create(&log).unwrap();
    let mut child = orrery(folder)
        .args(["serve", "--host", "127.0.0.1", "--free-ports", "--durability", "relaxed"])
        .args(["--cosmos-port", &at[0].to_string()])
        .args(["--queue-port", &at[1].to_string()])
        .args(["--table-port", &at[2].to_string()])
        .arg("--data")
        .arg(folder.join("data"))
        .arg("--ports-file")
        .arg(&ports)
        .args(flags)
        .stdout(out.try_clone().unwrap())
        .stderr(out)
        .spawn()
        .unwrap();
    let until = Instant::now() + DEADLINE;
    loop {
        if let Some(told) =
            std::fs::read(&ports).ok().and_then(|text| serde_json::from_slice::<Value>(&text).ok())
        {
            let port = |name: &str| u16::try_from(told[name].as_u64().unwrap()).unwrap();
            let ports = Ports {
                cosmos: port("cosmos"),
                services: port("services"),
                queue: port("queue"),
                table: port("table"),
            };
            return (child, ports);
        }
        let ended = child.try_wait().unwrap();
        let log = || std::fs::read_to_string(&log).unwrap_or_default();
        assert!(ended.is_none(), "the server ended: {}", log());
        assert!(Instant::now() < until, "the server does not come up: {}", log());
        std::thread::sleep(POLL);
    }
}
