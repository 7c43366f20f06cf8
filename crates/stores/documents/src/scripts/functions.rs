//! User-defined functions as a query calls them: one session per page, opened by the first call.

use crate::store::Store;
use orrery_core::ContainerRid;
use orrery_documents::subresources::{self, Kind, Owner};
use orrery_kv::Read;
use orrery_query::QueryError;
use orrery_query::execute::Host;
use orrery_script::{ScriptError, Session};
use orrery_value::Value;
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Instant;

/// The host of a query, with the user-defined functions of its container.
pub struct WithFunctions<'a> {
    host: &'a dyn Host,
    store: &'a Store,
    state: &'a dyn Read,
    owner: Owner,
    functions: RefCell<Option<Session>>,
}

impl<'a> WithFunctions<'a> {
    pub fn new(host: &'a dyn Host, store: &'a Store, state: &'a dyn Read, container: ContainerRid) -> Self {
        Self { host, store, state, owner: Owner::Container(container), functions: RefCell::default() }
    }

    fn session(&self) -> Result<Session, QueryError> {
        let began = Instant::now();
        let elapsed = Rc::new(move || began.elapsed().as_millis() as u64);
        let seed = self.store.env().random_u64();
        let session = self.store.scripts().functions(self.host.now_ms(), seed, elapsed);
        session.map_err(|error| refused("", &error))
    }

    fn define(&self, functions: &mut Session, name: &str) -> Result<(), QueryError> {
        let found = subresources::find(self.state, &self.owner, Kind::UserDefinedFunction, name);
        let found = found.map_err(|error| QueryError::Storage(error.to_string()))?;
        let function = found.ok_or_else(|| {
            QueryError::Refused(format!("The user-defined function '{name}' is not there; create it first."))
        })?;
        functions.define(name, function.script()).map_err(|error| refused(name, &error))
    }
}

impl Host for WithFunctions<'_> {
    fn now_ms(&self) -> u64 {
        self.host.now_ms()
    }

    fn random(&self) -> f64 {
        self.host.random()
    }

    fn elapsed_ms(&self) -> u64 {
        self.host.elapsed_ms()
    }

    fn reserve(&self, bytes: usize) -> Result<(), QueryError> {
        self.host.reserve(bytes)
    }

    fn udf(&self, name: &str, args: &[Value]) -> Result<Value, QueryError> {
        let mut slot = self.functions.borrow_mut();
        let functions = match &mut *slot {
            Some(functions) => functions,
            none => none.insert(self.session()?),
        };
        if !functions.knows(name) {
            self.define(functions, name)?;
        }
        functions.call(name, args).map_err(|error| refused(name, &error))
    }
}

fn refused(name: &str, error: &ScriptError) -> QueryError {
    match error {
        ScriptError::TooLong { .. } => {
            QueryError::TooLong(format!("The user-defined function '{name}': {error}"))
        }
        _ => QueryError::Refused(format!("The user-defined function '{name}' failed. {error}")),
    }
}
