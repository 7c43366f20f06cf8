//! The worker processes: idle ones, and replacements for those that were killed.

use super::WORKER_VERB;
use super::message::{Reply, Request};
use super::wire::{Channel, ChannelError};
use crate::call::ScriptError;
use crate::limits;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Interval of clock checks while waiting for a worker.
const LOOK_EVERY: Duration = Duration::from_millis(limits::SCRIPT_WAIT_SLICE_MILLIS);
/// The scheduling priority of a long-running worker: everything else goes first.
const LONG_NICENESS: i32 = 10;
/// The exit signal of a Rust program that cannot allocate.
const SIGABRT: i32 = 6;

pub struct Pool {
    program: PathBuf,
    idle: Mutex<Vec<Worker>>,
}

impl Pool {
    pub fn start(program: PathBuf) -> io::Result<Arc<Self>> {
        let first = (0..limits::SCRIPT_WORKERS_WARM).map(|_| Worker::start(&program));
        let idle = Mutex::new(first.collect::<io::Result<_>>()?);
        Ok(Arc::new(Self { program, idle }))
    }

    /// An idle worker, or a new one if there is none.
    pub fn checkout(self: &Arc<Self>) -> Result<Lease, ScriptError> {
        let worker = match self.idle() {
            Some(worker) => worker,
            None => Worker::start(&self.program)
                .map_err(|error| ScriptError::Broken(format!("no process can be started for it: {error}")))?,
        };
        Ok(Lease { worker: Some(worker), pool: self.clone(), began: Instant::now() })
    }

    /// The worker that became idle last. It may have ended meanwhile, killed or out of memory.
    fn idle(&self) -> Option<Worker> {
        loop {
            let mut worker = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop()?;
            if worker.is_running() {
                return Some(worker);
            }
        }
    }

    fn put_back(&self, worker: Worker) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < limits::SCRIPT_WORKERS_IDLE_MAX {
            idle.push(worker);
        }
    }

    /// Starts a replacement worker, so that the next script does not wait for its start.
    fn refill(&self) {
        let is_short = |pool: &Self| {
            pool.idle.lock().unwrap_or_else(PoisonError::into_inner).len() < limits::SCRIPT_WORKERS_WARM
        };
        // A failed start is repeated, and its error reported, when a script needs the worker.
        if is_short(self)
            && let Ok(worker) = Worker::start(&self.program)
        {
            self.put_back(worker);
        }
    }
}

/// A worker process and the socket to it. Dropping it kills the process.
struct Worker {
    process: Child,
    channel: Channel,
    is_slowed: bool,
}

impl Worker {
    fn start(program: &Path) -> io::Result<Self> {
        let (ours, theirs) = UnixStream::pair()?;
        ours.set_read_timeout(Some(LOOK_EVERY))?;
        ours.set_write_timeout(Some(LOOK_EVERY))?;
        let process = Command::new(program)
            // The name in process listings; the program's path may be uninformative.
            .arg0("orrery")
            .arg(WORKER_VERB)
            // No environment of the server, and no terminal signals sent to the server's group.
            .env_clear()
            // The server's allocator would initially reserve more than a worker may have.
            .env("MIMALLOC_ARENA_RESERVE", "0")
            .current_dir("/")
            .process_group(0)
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::null())
            .spawn()?;
        let channel = Channel::new(ours, limits::SCRIPT_FRAME_BYTES_MAX);
        Ok(Self { process, channel, is_slowed: false })
    }

    fn is_running(&mut self) -> bool {
        matches!(self.process.try_wait(), Ok(None))
    }

    /// How the process ended; one that only closed its socket is ended now.
    fn ended(&mut self) -> io::Result<ExitStatus> {
        let _ = self.process.kill();
        self.process.wait()
    }
}

/// Lowers the priority of a long-running script.
fn slow_down(process: &Child) {
    let process = i32::try_from(process.id()).ok().and_then(rustix::process::Pid::from_raw);
    // If this is refused, the script keeps its priority and everything else still holds.
    if process.is_some() {
        let _ = rustix::process::setpriority_process(process, LONG_NICENESS);
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // Fails only if the process has ended and been waited for.
        let _ = self.ended();
    }
}

/// A worker in use. Unless it is returned, it is killed and replaced.
pub struct Lease {
    worker: Option<Worker>,
    pool: Arc<Pool>,
    began: Instant,
}

impl Lease {
    /// Sends a request without a reply.
    pub fn send(&mut self, request: &Request<'_>) -> Result<(), ChannelError> {
        self.worker().channel.send(&request.encode(), || false)
    }

    /// Sends a request and reads the reply into `frame`, both until `deadline`.
    pub fn call<'a>(
        &mut self,
        request: &Request<'_>,
        deadline: Instant,
        frame: &'a mut Vec<u8>,
    ) -> Result<Reply<'a>, ChannelError> {
        let short_until = self.began + Duration::from_millis(limits::SCRIPT_SHORT_MILLIS_MAX);
        let Worker { process, channel, is_slowed } = self.worker();
        let waits = || {
            let now = Instant::now();
            if now > short_until && !*is_slowed {
                slow_down(process);
                *is_slowed = true;
            }
            now < deadline
        };
        channel.send(&request.encode(), || Instant::now() < deadline)?;
        channel.receive(frame, waits)?;
        Reply::decode(frame).map_err(|_| ChannelError::Malformed)
    }

    /// Returns a worker that is ready for the next request.
    pub fn release(mut self) {
        if self.worker.as_ref().is_some_and(|worker| !worker.is_slowed)
            && let Some(worker) = self.worker.take()
        {
            self.pool.put_back(worker);
        }
    }

    /// The script's error after its worker was lost.
    pub fn explain(mut self, error: ChannelError, millis_max: u64) -> ScriptError {
        match error {
            ChannelError::Late => ScriptError::TooLong { millis_max },
            ChannelError::Malformed => {
                ScriptError::Broken("its process sent something else than a reply".to_owned())
            }
            ChannelError::Closed => match self.worker().ended() {
                Ok(status) if status.signal() == Some(SIGABRT) => {
                    ScriptError::OutOfMemory { bytes_max: limits::SCRIPT_MEMORY_BYTES_MAX }
                }
                Ok(status) => ScriptError::Broken(format!("its process ended ({status})")),
                Err(error) => ScriptError::Broken(format!("its process ended ({error})")),
            },
        }
    }

    fn worker(&mut self) -> &mut Worker {
        self.worker.as_mut().expect("the worker is held until the lease ends")
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let Some(worker) = self.worker.take() {
            drop(worker);
            self.pool.refill();
        }
    }
}
