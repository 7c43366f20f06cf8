//! A worker process: runs scripts received over its standard input until the server is gone.

use super::message::{Reply, Request, Run};
use super::wire::{Channel, ChannelError};
use crate::call::{Answer, Host, Operation, Refusal};
use crate::call::{ScriptContext, ScriptError};
use crate::functions::Functions;
use crate::limits;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Resource, Rlimit, setrlimit};
use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::rc::Rc;
use std::time::Instant;

/// Standard input, output and error, and one for the socket.
const OPEN_FILES: u64 = 4;

/// Serves the process at the other end of standard input until that ends.
pub fn serve() -> io::Result<()> {
    let stream = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    end_with_the_server(stream.try_clone()?)?;
    take_no_more_than_the_limits()?;
    let mut worker = Worker { channel: Channel::new(stream, usize::MAX), functions: None };
    let mut frame = Vec::new();
    while worker.channel.receive(&mut frame, || true).is_ok() {
        let Ok(request) = Request::decode(&frame) else { break };
        if worker.handle(request).is_err() {
            break;
        }
    }
    Ok(())
}

/// Ends this process when the other end of the socket closes, whatever a script is doing.
fn end_with_the_server(stream: UnixStream) -> io::Result<()> {
    let watch = move || {
        // A hang-up is always reported, so no events are requested.
        let mut watched = [PollFd::new(&stream, PollFlags::empty())];
        loop {
            match poll(&mut watched, None) {
                Err(rustix::io::Errno::INTR) => {}
                _ => std::process::exit(0),
            }
        }
    };
    std::thread::Builder::new().name("lifeline".to_owned()).spawn(watch).map(drop)
}

/// The limits of the process, in addition to those that the JavaScript engine enforces.
fn take_no_more_than_the_limits() -> io::Result<()> {
    let bounds = [
        (Resource::Data, limits::SCRIPT_PROCESS_BYTES_MAX),
        // As many files as are open: nothing else is opened from here on. Core dumps are disabled.
        (Resource::Nofile, OPEN_FILES),
        (Resource::Core, 0),
    ];
    for (resource, most) in bounds {
        setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })?;
    }
    Ok(())
}

struct Worker {
    channel: Channel,
    functions: Option<Result<Functions, ScriptError>>,
}

impl Worker {
    fn handle(&mut self, request: Request<'_>) -> Result<(), ChannelError> {
        match request {
            Request::Run(run) => {
                let ended = self.run(&run);
                self.reply(&Reply::Ended(ended))
            }
            Request::Begin { now_ms, seed } => {
                let began = Instant::now();
                let elapsed = Rc::new(move || began.elapsed().as_millis() as u64);
                self.functions = Some(Functions::new(now_ms, seed, elapsed));
                Ok(())
            }
            Request::Define { name, body } => {
                let defined = self.session(|functions| functions.define(name, body));
                self.reply(&Reply::Defined(defined))
            }
            Request::Invoke { name, args } => {
                let args: Vec<Option<String>> = args.into_iter().map(|arg| arg.map(str::to_owned)).collect();
                let value = self.session(|functions| functions.call(name, &args));
                self.reply(&Reply::Value(value))
            }
            Request::End => {
                self.functions = None;
                Ok(())
            }
            Request::Answer(_) => Err(ChannelError::Malformed),
        }
    }

    fn reply(&mut self, reply: &Reply<'_>) -> Result<(), ChannelError> {
        self.channel.send(&reply.encode(), || true)
    }

    fn run(&mut self, run: &Run<'_>) -> Result<crate::Ended, crate::Failed> {
        let (began, before) = (Instant::now(), run.elapsed_ms);
        let context = ScriptContext {
            name: run.name,
            self_link: run.self_link,
            alt_link: run.alt_link,
            values: run.values,
            now_ms: run.now_ms,
            seed: run.seed,
            limits: run.limits,
            elapsed: Rc::new(move || before + began.elapsed().as_millis() as u64),
        };
        crate::run::run(run.body, run.call, &context, &mut Remote { channel: &mut self.channel })
    }

    fn session<T>(
        &mut self,
        work: impl FnOnce(&mut Functions) -> Result<T, ScriptError>,
    ) -> Result<T, ScriptError> {
        match &mut self.functions {
            Some(Ok(functions)) => work(functions),
            Some(Err(error)) => Err(error.clone()),
            None => Err(ScriptError::Broken("no session has begun".to_owned())),
        }
    }
}

/// The partition, at the other end of the socket.
struct Remote<'a> {
    channel: &'a mut Channel,
}

impl Host for Remote<'_> {
    fn perform(&mut self, operation: Operation<'_>) -> Result<Answer, Refusal> {
        let asked = Reply::Perform(operation).encode();
        if asked.len() > limits::SCRIPT_FRAME_BYTES_MAX {
            let message = format!("The operation has {} bytes, which is too large.", asked.len());
            return Err(Refusal { number: 413, message });
        }
        let mut frame = Vec::new();
        let answered = self.channel.send(&asked, || true).and_then(|()| {
            self.channel.receive(&mut frame, || true)?;
            Request::decode(&frame).map_err(|_| ChannelError::Malformed)
        });
        match answered {
            Ok(Request::Answer(answer)) => answer,
            // Without the server there is no caller to run a script for.
            _ => std::process::exit(1),
        }
    }
}
