//! A runtime: QuickJS with its limits set, and the prelude loaded.

use crate::call::ScriptError;
use crate::limits;
use rquickjs::context::{EvalOptions, intrinsic};
use rquickjs::{CatchResultExt, CaughtError, Context, Ctx, Error, FromJs, Function, Object, Runtime, Value};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// Milliseconds since the run began.
pub type Elapsed = Rc<dyn Fn() -> u64>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    pub millis_max: u64,
    /// From then on no operations are accepted.
    pub accept_millis_max: u64,
    pub operations_max: u64,
    pub written_bytes_max: usize,
    pub memory_bytes_max: usize,
    pub output_bytes_max: usize,
    pub log_bytes_max: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            millis_max: limits::SCRIPT_MILLIS_MAX,
            accept_millis_max: limits::SCRIPT_ACCEPT_MILLIS_MAX,
            operations_max: limits::SCRIPT_OPERATIONS_MAX,
            written_bytes_max: limits::SCRIPT_WRITTEN_BYTES_MAX,
            memory_bytes_max: limits::SCRIPT_MEMORY_BYTES_MAX,
            output_bytes_max: limits::SCRIPT_OUTPUT_BYTES_MAX,
            log_bytes_max: limits::SCRIPT_LOG_BYTES_MAX,
        }
    }
}

/// State shared by both sides of a runtime.
pub(crate) struct Shared {
    pub limits: Limits,
    elapsed: Elapsed,
    /// An offset, for clocks that start after the beginning of the run.
    pub since: Cell<u64>,
    is_over: Cell<bool>,
    operations: Cell<u64>,
    written: Cell<usize>,
    log: RefCell<String>,
    random: Cell<u64>,
    rejections: Cell<i64>,
}

impl Shared {
    pub fn new(limits: Limits, elapsed: Elapsed, seed: u64) -> Rc<Self> {
        Rc::new(Self {
            limits,
            elapsed,
            since: Cell::new(0),
            is_over: Cell::new(false),
            operations: Cell::new(0),
            written: Cell::new(0),
            log: RefCell::default(),
            random: Cell::new(seed),
            rejections: Cell::new(0),
        })
    }

    pub fn elapsed(&self) -> u64 {
        (self.elapsed)()
    }

    /// Checks the clock; once the time is up it stays up.
    pub fn check_deadline(&self) -> bool {
        let is_over =
            self.is_over.get() || self.elapsed().saturating_sub(self.since.get()) > self.limits.millis_max;
        self.is_over.set(is_over);
        is_over
    }

    pub fn check_time(&self) -> Result<(), ScriptError> {
        if self.check_deadline() { Err(self.too_long()) } else { Ok(()) }
    }

    pub fn too_long(&self) -> ScriptError {
        ScriptError::TooLong { millis_max: self.limits.millis_max }
    }

    /// Whether another operation with this many bytes of text is accepted. Data that a script reads is
    /// not limited.
    fn accepts(&self, is_write: bool, bytes: usize) -> bool {
        let bytes = if is_write { bytes } else { 0 };
        let (operations, written) = (self.operations.get() + 1, self.written.get().saturating_add(bytes));
        let has_room = !is_write || written <= self.limits.written_bytes_max;
        let fits = operations <= self.limits.operations_max && has_room;
        if !fits || self.elapsed() > self.limits.accept_millis_max {
            return false;
        }
        self.operations.set(operations);
        self.written.set(written);
        true
    }

    /// Counts the bytes an operation left in the transaction, besides the text counted when it was
    /// accepted.
    pub fn hold(&self, bytes: usize) {
        self.written.set(self.written.get().saturating_add(bytes));
    }

    /// SplitMix64; the upper 53 bits fill a double.
    fn random(&self) -> f64 {
        let state = self.random.get().wrapping_add(0x9e37_79b9_7f4a_7c15);
        self.random.set(state);
        let mut x = state;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((x ^ (x >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    fn log(&self, text: &str) {
        let mut log = self.log.borrow_mut();
        let room = self.limits.log_bytes_max.saturating_sub(log.len());
        let fits = |(at, character): &(usize, char)| at + character.len_utf8() <= room;
        log.extend(text.char_indices().take_while(fits).map(|(_, character)| character));
    }

    pub fn take_log(&self) -> String {
        std::mem::take(&mut *self.log.borrow_mut())
    }

    /// Rejected promises whose rejection is still unhandled.
    pub fn rejections(&self) -> i64 {
        self.rejections.get()
    }
}

/// The language without access to the outside: no weak references, which reveal when memory is collected, and
/// no clock.
type Language = (
    intrinsic::Date,
    intrinsic::Eval,
    intrinsic::RegExpCompiler,
    intrinsic::RegExp,
    intrinsic::Json,
    intrinsic::MapSet,
    intrinsic::TypedArrays,
    intrinsic::Promise,
    intrinsic::Proxy,
);

/// The prelude's name in stack traces.
const PRELUDE: &str = "orrery";

const WORLD: &str = include_str!("prelude/world.js");
const DATABASE: &str = concat!(
    include_str!("prelude/queue.js"),
    include_str!("prelude/collection.js"),
    include_str!("prelude/chain.js"),
    include_str!("prelude/context.js"),
);

/// The prelude's configuration, and whether it offers the database.
pub(crate) enum Prelude<'a> {
    Bare { now_ms: u64 },
    Database { now_ms: u64, self_link: &'a str, alt_link: &'a str },
}

pub(crate) struct Machine {
    // Before the runtime, which must outlive it.
    pub context: Context,
    _runtime: Runtime,
    pub shared: Rc<Shared>,
}

impl Machine {
    pub fn new(shared: Rc<Shared>) -> Result<Self, ScriptError> {
        let runtime = Runtime::new().map_err(broken)?;
        runtime.set_memory_limit(shared.limits.memory_bytes_max);
        runtime.set_max_stack_size(limits::SCRIPT_STACK_BYTES_MAX);
        let clock = shared.clone();
        runtime.set_interrupt_handler(Some(Box::new(move || clock.check_deadline())));
        let counter = shared.clone();
        runtime.set_host_promise_rejection_tracker(Some(Box::new(move |_, _, _, is_handled| {
            counter.rejections.set(counter.rejections.get() + if is_handled { -1 } else { 1 });
        })));
        let context = Context::custom::<Language>(&runtime).map_err(broken)?;
        Ok(Self { context, _runtime: runtime, shared })
    }

    /// Runs the prelude; its result drives a script.
    pub fn prelude<'js>(&self, ctx: &Ctx<'js>, prelude: &Prelude<'_>) -> Result<Object<'js>, ScriptError> {
        let (database, end) = match prelude {
            Prelude::Bare { .. } => ("", "return {};"),
            Prelude::Database { .. } => (DATABASE, ""),
        };
        let text = format!("(function (native) {{\n\"use strict\";\n{WORLD}{database}{end}\n}})");
        let make: Function<'js> = eval(ctx, &text, PRELUDE).map_err(|error| self.describe(ctx, error))?;
        let native = self.native(ctx, prelude).map_err(broken)?;
        make.call((native,)).map_err(|error| self.describe(ctx, error))
    }

    fn native<'js>(&self, ctx: &Ctx<'js>, prelude: &Prelude<'_>) -> Result<Object<'js>, Error> {
        let native = Object::new(ctx.clone())?;
        let shared = self.shared.clone();
        native.set("random", Function::new(ctx.clone(), move || shared.random())?)?;
        let shared = self.shared.clone();
        let log = move |text: rquickjs::String<'js>| shared.log(&text.to_string().unwrap_or_default());
        native.set("log", Function::new(ctx.clone(), log)?)?;
        let shared = self.shared.clone();
        native.set(
            "accepts",
            Function::new(ctx.clone(), move |is_write: bool, bytes: f64| {
                shared.accepts(is_write, bytes as usize)
            })?,
        )?;
        match prelude {
            Prelude::Bare { now_ms } => native.set("now", *now_ms as f64)?,
            Prelude::Database { now_ms, self_link, alt_link } => {
                native.set("now", *now_ms as f64)?;
                native.set("selfLink", *self_link)?;
                native.set("altLink", *alt_link)?;
            }
        }
        Ok(native)
    }

    /// Runs pending promise jobs.
    pub fn run_jobs(&self, ctx: &Ctx<'_>) -> Result<(), ScriptError> {
        while ctx.execute_pending_job() {
            self.shared.check_time()?;
        }
        self.shared.check_time()
    }

    /// Interprets an error of the engine. Reads the pending exception, if there is one.
    pub fn describe(&self, ctx: &Ctx<'_>, error: Error) -> ScriptError {
        let caught = CaughtError::from_error(ctx, error);
        if self.shared.check_deadline() {
            return self.shared.too_long();
        }
        match caught {
            CaughtError::Error(Error::Allocation) => self.out_of_memory(),
            CaughtError::Error(error) => broken(error),
            CaughtError::Exception(exception) => self.thrown(&exception.into_object()),
            CaughtError::Value(value) if value.is_null() => self.out_of_memory(),
            CaughtError::Value(value) => self.thrown_value(ctx, &value),
        }
    }

    /// Interprets a thrown value or a rejection reason.
    pub fn thrown_value<'js>(&self, ctx: &Ctx<'js>, value: &Value<'js>) -> ScriptError {
        if let Some(error) = value.as_object().filter(|object| object.is_error()) {
            return self.thrown(error);
        }
        let text = match value.as_string().map(|text| text.to_string()) {
            Some(text) => text.ok(),
            None => ctx
                .json_stringify(value.clone())
                .catch(ctx)
                .ok()
                .flatten()
                .and_then(|text| text.to_string().ok()),
        };
        let number = value.as_object().and_then(number);
        ScriptError::Thrown {
            message: bounded(text.unwrap_or_else(|| "undefined".to_owned())),
            stack: String::new(),
            number,
        }
    }

    fn thrown(&self, error: &Object<'_>) -> ScriptError {
        let (name, text) = (member(error, "name"), member(error, "message"));
        if name == "InternalError" && text == "out of memory" {
            return self.out_of_memory();
        }
        let message = match (name.is_empty(), text.is_empty()) {
            (true, _) => text,
            (false, true) => name,
            (false, false) => format!("{name}: {text}"),
        };
        let stack = own_frames(&member(error, "stack"));
        ScriptError::Thrown { message: bounded(message), stack: bounded(stack), number: number(error) }
    }

    fn out_of_memory(&self) -> ScriptError {
        ScriptError::OutOfMemory { bytes_max: self.shared.limits.memory_bytes_max }
    }
}

pub(crate) fn broken(error: Error) -> ScriptError {
    ScriptError::Broken(error.to_string())
}

pub(crate) fn eval<'js, V: FromJs<'js>>(ctx: &Ctx<'js>, text: &str, name: &str) -> Result<V, Error> {
    let mut options = EvalOptions::default();
    options.strict = false;
    options.filename = Some(name.replace('\0', "?"));
    ctx.eval_with_options(text, options)
}

/// The prefix of a text that an error keeps.
fn bounded(mut text: String) -> String {
    let most = text.len().min(limits::SCRIPT_ERROR_BYTES_MAX);
    let end = (0..=most).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    text.truncate(end);
    text
}

/// A string member; anything else, or a getter that throws, counts as empty.
fn member(object: &Object<'_>, name: &str) -> String {
    let found = object.get::<_, Value<'_>>(name).catch(object.ctx());
    let text = found.ok().and_then(|value| value.as_string().and_then(|text| text.to_string().ok()));
    text.unwrap_or_default()
}

/// The error's number, if it could be a status.
fn number(error: &Object<'_>) -> Option<u32> {
    let found = error.get::<_, Value<'_>>("number").catch(error.ctx()).ok()?;
    let number = found.as_number()?;
    (number.fract() == 0.0 && (1.0..=65_535.0).contains(&number)).then_some(number as u32)
}

/// The script's stack frames, without those of the prelude.
fn own_frames(stack: &str) -> String {
    let is_own = |line: &&str| {
        !line.trim().is_empty() && !line.contains(&format!("({PRELUDE}:")) && !line.contains("(native)")
    };
    stack.lines().filter(is_own).collect::<Vec<_>>().join("\n")
}
