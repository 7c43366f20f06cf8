//! Many consumers of one queue, half of them processes and half tasks, each killed at a random moment and replaced by another
//! one; and the server killed under all of them a few times. In the end every message is completed.
//!
//! ```text
//!   putters ──▶ queue ──▶ consumers: got, done, gone ──▶ a log each ──▶ audit
//!                 ▲             ▲
//!              kill -9       kill -9, or the connection cut in the middle of a request
//! ```

mod consumer;
pub mod deliveries;

use crate::history::Seq;
use crate::queues::message;
use crate::rounds::Failure;
use consumer::QUEUE;
pub use consumer::{ConsumerError, consume};
use deliveries::{Expected, Line, audit_deliveries};
use orrery_core::{Env, Timestamp};
use orrery_testing_client::{Client, ClientError, Method, ServerProcess, StorageRequest, message_body};
use std::fmt;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;

/// Between two kills of consumers.
const KILL_MILLIS_MAX: u64 = 20;
/// Messages that are put at once, so that the queue is never empty before the end.
const PUT_AT_ONCE: usize = 50;
/// How long all of it may take.
const SECONDS_MAX: u64 = 180;

#[derive(Clone, Debug)]
pub struct Options {
    pub server: orrery_testing_client::Options,
    /// The binary of this crate, which is also the consumer.
    pub program: PathBuf,
    pub seed: u64,
    pub consumers: usize,
    pub messages: usize,
    /// How often the server is killed.
    pub server_kills: usize,
}

#[derive(Clone, Copy, Debug)]
pub struct Summary {
    pub messages: usize,
    pub deliveries: usize,
    pub completions: usize,
    pub consumers_killed: usize,
    pub servers_killed: usize,
    pub took: Duration,
}

/// Runs on a temporary folder, which is kept if anything is wrong.
pub fn run(options: &Options) -> Result<Summary, Failure> {
    let folder = TempDir::with_prefix("orrery-crash-").map_err(|e| Failure::Io("no folder", e))?;
    let outcome = Scene::run(folder.path(), options);
    if let Err(Failure::Deliveries { .. }) = outcome {
        let _ = folder.keep();
    }
    outcome
}

/// One that consumes, and ends when it is dropped: a process is killed, a task cut off wherever it is.
enum Running {
    Process(Child),
    Task(JoinHandle<()>),
}

impl Drop for Running {
    fn drop(&mut self) {
        match self {
            Self::Process(child) => {
                let _ = child.kill();
                let _ = child.wait();
            }
            Self::Task(task) => task.abort(),
        }
    }
}

struct Scene<'a> {
    folder: &'a Path,
    options: &'a Options,
    runtime: Runtime,
    env: Env,
    random: Env,
    consumers: Vec<Running>,
    /// Consumers there ever were; each has a log of its own.
    begun: usize,
    /// Messages that there was an attempt to put.
    named: usize,
    expected: Expected,
}

impl<'a> Scene<'a> {
    fn run(folder: &'a Path, options: &'a Options) -> Result<Summary, Failure> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        let scene = Self {
            folder,
            options,
            runtime: runtime.map_err(|e| Failure::Io("no runtime", e))?,
            env: Env::system()?,
            random: Env::seeded(Timestamp::default(), options.seed),
            consumers: Vec::new(),
            begun: 0,
            named: 0,
            expected: Expected::default(),
        };
        scene.play()
    }

    fn play(mut self) -> Result<Summary, Failure> {
        let (data, began) = (self.folder.join("data"), Instant::now());
        std::fs::create_dir_all(self.folder.join("logs")).map_err(|e| Failure::Io("no folder", e))?;
        let mut server = ServerProcess::start(&data, &self.options.server)?;
        self.create_queue(&server)?;
        self.replace_all(&server)?;
        let mut killed = (0, 0);
        let kill_every = self.options.messages / (self.options.server_kills + 1);
        while self.work_is_left(&server, began)? {
            let puts = self.begin_puts(&server);
            self.kill_one(&server)?;
            killed.0 += 1;
            if killed.1 < self.options.server_kills && self.named > kill_every * (killed.1 + 1) {
                server.kill()?;
                killed.1 += 1;
                server = ServerProcess::start(&data, &self.options.server)?;
                self.replace_all(&server)?;
            }
            self.end_puts(puts);
        }
        self.consumers.clear();
        let lines = self.lines()?;
        let findings = audit_deliveries(&self.expected, &lines);
        if !findings.is_empty() {
            let (seed, folder) = (self.options.seed, self.folder.to_owned());
            return Err(Failure::Deliveries { seed, folder, findings });
        }
        let count = |is: fn(&Line) -> bool| lines.iter().filter(|line| is(line)).count();
        Ok(Summary {
            messages: self.expected.put.len(),
            deliveries: count(|line| matches!(line, Line::Got { .. })),
            completions: count(|line| matches!(line, Line::Done { .. })),
            consumers_killed: killed.0,
            servers_killed: killed.1,
            took: began.elapsed(),
        })
    }

    fn create_queue(&self, server: &ServerProcess) -> Result<(), Failure> {
        let mut client = Client::new(server.queue(), self.env.clone());
        let create = StorageRequest::queue(Method::Put, QUEUE);
        let made = self.runtime.block_on(client.call_storage(&create))?;
        if made.status == 201 {
            Ok(())
        } else {
            Err(Failure::Setup(format!("the queue got {}", made.status)))
        }
    }

    /// Sends some puts at once, if there are still some to be put.
    fn begin_puts(&mut self, server: &ServerProcess) -> Vec<JoinHandle<(Seq, bool)>> {
        let names = self.named..(self.named + PUT_AT_ONCE).min(self.options.messages);
        self.named = names.end;
        let put = |name| {
            let text = message::text(name, name, self.random.random_u64());
            self.runtime.spawn(put(server.queue(), self.env.clone(), name, text))
        };
        names.map(|name| put(name as Seq)).collect()
    }

    fn end_puts(&mut self, puts: Vec<JoinHandle<(Seq, bool)>>) {
        for one in puts {
            let (name, is_put) = self.runtime.block_on(one).expect("a put does not panic");
            let names = if is_put { &mut self.expected.put } else { &mut self.expected.maybe_put };
            names.insert(name);
        }
    }

    /// Whether messages are still to be put or consumed.
    fn work_is_left(&mut self, server: &ServerProcess, began: Instant) -> Result<bool, Failure> {
        let mut client = Client::new(server.queue(), self.env.clone());
        let metadata = StorageRequest::queue(Method::Get, QUEUE).parameter("comp", "metadata");
        let reply = self.runtime.block_on(client.call_storage(&metadata))?;
        let count = reply.header("x-ms-approximate-messages-count").and_then(|count| count.parse().ok());
        self.expected.left = count.ok_or_else(|| Failure::Setup("the queue has no count".to_owned()))?;
        let is_late = began.elapsed() > Duration::from_secs(SECONDS_MAX);
        Ok(!is_late && (self.expected.left > 0 || self.named < self.options.messages))
    }

    /// Kills a consumer and starts another one in its place.
    fn kill_one(&mut self, server: &ServerProcess) -> Result<(), Failure> {
        std::thread::sleep(Duration::from_millis(self.random.random_u64() % KILL_MILLIS_MAX));
        let at = (self.random.random_u64() % self.consumers.len() as u64) as usize;
        self.consumers[at] = self.begin(server.queue())?;
        Ok(())
    }

    fn replace_all(&mut self, server: &ServerProcess) -> Result<(), Failure> {
        self.consumers.clear();
        for _ in 0..self.options.consumers {
            let one = self.begin(server.queue())?;
            self.consumers.push(one);
        }
        Ok(())
    }

    fn begin(&mut self, address: SocketAddr) -> Result<Running, Failure> {
        self.begun += 1;
        let log = self.folder.join("logs").join(self.begun.to_string());
        let seed = self.random.random_u64();
        if self.begun.is_multiple_of(2) {
            let env = self.env.clone();
            // Why it ends is in its log.
            let task = async move { drop(consume(address, &log, env, seed).await) };
            return Ok(Running::Task(self.runtime.spawn(task)));
        }
        let child = Command::new(&self.options.program)
            .args(["consume", "--address", &address.to_string(), "--seed", &seed.to_string(), "--log"])
            .arg(&log)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        Ok(Running::Process(child.map_err(|e| Failure::Io("no consumer can be started", e))?))
    }

    fn lines(&self) -> Result<Vec<Line>, Failure> {
        let mut lines = Vec::new();
        for number in 1..=self.begun {
            // One that was killed at once has none.
            let log = std::fs::read_to_string(self.folder.join("logs").join(number.to_string()))
                .unwrap_or_default();
            lines.extend(deliveries::read(&log).map_err(Failure::Setup)?);
        }
        Ok(lines)
    }
}

/// Whether the put was answered as done; if not, nobody knows.
async fn put(address: SocketAddr, env: Env, name: Seq, text: String) -> (Seq, bool) {
    let mut client = Client::new(address, env);
    let request = StorageRequest::queue(Method::Post, format!("{QUEUE}/messages"));
    let request = request.body("application/xml", message_body(&text));
    let reply: Result<_, ClientError> = client.call_storage(&request).await;
    (name, reply.is_ok_and(|reply| reply.status == 201))
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { messages, deliveries, completions, consumers_killed, servers_killed, took } = self;
        write!(
            f,
            "{messages} messages, delivered {deliveries} times and completed {completions} times by consumers of which \
             {consumers_killed} were killed, on a server that was killed {servers_killed} times, in {took:?}"
        )
    }
}
