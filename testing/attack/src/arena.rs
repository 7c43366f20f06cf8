//! Where one attack takes place: a data folder, a scratch folder, the server's binary, and blocking calls to a server.

use orrery_core::{Env, Timestamp};
use orrery_testing_client::{
    Client, ContainerPath, Method, Options, OwnedReply, Request, ServerProcess, Signer, StorageRequest,
};
use serde_json::{Value, json};
use std::ffi::OsString;
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};

/// How long a raw exchange waits for the next bytes before it counts as a hang.
const RAW_SECONDS_MAX: u64 = 30;
/// The most that a raw exchange reads of an answer.
const RAW_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// What attacks on storage ports use.
pub const QUEUE: &str = "attacked";
pub const TABLE: &str = "attacked";

pub struct Arena {
    binary: PathBuf,
    /// Whether the long form of the attack is wanted.
    pub is_long: bool,
    scratch: TempDir,
    runtime: Runtime,
    env: Env,
}

impl Arena {
    pub fn new(binary: PathBuf, is_long: bool) -> Result<Self, String> {
        let scratch = TempDir::with_prefix("orrery-attack-").map_err(|error| error.to_string())?;
        let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build();
        let runtime = runtime.map_err(|error| error.to_string())?;
        let env = Env::system().map_err(|error| error.to_string())?;
        Ok(Self { binary, is_long, scratch, runtime, env })
    }

    /// Chooses the number of repetitions by the form that is wanted.
    pub fn rounds(&self, short: usize, long: usize) -> usize {
        if self.is_long { long } else { short }
    }

    /// The server's binary, for verbs other than `serve`.
    pub fn binary(&self) -> &Path {
        &self.binary
    }

    /// The data folder of this attack; a start makes it.
    pub fn data(&self) -> PathBuf {
        self.scratch.path().join("data")
    }

    /// A folder for anything else; removed when the attack has ended.
    pub fn scratch(&self) -> &Path {
        self.scratch.path()
    }

    /// Starts a server on this attack's folder, with further arguments for `serve`.
    pub fn start(&self, arguments: &[&str]) -> Result<ServerProcess, String> {
        self.start_on(&self.data(), arguments, &[])
    }

    /// Starts a server on any folder, with further arguments and environment variables.
    pub fn start_on(
        &self,
        folder: &Path,
        arguments: &[&str],
        environment: &[(&str, OsString)],
    ) -> Result<ServerProcess, String> {
        let mut options = Options::new(self.binary.clone());
        options.arguments = arguments.iter().map(OsString::from).collect();
        options.environment =
            environment.iter().map(|(name, value)| (OsString::from(name), value.clone())).collect();
        ServerProcess::start(folder, &options).map_err(|error| error.to_string())
    }

    /// Runs a future to its end; for attacks that want many connections at once.
    pub fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        self.runtime.block_on(future)
    }

    /// Signs requests with the published key and the current time.
    pub fn signer(&self) -> Signer {
        Signer::emulator(self.env.now())
    }

    /// The current time, which storage requests are signed for.
    pub fn now(&self) -> Timestamp {
        self.env.now()
    }

    /// The reply of a storage port, whatever its status, on a connection of its own.
    pub fn call_storage(&self, port: SocketAddr, request: &StorageRequest) -> Result<OwnedReply, String> {
        let mut client = Client::new(port, self.env.clone());
        self.runtime.block_on(client.call_storage(request)).map_err(|error| error.to_string())
    }

    /// The reply, which must have this status and, if it is a refusal, this code.
    pub fn expect_storage(
        &self,
        status: u16,
        code: &str,
        port: SocketAddr,
        request: &StorageRequest,
    ) -> Result<OwnedReply, String> {
        let reply = self.call_storage(port, request)?;
        if (reply.status, reply.header("x-ms-error-code").unwrap_or_default()) != (status, code) {
            let said: String = String::from_utf8_lossy(&reply.body).chars().take(400).collect();
            let target = request.target();
            return Err(format!(
                "{target} is answered with {} instead of {status} {code}: {said}",
                reply.status
            ));
        }
        Ok(reply)
    }

    /// Makes a queue and a table, both without anything in them.
    pub fn make_queue_and_table(&self, server: &ServerProcess) -> Result<(), String> {
        self.expect_storage(201, "", server.queue(), &StorageRequest::queue(Method::Put, QUEUE))?;
        let table = format!("{{\"TableName\":\"{TABLE}\"}}");
        let table = StorageRequest::table(Method::Post, "Tables").body("application/json", table);
        self.expect_storage(201, "", server.table(), &table).map(drop)
    }

    /// Fails unless the queue and the table of [`make_queue_and_table`](Self::make_queue_and_table) are there, and empty.
    pub fn check_nothing_is_stored(&self, server: &ServerProcess) -> Result<(), String> {
        let metadata = StorageRequest::queue(Method::Get, QUEUE).parameter("comp", "metadata");
        let queue = self.expect_storage(200, "", server.queue(), &metadata)?;
        let count = queue.header("x-ms-approximate-messages-count").unwrap_or_default();
        let all = StorageRequest::table(Method::Get, format!("{TABLE}()"));
        let rows = self.expect_storage(200, "", server.table(), &all)?;
        let rows = rows.json().and_then(|page| page["value"].as_array().map(Vec::len));
        if (count, rows) == ("0", Some(0)) {
            return Ok(());
        }
        Err(format!("there are {count} messages and {rows:?} entities, although all was refused"))
    }

    /// A client for the server's Cosmos DB port; it connects at its first call.
    pub fn caller(&self, server: &ServerProcess) -> Caller<'_> {
        Caller { arena: self, client: Client::new(server.cosmos(), self.env.clone()) }
    }

    /// Sends bytes as they are and returns everything that comes back until the server closes the connection. Half-closes after
    /// sending, so a server that waits for more sees the end.
    pub fn raw(&self, address: SocketAddr, bytes: &[u8]) -> Result<Vec<u8>, String> {
        self.send(address, bytes, |stream| drop(stream.shutdown(Shutdown::Write)))
    }

    /// As [`raw`](Self::raw) for a request that says `Connection: close`: a client that stays for its answer.
    pub fn ask(&self, address: SocketAddr, request: &str) -> Result<String, String> {
        let answer = self.send(address, request.as_bytes(), |_| ())?;
        Ok(String::from_utf8_lossy(&answer).into_owned())
    }

    fn send(
        &self,
        address: SocketAddr,
        bytes: &[u8],
        sent: impl FnOnce(&TcpStream),
    ) -> Result<Vec<u8>, String> {
        let limit = Some(Duration::from_secs(RAW_SECONDS_MAX));
        let mut stream = TcpStream::connect(address).map_err(|error| format!("no connection: {error}"))?;
        stream.set_read_timeout(limit).map_err(|error| error.to_string())?;
        stream.set_write_timeout(limit).map_err(|error| error.to_string())?;
        // A server that refuses early may close while it is still being written to.
        let _ = stream.write_all(bytes);
        sent(&stream);
        let mut answer = Vec::new();
        match stream.take(RAW_BYTES_MAX).read_to_end(&mut answer) {
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
                Err(format!("the connection was not closed within {RAW_SECONDS_MAX} s"))
            }
            // A reset after an early refusal; what came before it counts.
            _ => Ok(answer),
        }
    }

    /// Fails unless the server runs, answers, and has not panicked.
    pub fn check_well(&self, server: &mut ServerProcess) -> Result<(), String> {
        if !server.is_running() {
            return Err(format!("the server has ended; it printed:\n{}", server.log()));
        }
        let account = self.caller(server).call(&Request::new(Method::Get, ""))?;
        if account.status != 200 {
            return Err(format!("the account is answered with {}", account.status));
        }
        let log = server.whole_log();
        match log.lines().find(|line| line.contains("panicked at")) {
            Some(line) => Err(format!("the server panicked: {line}")),
            None => Ok(()),
        }
    }
}

/// Blocking calls of the testing client.
pub struct Caller<'a> {
    arena: &'a Arena,
    client: Client,
}

impl Caller<'_> {
    /// The reply, whatever its status.
    pub fn call(&mut self, request: &Request) -> Result<OwnedReply, String> {
        self.arena.runtime.block_on(self.client.call(request)).map_err(|error| error.to_string())
    }

    /// The reply, which must have this status.
    pub fn expect(&mut self, status: u16, request: &Request) -> Result<OwnedReply, String> {
        let reply = self.call(request)?;
        if reply.status != status {
            let body = String::from_utf8_lossy(&reply.body).into_owned();
            return Err(format!("{request:?} is answered with {} instead of {status}: {body}", reply.status));
        }
        Ok(reply)
    }

    /// Makes database `d` and container `c`, partitioned by `/pk`; `more` adds to the container's definition.
    pub fn make_container(&mut self, more: &Value) -> Result<ContainerPath, String> {
        let path = ContainerPath::new("d", "c");
        let runtime = &self.arena.runtime;
        let database = runtime.block_on(self.client.create_database(&path.database));
        let database = database.map_err(|error| error.to_string())?;
        let container = runtime.block_on(self.client.create_container(&path, more));
        let container = container.map_err(|error| error.to_string())?;
        if (database.status, container.status) != (201, 201) {
            return Err(format!("making d/c was answered {} and {}", database.status, container.status));
        }
        Ok(path)
    }

    /// Makes database `d` and container `c` with this many small items in partition `p`, their ids `0`, `1`, ….
    pub fn make_items(&mut self, count: usize) -> Result<ContainerPath, String> {
        let path = self.make_container(&json!({}))?;
        for n in 0..count {
            let item = json!({"id": n.to_string(), "pk": "p", "n": n});
            self.expect(201, &path.create("p", item.to_string()))?;
        }
        Ok(path)
    }
}
