//! The verbs of `orrery` that need no server.
//!
//! ```text
//! check             goes through the folder of a server that is stopped; schema_check holds its items against schemas
//! token             a bearer token for development, by the key in a data folder
//! notify            orrery notify: the verbs that ask a server (`cli`), and
//!   sim             a day against a policy, in memory
//!   fake_push       stand-ins for the push providers
//! spaces            what a data folder holds, which `serve` opens it with too
//! ```
//!
//! Each has its flags and one function; `server` adds them to the command line beside those of `cli`.

pub mod check;
mod fake_push;
mod limits;
pub mod notify;
mod schema_check;
mod sim;
pub mod spaces;
pub mod token;
