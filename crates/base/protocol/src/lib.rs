//! What both ends of our wires agree on, said once: a server checks with it, our own clients sign with it.
//!
//! ```text
//! key      an account key: signs, and checks in constant time
//! sign     the five lines that are signed, of which resource, and how a signature travels
//! header   JSON in a header, which is ASCII
//! jwt      JSON Web Tokens: split, verified, signed
//! report   `/v1/advice`: what a container holds, and how it is used
//! top      `/v1/top`: the busiest containers, partitions and queries
//! cost     `/v1/cost`: what a month would cost
//! check    `/readyz`: what was checked, and how it is
//! storage  blobs, queues and tables: shared keys, shared access signatures, connection strings
//! ```
//!
//! Left out: which keys an account has and what each allows (`api/common`), and everything that sends. The client of the
//! tests has its own of all this on purpose: what is wrong here is not wrong there in the same way.

mod check;
pub mod cost;
mod header;
pub mod jwt;
mod key;
pub mod limits;
pub mod report;
mod sign;
pub mod storage;
pub mod top;

pub use check::{Check, Verdict};
pub use header::ascii_json;
pub use key::{EMULATOR_KEY, InvalidKey, Key, KeyKind, Signature};
pub use sign::{Scheme, authorization, resource, services_kind, string_to_sign};
