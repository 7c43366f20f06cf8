//! User-defined functions: values in, a value out, any number of calls per runtime.

use crate::call::ScriptError;
use crate::compile::compile;
use crate::limits;
use crate::runtime::{Elapsed, Limits, Machine, Prelude, Shared, broken};
use rquickjs::function::Args;
use rquickjs::{Ctx, Function, Persistent, Value as JsValue};
use std::collections::HashMap;

/// The functions that a page of a query calls. Their total time is bounded.
pub struct Functions {
    // Before the machine, which must outlive them.
    known: HashMap<String, Persistent<Function<'static>>>,
    machine: Machine,
    used_ms: u64,
}

impl Functions {
    pub fn new(now_ms: u64, seed: u64, elapsed: Elapsed) -> Result<Self, ScriptError> {
        let limits = Limits { millis_max: limits::UDF_MILLIS_MAX, ..Limits::default() };
        let machine = Machine::new(Shared::new(limits, elapsed, seed))?;
        machine.context.with(|ctx| machine.prelude(&ctx, &Prelude::Bare { now_ms }).map(drop))?;
        Ok(Self { known: HashMap::new(), machine, used_ms: 0 })
    }

    pub fn knows(&self, name: &str) -> bool {
        self.known.contains_key(name)
    }

    pub fn define(&mut self, name: &str, body: &str) -> Result<(), ScriptError> {
        let began = self.begin();
        let machine = &self.machine;
        let function = machine.context.with(|ctx| {
            let function = compile(machine, &ctx, name, body)?;
            Ok(Persistent::save(&ctx, function))
        });
        self.end(began);
        self.known.insert(name.to_owned(), function?);
        Ok(())
    }

    /// Calls a function with arguments as JSON; returns its value as JSON. `None` is undefined.
    pub fn call(&mut self, name: &str, args: &[Option<String>]) -> Result<Option<String>, ScriptError> {
        let began = self.begin();
        let answer = self.call_in_time(name, args);
        self.end(began);
        answer
    }

    fn call_in_time(&self, name: &str, args: &[Option<String>]) -> Result<Option<String>, ScriptError> {
        let machine = &self.machine;
        let function = self.known.get(name).cloned();
        let function =
            function.ok_or_else(|| ScriptError::Broken(format!("the function {name} is not defined")))?;
        machine.context.with(|ctx| {
            let described = |error| machine.describe(&ctx, error);
            let function = function.restore(&ctx).map_err(broken)?;
            let mut given = Args::new(ctx.clone(), args.len());
            for arg in args {
                given.push_arg(to_js(&ctx, arg.as_deref()).map_err(described)?).map_err(broken)?;
            }
            let answer: JsValue<'_> = given.apply(&function).map_err(described)?;
            let text = ctx.json_stringify(answer).map_err(described)?;
            machine.shared.check_time()?;
            let text = text.map(|text| text.to_string()).transpose().map_err(broken)?;
            bounded(text)
        })
    }

    /// Adjusts the clock so that it includes the time of earlier calls.
    fn begin(&self) -> u64 {
        let now = self.machine.shared.elapsed();
        self.machine.shared.since.set(now.saturating_sub(self.used_ms));
        now
    }

    fn end(&mut self, began: u64) {
        self.used_ms += self.machine.shared.elapsed().saturating_sub(began);
    }
}

fn to_js<'js>(ctx: &Ctx<'js>, json: Option<&str>) -> Result<JsValue<'js>, rquickjs::Error> {
    match json {
        Some(json) => ctx.json_parse(json),
        None => Ok(JsValue::new_undefined(ctx.clone())),
    }
}

fn bounded(text: Option<String>) -> Result<Option<String>, ScriptError> {
    let bytes_max = limits::SCRIPT_OUTPUT_BYTES_MAX;
    match text {
        Some(text) if text.len() > bytes_max => {
            Err(ScriptError::OutputTooLarge { bytes: text.len(), bytes_max })
        }
        text => Ok(text),
    }
}
