//! Server-side JavaScript: stored procedures, triggers and user-defined functions, on QuickJS.
//!
//! ```text
//! Scripts::run         a procedure or a trigger:  main ─▶ operations wait ─▶ Host does one ─▶ its callback ─▶ …
//! Session::call        a user-defined function:   arguments in, a value out, nothing else
//! ```
//!
//! The central idea: a script never calls into the host. Its operations queue up in JavaScript, and when the
//! script has nothing more to do, this side takes them one by one, asks the [`Host`], and calls back. So the
//! host is an ordinary `&mut` argument, a chain of callbacks needs no stack, and JavaScript code reaches only
//! what it was given. That part is written in JavaScript too, in `prelude/`.
//!
//! Scripts run in worker processes (`process/`), because nothing else stops a native call that takes minutes.
//!
//! Invariants: a runtime lives for one run (or one page of a query) and shares nothing with another; time,
//! memory, stack, operations, output and log are bounded; the caller supplies clock and randomness. Absent:
//! storage, transactions, HTTP, and the set of scripts.

mod call;
mod compile;
mod functions;
mod isolation;
pub mod limits;
mod process;
mod run;
mod runtime;

pub use call::ScriptError;
pub use call::{Answer, Document, Host, Operation, Refusal, WriteOptions};
pub use call::{Call, Ended, Failed, On, ScriptContext};
pub use isolation::{Isolation, Scripts, Session};
pub use process::{WORKER_VERB, serve as serve_worker};
pub use runtime::{Elapsed, Limits};
