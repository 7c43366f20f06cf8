//! User-defined functions, as a query calls them: one runtime a page, made when the first is called.

use orrery_core::ContainerRid;
use orrery_documents::children::{self, Kind, Owner};
use orrery_query::QueryError;
use orrery_query::execute::Host;
use orrery_script::{Functions, ScriptError};
use orrery_store::Read;
use orrery_value::Value;
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Instant;

/// The world of a query, with the functions of its container in it.
pub struct Scripted<'a> {
    world: &'a dyn Host,
    state: &'a dyn Read,
    owner: Owner,
    seed: u64,
    functions: RefCell<Option<Functions>>,
}

impl<'a> Scripted<'a> {
    pub fn new(world: &'a dyn Host, state: &'a dyn Read, container: ContainerRid, seed: u64) -> Self {
        Self { world, state, owner: Owner::Container(container), seed, functions: RefCell::default() }
    }

    fn runtime(&self) -> Result<Functions, QueryError> {
        let began = Instant::now();
        let elapsed = Rc::new(move || began.elapsed().as_millis() as u64);
        Functions::new(self.world.now_ms(), self.seed, elapsed).map_err(|error| refused("", &error))
    }

    fn define(&self, functions: &mut Functions, name: &str) -> Result<(), QueryError> {
        let found = children::find(self.state, &self.owner, Kind::UserDefinedFunction, name);
        let found = found.map_err(|error| QueryError::Storage(error.to_string()))?;
        let function = found.ok_or_else(|| {
            QueryError::Refused(format!("The user-defined function '{name}' is not there; create it first."))
        })?;
        functions.define(name, function.script()).map_err(|error| refused(name, &error))
    }
}

impl Host for Scripted<'_> {
    fn now_ms(&self) -> u64 {
        self.world.now_ms()
    }

    fn random(&self) -> f64 {
        self.world.random()
    }

    fn elapsed_ms(&self) -> u64 {
        self.world.elapsed_ms()
    }

    fn udf(&self, name: &str, args: &[Value]) -> Result<Value, QueryError> {
        let mut slot = self.functions.borrow_mut();
        let functions = match &mut *slot {
            Some(functions) => functions,
            none => none.insert(self.runtime()?),
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
