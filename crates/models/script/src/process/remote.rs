//! The server's side of a run and of a session of functions.

use super::message::{Reply, Request, Run};
use super::pool::{Lease, Pool};
use crate::call::{Call, Ended, Failed, ScriptContext};
use crate::call::{Host, ScriptError};
use crate::limits;
use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// When a worker is killed: after the script's time limit, so that the worker can end it properly first.
fn kill_after(millis: u64) -> Instant {
    Instant::now() + Duration::from_millis(millis.saturating_add(limits::SCRIPT_KILL_GRACE_MILLIS))
}

pub fn run(
    pool: &Arc<Pool>,
    body: &str,
    call: Call<'_>,
    context: &ScriptContext<'_>,
    host: &mut dyn Host,
) -> Result<Ended, Failed> {
    let mut lease = pool.checkout().map_err(silent)?;
    let (limits, elapsed_ms) = (context.limits, (context.elapsed)());
    let deadline = kill_after(limits.millis_max.saturating_sub(elapsed_ms));
    let ScriptContext { name, self_link, alt_link, values, now_ms, seed, .. } = *context;
    let run = Run { body, call, name, self_link, alt_link, values, now_ms, seed, limits, elapsed_ms };
    let mut request = Request::Run(Box::new(run));
    let mut frame = Vec::new();
    loop {
        match lease.call(&request, deadline, &mut frame) {
            Ok(Reply::Perform(operation)) => request = Request::Answer(host.perform(operation)),
            Ok(Reply::Ended(ended)) => {
                // After an out-of-memory error the process may not release all memory.
                let is_full = matches!(&ended, Err(Failed { error: ScriptError::OutOfMemory { .. }, .. }));
                if !is_full {
                    lease.release();
                }
                return ended;
            }
            Ok(Reply::Defined(_) | Reply::Value(_)) => return Err(silent(unexpected())),
            Err(error) => return Err(silent(lease.explain(error, limits.millis_max))),
        }
    }
}

/// The log of a killed script is lost.
fn silent(error: ScriptError) -> Failed {
    Failed { error, log: String::new() }
}

fn unexpected() -> ScriptError {
    ScriptError::Broken("its process sent a reply to another request".to_owned())
}

/// User-defined functions in a worker.
pub struct RemoteFunctions {
    /// `None` once the worker was lost; then every call reports why.
    lease: Result<Lease, ScriptError>,
    known: HashSet<String>,
    used_ms: u64,
}

impl RemoteFunctions {
    pub(crate) fn new(pool: &Arc<Pool>, now_ms: u64, seed: u64) -> Result<Self, ScriptError> {
        let mut lease = pool.checkout()?;
        let lease = match lease.send(&Request::Begin { now_ms, seed }) {
            Ok(()) => Ok(lease),
            Err(error) => Err(lease.explain(error, limits::UDF_MILLIS_MAX)),
        };
        Ok(Self { lease, known: HashSet::new(), used_ms: 0 })
    }

    pub(crate) fn knows(&self, name: &str) -> bool {
        self.known.contains(name)
    }

    pub(crate) fn define(&mut self, name: &str, body: &str) -> Result<(), ScriptError> {
        self.exchange(&Request::Define { name, body }, |reply| match reply {
            Reply::Defined(defined) => Some(defined),
            _ => None,
        })??;
        self.known.insert(name.to_owned());
        Ok(())
    }

    /// Calls a function with arguments as JSON; returns its value as JSON. `None` is undefined.
    pub(crate) fn call(
        &mut self,
        name: &str,
        args: &[Option<String>],
    ) -> Result<Option<String>, ScriptError> {
        let args = args.iter().map(Option::as_deref).collect();
        self.exchange(&Request::Invoke { name, args }, |reply| match reply {
            Reply::Value(value) => Some(value),
            _ => None,
        })?
    }

    fn exchange<T>(
        &mut self,
        request: &Request<'_>,
        pick: impl FnOnce(Reply<'_>) -> Option<T>,
    ) -> Result<T, ScriptError> {
        let lease = self.lease.as_mut().map_err(|error| error.clone())?;
        let began = Instant::now();
        let left_ms = limits::UDF_MILLIS_MAX.saturating_sub(self.used_ms);
        let mut frame = Vec::new();
        let found = lease.call(request, kill_after(left_ms), &mut frame).map(pick);
        self.used_ms += began.elapsed().as_millis() as u64;
        let error = match found {
            Ok(Some(found)) => return Ok(found),
            Ok(None) => unexpected(),
            Err(error) => {
                let lease = std::mem::replace(&mut self.lease, Err(unexpected()));
                match lease {
                    Ok(lease) => lease.explain(error, limits::UDF_MILLIS_MAX),
                    Err(error) => error,
                }
            }
        };
        self.lease = Err(error.clone());
        Err(error)
    }
}

impl Drop for RemoteFunctions {
    fn drop(&mut self) {
        let lease = std::mem::replace(&mut self.lease, Err(unexpected()));
        if let Ok(mut lease) = lease
            && lease.send(&Request::End).is_ok()
        {
            lease.release();
        }
    }
}
