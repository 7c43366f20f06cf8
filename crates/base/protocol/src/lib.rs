//! Protocol rules shared by both ends: the server verifies with them, our own clients sign with them.
//!
//! ```text
//! key      an account key: signs, and checks in constant time
//! sign     the five signed lines, the resource they name, and the form of a signature
//! header   JSON in a header, which is ASCII
//! jwt      JSON Web Tokens: parsed, verified, signed
//! report   `/v1/advice`: the contents and usage of a container
//! storage_report   the same of tables and queues
//! top      `/v1/top`: the busiest containers, partitions, queries, tables and queues
//! cost     `/v1/cost`: the price of a month
//! check    `/readyz`: health checks and their results
//! storage  blobs, queues and tables: shared keys, shared access signatures, connection strings
//! ```
//!
//! Absent: which keys an account has and what each permits (`api/common`), and everything that sends. The
//! test client has its own implementation on purpose, so that an error here is not repeated there.

mod check;
pub mod cost;
mod header;
pub mod jwt;
mod key;
pub mod limits;
pub mod report;
mod sign;
pub mod storage;
pub mod storage_report;
pub mod top;

pub use check::{Check, Verdict};
pub use header::ascii_json;
pub use key::{EMULATOR_KEY, InvalidKey, Key, KeyKind, Signature};
pub use sign::{Scheme, authorization, resource, services_kind, string_to_sign};
