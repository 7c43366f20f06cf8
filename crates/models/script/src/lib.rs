//! Server-side JavaScript: stored procedures, triggers and user-defined functions, on QuickJS.
//!
//! ```text
//! run(script, call)    a procedure or a trigger:  main ─▶ operations wait ─▶ Host does one ─▶ its callback ─▶ …
//! Functions::call      a user-defined function:   arguments in, a value out, nothing else
//! ```
//!
//! The one idea: a script never calls into the host. Its operations queue up in JavaScript, and when the script has
//! nothing more to do, this side takes them out one by one, asks the [`Host`], and calls back. So the host is an
//! ordinary `&mut` argument, a chain of callbacks needs no stack, and nothing in JavaScript can reach what it was not
//! given. What it is given is written in JavaScript too, in `prelude/`.
//!
//! Invariants: a runtime lives for one run (or one page of a query) and shares nothing with another; time, memory,
//! stack, operations, output and log are bounded; the clock and randomness are what the caller says. Left out:
//! storage, transactions, HTTP, and which scripts there are.

mod call;
mod compile;
mod error;
mod functions;
mod host;
mod run;
mod runtime;

pub use call::{Call, Ended, Failed, On, Setting};
pub use error::ScriptError;
pub use functions::Functions;
pub use host::{Answer, Document, Host, Operation, Refusal, WriteOptions};
pub use run::run;
pub use runtime::{Elapsed, Limits};
