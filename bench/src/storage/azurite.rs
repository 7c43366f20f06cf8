//! Azurite, the emulator that users have today: fetched from npm once, its table and its queue service a process each.

use super::on_http::{OnHttp, StoragePorts};
use crate::error::Error;
use std::net::{Ipv4Addr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

const VERSION: &str = "3.37.0";
const START_MAX: Duration = Duration::from_secs(60);

pub struct Azurite {
    pub ports: StoragePorts,
    table: Child,
    queue: Child,
    _folder: TempDir,
}

/// With its data below `base`.
pub fn start(base: &Path) -> Result<OnHttp, Error> {
    let programs = installed()?;
    let folder = TempDir::with_prefix_in("orrery-bench-azurite-", base);
    let folder = folder.map_err(|e| Error::Io("no folder", e))?;
    let ports = StoragePorts::free()?;
    let table = spawn(&programs, "table", ports.table, folder.path())?;
    let queue = match spawn(&programs, "queue", ports.queue, folder.path()) {
        Ok(queue) => queue,
        Err(error) => {
            end(table);
            return Err(error);
        }
    };
    let mut azurite = Azurite { ports, table, queue, _folder: folder };
    azurite.wait_until_ready()?;
    OnHttp::azurite(azurite)
}

impl Azurite {
    pub fn processes(&self) -> Vec<u32> {
        vec![self.table.id(), self.queue.id()]
    }

    fn wait_until_ready(&mut self) -> Result<(), Error> {
        let until = Instant::now() + START_MAX;
        for (child, port) in [(&mut self.table, self.ports.table), (&mut self.queue, self.ports.queue)] {
            while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
                if !matches!(child.try_wait(), Ok(None)) || Instant::now() > until {
                    return Err(Error::Unexpected("Azurite did not start".to_owned()));
                }
                std::thread::sleep(Duration::from_millis(20));
            }
        }
        Ok(())
    }
}

impl Drop for Azurite {
    fn drop(&mut self) {
        for child in [&mut self.table, &mut self.queue] {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn end(mut child: Child) {
    let _ = child.kill();
    let _ = child.wait();
}

/// The folder of its programs.
fn installed() -> Result<PathBuf, Error> {
    let folder = cache().join(format!("azurite-{VERSION}"));
    let programs = folder.join("node_modules/.bin");
    if programs.join("azurite-table").exists() {
        return Ok(programs);
    }
    println!("fetching Azurite {VERSION} from npm into {}", folder.display());
    std::fs::create_dir_all(&folder).map_err(|e| Error::Io("no folder", e))?;
    let done = Command::new("npm")
        .args(["install", "--no-audit", "--no-fund", "--prefix"])
        .arg(&folder)
        .arg(format!("azurite@{VERSION}"))
        .output();
    match done {
        Ok(done) if done.status.success() => Ok(programs),
        Ok(done) => {
            let why = String::from_utf8_lossy(&done.stderr).trim().to_owned();
            Err(Error::Missing(format!("Azurite could not be fetched: {why}")))
        }
        Err(error) => Err(Error::Missing(format!("npm, which fetches Azurite, could not be run: {error}"))),
    }
}

/// Beside what is built, as it is fetched for this and nothing else.
fn cache() -> PathBuf {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../target");
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(beside, PathBuf::from)
}

fn spawn(programs: &Path, service: &str, port: u16, folder: &Path) -> Result<Child, Error> {
    let mut command = Command::new("node");
    command.arg(programs.join(format!("azurite-{service}")));
    command.args([format!("--{service}Host"), "127.0.0.1".to_owned()]);
    command.args([format!("--{service}Port"), port.to_string()]);
    command.arg("--location").arg(folder).args(["--silent", "--skipApiVersionCheck", "--disableTelemetry"]);
    command.current_dir(folder).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().map_err(|e| Error::Io("node, which runs Azurite, could not be started", e))
}
