//! Where scripts run: in worker processes that can be killed, or on the caller's thread.

use crate::call::{Call, Ended, Failed, ScriptContext};
use crate::call::{Host, ScriptError};
use crate::functions::Functions;
use crate::process::{Pool, RemoteFunctions};
use crate::runtime::Elapsed;
use orrery_value::Value;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

#[derive(Clone, Debug)]
pub enum Isolation {
    /// Each script runs in a process of its own, started as `PROGRAM script-worker` and killed at the deadline.
    Process(PathBuf),
    /// Scripts run on the caller's thread, where a long native call cannot be stopped. For tests
    /// without a program.
    Thread,
}

/// Runs scripts. A cheap handle.
#[derive(Clone)]
pub struct Scripts(Option<Arc<Pool>>);

impl Scripts {
    /// Starts the first worker processes, if any are configured.
    pub fn new(isolation: Isolation) -> io::Result<Self> {
        match isolation {
            Isolation::Process(program) => Ok(Self(Some(Pool::start(program)?))),
            Isolation::Thread => Ok(Self(None)),
        }
    }

    /// Runs a procedure or a trigger to its end. The host decides whether to keep the script's writes.
    pub fn run(
        &self,
        body: &str,
        call: Call<'_>,
        context: &ScriptContext<'_>,
        host: &mut dyn Host,
    ) -> Result<Ended, Failed> {
        match &self.0 {
            Some(pool) => crate::process::run(pool, body, call, context, host),
            None => crate::run::run(body, call, context, host),
        }
    }

    /// Begins a session of user-defined functions, for one page of a query.
    pub fn functions(&self, now_ms: u64, seed: u64, elapsed: Elapsed) -> Result<Session, ScriptError> {
        Ok(match &self.0 {
            Some(pool) => Session::Remote(RemoteFunctions::new(pool, now_ms, seed)?),
            None => Session::Local(Functions::new(now_ms, seed, elapsed)?),
        })
    }
}

/// The functions that a page of a query calls. The total time of all calls is bounded.
pub enum Session {
    Local(Functions),
    Remote(RemoteFunctions),
}

impl Session {
    pub fn knows(&self, name: &str) -> bool {
        match self {
            Self::Local(functions) => functions.knows(name),
            Self::Remote(functions) => functions.knows(name),
        }
    }

    pub fn define(&mut self, name: &str, body: &str) -> Result<(), ScriptError> {
        match self {
            Self::Local(functions) => functions.define(name, body),
            Self::Remote(functions) => functions.define(name, body),
        }
    }

    /// Calls a defined function. Undefined is passed through in both directions.
    pub fn call(&mut self, name: &str, args: &[Value]) -> Result<Value, ScriptError> {
        let args: Vec<Option<String>> =
            args.iter().map(|arg| (!arg.is_undefined()).then(|| arg.to_json())).collect();
        let found = match self {
            Self::Local(functions) => functions.call(name, &args),
            Self::Remote(functions) => functions.call(name, &args),
        }?;
        let Some(text) = found else { return Ok(Value::Undefined) };
        Value::parse(&text)
            .map_err(|error| ScriptError::Broken(format!("the function's result is not JSON: {error}")))
    }
}
