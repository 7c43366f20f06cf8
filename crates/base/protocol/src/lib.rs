//! What both ends of the document protocol agree on, said once: a server checks with it, our own clients sign with it.
//!
//! ```text
//! key      an account key: signs, and checks in constant time
//! sign     the five lines that are signed, of which resource, and how a signature travels
//! header   JSON in a header, which is ASCII
//! ```
//!
//! Left out: which keys an account has and what each allows (`api/common`), and everything that sends. The client of the
//! tests has its own of all this on purpose: what is wrong here is not wrong there in the same way.

mod header;
mod key;
mod sign;

pub use header::ascii_json;
pub use key::{EMULATOR_KEY, InvalidKey, Key, Signature};
pub use sign::{Scheme, authorization, resource, services_kind, string_to_sign};
