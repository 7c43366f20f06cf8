//! One running server: free ports, and data in a folder that goes away with it.

use serde_json::{Value, json};
use std::error::Error;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

const START_SECONDS_MAX: Duration = Duration::from_secs(30);

pub struct Server {
    child: Child,
    folder: PathBuf,
    cosmos_port: u64,
    services_port: u64,
    /// None of a server that has no queues.
    queue_port: Option<u64>,
}

impl Server {
    /// Starts a server and returns once it answers.
    pub fn start(flags: &[&str]) -> Result<Self, Box<dyn Error>> {
        let binary = std::env::var("ORRERY_BIN").map_err(|_| "ORRERY_BIN names no server binary")?;
        let folder = fresh_folder()?;
        let (ports, log) = (folder.join("ports.json"), folder.join("log"));
        let output = File::create(&log)?;
        let child = Command::new(&binary)
            .args(["serve", "--host", "127.0.0.1", "--free-ports"])
            .args(["--durability", "relaxed", "--data"])
            .arg(folder.join("data"))
            .arg("--ports-file")
            .arg(&ports)
            .args(flags)
            .stdout(output.try_clone()?)
            .stderr(output)
            .spawn()
            .map_err(|error| format!("{binary} does not start: {error}"))?;
        let mut server = Self { child, folder, cosmos_port: 0, services_port: 0, queue_port: None };
        server.wait_for(&ports, &log)?;
        Ok(server)
    }

    pub fn endpoint(&self, scheme: &str) -> String {
        format!("{scheme}://localhost:{}", self.cosmos_port)
    }

    /// Of an account of queues, whose name is in the path.
    pub fn queue_endpoint(&self, scheme: &str, account: &str) -> Result<String, Box<dyn Error + Send + Sync>> {
        let port = self.queue_port.ok_or("the ports file names no queue port")?;
        Ok(format!("{scheme}://127.0.0.1:{port}/{account}"))
    }

    /// A bearer token that this server takes.
    pub fn token(&self, flags: &[&str]) -> Result<String, Box<dyn Error + Send + Sync>> {
        let binary = std::env::var("ORRERY_BIN")?;
        let minted = Command::new(binary).arg("token").arg("--data").arg(self.folder.join("data")).args(flags).output()?;
        if !minted.status.success() {
            return Err(String::from_utf8_lossy(&minted.stderr).into_owned().into());
        }
        Ok(String::from_utf8(minted.stdout)?.trim().to_owned())
    }

    /// Moves the clock of a server that was started with `--clock manual`.
    pub fn advance(&self, seconds: u64) -> Result<(), Box<dyn Error + Send + Sync>> {
        self.ask("POST", "/v1/clock", &json!({ "advance_seconds": seconds }))
    }

    /// A request to the services port, which must go well.
    pub fn ask(&self, verb: &str, path: &str, body: &Value) -> Result<(), Box<dyn Error + Send + Sync>> {
        let body = body.to_string();
        let port = self.services_port;
        let mut stream = TcpStream::connect(format!("127.0.0.1:{port}"))?;
        write!(
            stream,
            "{verb} {path} HTTP/1.1\r\nhost: localhost:{port}\r\ncontent-type: application/json\r\n\
             content-length: {}\r\nconnection: close\r\n\r\n{body}",
            body.len()
        )?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        if answer.starts_with("HTTP/1.1 200") {
            Ok(())
        } else {
            Err(format!("{verb} {path} was refused: {answer}").into())
        }
    }

    fn wait_for(&mut self, ports: &Path, log: &Path) -> Result<(), Box<dyn Error>> {
        let started = Instant::now();
        while !ports.exists() {
            if self.child.try_wait()?.is_some() || started.elapsed() > START_SECONDS_MAX {
                return Err(format!("the server did not start: {}", fs::read_to_string(log)?).into());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        let numbers: Value = serde_json::from_slice(&fs::read(ports)?)?;
        self.cosmos_port = numbers["cosmos"].as_u64().ok_or("the ports file names no cosmos port")?;
        self.services_port = numbers["services"].as_u64().ok_or("the ports file names no services port")?;
        self.queue_port = numbers["queue"].as_u64();
        Ok(())
    }
}

impl Drop for Server {
    /// The data is thrown away with the server, so there is nothing to wait for.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn fresh_folder() -> std::io::Result<PathBuf> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let folder = std::env::temp_dir().join(format!("orrery-sdk-rust-{}-{number}", std::process::id()));
    fs::create_dir_all(&folder)?;
    Ok(folder)
}
