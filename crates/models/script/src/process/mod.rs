//! Scripts in worker processes. The server kills a worker at the deadline, whatever the script does.
//!
//! ```text
//! server                                        worker: `PROGRAM script-worker`
//!   pool      idle workers, replacements          worker    limits, one run after another
//!   remote ◀──── channel: frames over a socket ────▶
//! ```
//!
//! The exchange strictly alternates: the server sends a request, the worker replies with a result or with an
//! operation of the script, which the server executes and answers. So neither side needs a reader thread. A
//! worker serves one run or one session of functions at a time; each gets its own JavaScript runtime.

mod message;
mod pool;
mod remote;
mod wire;
mod worker;

pub(crate) use pool::Pool;
pub use remote::RemoteFunctions;
pub(crate) use remote::run;
pub use worker::serve;

/// The argument that turns a program into a worker.
pub const WORKER_VERB: &str = "script-worker";
