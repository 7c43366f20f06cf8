//! A server process on a folder: started, stopped, killed, started again.
//!
//! The folder outlives the process, which is the point. What the process prints goes to a file beside the
//! ports file, in a temporary folder of its own, and comes back in the error when it does not start.

use std::ffi::OsString;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How long a server may take to write its ports file, and to end after it was asked to.
const START_SECONDS_MAX: u64 = 120;
const STOP_SECONDS_MAX: u64 = 60;
/// How often a start or a stop is looked at.
const POLL: Duration = Duration::from_millis(1);
/// How much of what a server printed an error shows.
const LOG_TAIL_BYTES: usize = 4 * 1024;

#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    #[error("no server binary; build it with `make release` (`make bench` builds its own) or set ORRERY_BIN")]
    NoBinary,
    #[error("{0}: {1}")]
    Io(&'static str, io::Error),
    #[error("the server ended before it was ready ({status}); it printed:\n{log}")]
    Ended { status: ExitStatus, log: String },
    #[error("the server was not ready within {START_SECONDS_MAX} s; it printed:\n{log}")]
    Late { log: String },
    #[error("the ports file does not name the ports: {0}")]
    Ports(String),
    #[error("the server did not end within {STOP_SECONDS_MAX} s of being asked to; it printed:\n{log}")]
    Stuck { log: String },
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    #[default]
    Synced,
    Relaxed,
}

/// How a server is started.
#[derive(Clone, Debug)]
pub struct Options {
    pub binary: PathBuf,
    pub durability: Durability,
    /// The cores it may run on, as `taskset -c` names them; all if `None`.
    pub cores: Option<String>,
    /// What else it is told, after all of this.
    pub arguments: Vec<OsString>,
    /// Environment variables on top of the caller's own.
    pub environment: Vec<(OsString, OsString)>,
}

impl Options {
    pub fn new(binary: PathBuf) -> Self {
        Self {
            binary,
            durability: Durability::default(),
            cores: None,
            arguments: Vec::new(),
            environment: Vec::new(),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ports {
    pub cosmos: u16,
    pub services: u16,
    pub queue: u16,
    pub table: u16,
}

#[derive(Debug)]
pub struct ServerProcess {
    child: Child,
    ports: Ports,
    scratch: TempDir,
}

impl ServerProcess {
    /// Starts a server on the folder and waits until it is ready to answer.
    pub fn start(folder: &Path, options: &Options) -> Result<Self, ServerError> {
        let scratch =
            TempDir::with_prefix("orrery-run-").map_err(|e| ServerError::Io("no scratch folder", e))?;
        let mut child = spawn(folder, options, scratch.path())?;
        match wait_until_ready(&mut child, scratch.path()) {
            Ok(ports) => Ok(Self { child, ports, scratch }),
            Err(error) => {
                end(&mut child);
                Err(error)
            }
        }
    }

    pub fn ports(&self) -> Ports {
        self.ports
    }

    /// Where the document protocol is answered.
    pub fn cosmos(&self) -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], self.ports.cosmos))
    }

    /// Where the queue protocol is answered.
    pub fn queue(&self) -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], self.ports.queue))
    }

    /// Where the table protocol is answered.
    pub fn table(&self) -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], self.ports.table))
    }

    pub fn process_id(&self) -> u32 {
        self.child.id()
    }

    /// What the server printed so far; at most its end.
    pub fn log(&self) -> String {
        log_tail(self.scratch.path())
    }

    /// Everything the server has printed.
    pub fn whole_log(&self) -> String {
        let bytes = std::fs::read(self.scratch.path().join("log")).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Whether the process still runs; a server that ended by itself has crashed.
    pub fn is_running(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// `kill -9`: no code of the server runs after this.
    pub fn kill(mut self) -> Result<(), ServerError> {
        self.child.kill().map_err(|e| ServerError::Io("the server could not be killed", e))?;
        self.child.wait().map_err(|e| ServerError::Io("the killed server could not be waited for", e))?;
        Ok(())
    }

    /// SIGTERM, then waits for the end and says how it went.
    pub fn stop(mut self) -> Result<ExitStatus, ServerError> {
        let asked = Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status();
        asked.map_err(|e| ServerError::Io("`kill` could not be run", e))?;
        let until = Instant::now() + Duration::from_secs(STOP_SECONDS_MAX);
        while Instant::now() < until {
            let ended = self.child.try_wait();
            if let Some(status) =
                ended.map_err(|e| ServerError::Io("the server could not be waited for", e))?
            {
                return Ok(status);
            }
            std::thread::sleep(POLL);
        }
        Err(ServerError::Stuck { log: self.log() })
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        end(&mut self.child);
    }
}

/// The binary that was built last, in either profile, or what `ORRERY_BIN` names.
pub fn newest_binary() -> Result<PathBuf, ServerError> {
    let built = ["release", "debug"].map(|profile| target_folder().join(profile).join("orrery"));
    let age = |path: &PathBuf| path.metadata().and_then(|meta| meta.modified()).ok();
    let newest = built.into_iter().filter(|path| path.is_file()).max_by_key(age);
    named_binary().or(newest).ok_or(ServerError::NoBinary)
}

/// The `dist` binary, or what `ORRERY_BIN` names: what is measured.
pub fn dist_binary() -> Result<PathBuf, ServerError> {
    let built = Some(target_folder().join("dist/orrery")).filter(|path| path.is_file());
    named_binary().or(built).ok_or(ServerError::NoBinary)
}

fn named_binary() -> Option<PathBuf> {
    std::env::var_os("ORRERY_BIN").map(PathBuf::from)
}

fn target_folder() -> PathBuf {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target");
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(beside, PathBuf::from)
}

fn spawn(folder: &Path, options: &Options, scratch: &Path) -> Result<Child, ServerError> {
    let log = std::fs::File::create(scratch.join("log")).map_err(|e| ServerError::Io("no log file", e))?;
    let errors = log.try_clone().map_err(|e| ServerError::Io("no log file", e))?;
    let durability = match options.durability {
        Durability::Synced => "synced",
        Durability::Relaxed => "relaxed",
    };
    command(options)
        .args(["serve", "--host", "127.0.0.1", "--free-ports"])
        .args(["--durability", durability])
        .arg("--data")
        .arg(folder)
        .arg("--ports-file")
        .arg(scratch.join("ports.json"))
        .args(&options.arguments)
        .envs(options.environment.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .stdout(log)
        .stderr(errors)
        .spawn()
        .map_err(|e| ServerError::Io("the server could not be started", e))
}

/// `taskset` becomes the server it starts, so the process id is the server's either way.
fn command(options: &Options) -> Command {
    match &options.cores {
        None => Command::new(&options.binary),
        Some(cores) => {
            let mut command = Command::new("taskset");
            command.args(["-c", cores]).arg(&options.binary);
            command
        }
    }
}

fn wait_until_ready(child: &mut Child, scratch: &Path) -> Result<Ports, ServerError> {
    let file = scratch.join("ports.json");
    let until = Instant::now() + Duration::from_secs(START_SECONDS_MAX);
    while Instant::now() < until {
        if let Ok(text) = std::fs::read_to_string(&file) {
            return parse_ports(&text).ok_or(ServerError::Ports(text));
        }
        if let Ok(Some(status)) = child.try_wait() {
            return Err(ServerError::Ended { status, log: log_tail(scratch) });
        }
        std::thread::sleep(POLL);
    }
    Err(ServerError::Late { log: log_tail(scratch) })
}

fn parse_ports(text: &str) -> Option<Ports> {
    let ports: serde_json::Value = serde_json::from_str(text).ok()?;
    let port = |name: &str| u16::try_from(ports.get(name)?.as_u64()?).ok();
    Some(Ports {
        cosmos: port("cosmos")?,
        services: port("services")?,
        // A build from before there were these has none.
        queue: port("queue").unwrap_or_default(),
        table: port("table").unwrap_or_default(),
    })
}

fn log_tail(scratch: &Path) -> String {
    let bytes = std::fs::read(scratch.join("log")).unwrap_or_default();
    String::from_utf8_lossy(&bytes[bytes.len().saturating_sub(LOG_TAIL_BYTES)..]).into_owned()
}

/// A process that has ended already cannot be killed, and that is as good.
fn end(child: &mut Child) {
    let _ = child.kill();
    let _ = child.wait();
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    /// A stand-in for the server: a shell script. Its tenth argument pair is the ports file.
    fn script(text: &str) -> (TempDir, Options) {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("server");
        std::fs::write(&path, format!("#!/bin/sh\nfor last; do :; done\n{text}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        (folder, Options::new(path))
    }

    const READY: &str =
        r#"echo '{"cosmos":1,"services":2,"queue":3,"table":4}' > "$last.new"; mv "$last.new" "$last""#;

    #[test]
    fn a_ready_server_tells_its_ports_and_stops_when_asked() {
        let (folder, options) = script(&format!("trap 'exit 0' TERM\n{READY}\nwhile :; do sleep 0.01; done"));
        let mut server = ServerProcess::start(folder.path(), &options).unwrap();
        assert_eq!(server.ports(), Ports { cosmos: 1, services: 2, queue: 3, table: 4 });
        assert!(server.is_running());
        assert!(server.stop().unwrap().success());
    }

    #[test]
    fn a_stop_that_fails_is_told_apart() {
        let (folder, options) = script(&format!("trap 'exit 3' TERM\n{READY}\nwhile :; do sleep 0.01; done"));
        let server = ServerProcess::start(folder.path(), &options).unwrap();
        assert_eq!(server.stop().unwrap().code(), Some(3));
    }

    #[test]
    fn a_server_that_ends_at_once_shows_what_it_printed() {
        let (folder, options) = script("echo the folder is locked >&2; exit 7");
        let error = ServerProcess::start(folder.path(), &options).unwrap_err().to_string();
        assert!(error.contains("the folder is locked"), "{error}");
    }

    #[test]
    fn a_killed_server_is_gone() {
        let (folder, options) = script(&format!("trap '' TERM\n{READY}\nwhile :; do sleep 0.01; done"));
        let server = ServerProcess::start(folder.path(), &options).unwrap();
        let process = PathBuf::from(format!("/proc/{}", server.process_id()));
        assert!(process.exists());
        server.kill().unwrap();
        assert!(!process.exists());
    }

    #[test]
    fn ports_that_are_not_numbers_are_refused() {
        assert_eq!(parse_ports(r#"{"cosmos":"1","services":2,"queue":3,"table":4}"#), None);
        assert_eq!(parse_ports("{"), None);
        let old = Ports { cosmos: 1, services: 2, queue: 0, table: 0 };
        assert_eq!(parse_ports(r#"{"cosmos":1,"services":2}"#), Some(old));
    }
}
