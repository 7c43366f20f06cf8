//! The verbs of `orrery` that are clients of a running server, ours or Azure's.
//!
//! ```text
//! client       the flags that say which server, its databases and items
//! terminal     tables, colours, progress; JSON for programs
//! query, data  queries, items and files of items, a shell
//! blueprints, schema        what a server has to be like
//! advise, monitor, bench, doctor    how it is doing
//! migrate      containers copied to another layout while they are used
//! identity     keys and roles
//! notify       notifications
//! storage      storage accounts, tables, queues
//! manual       completions and manual pages of the command line
//! ```
//!
//! Each verb is its flags and one function; `server` puts them into one command line. A verb prints a table for a person or,
//! with `--json`, JSON and nothing else; its error is a sentence. Absent: stores, engines, servers; a verb that needs no
//! server is in `offline`.

pub mod advise;
pub mod bench;
pub mod blueprints;
pub mod client;
pub mod data;
pub mod doctor;
pub mod identity;
pub mod limits;
pub mod manual;
pub mod migrate;
pub mod monitor;
pub mod notify;
pub mod query;
pub mod schema;
pub mod storage;
pub mod terminal;
