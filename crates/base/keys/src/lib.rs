//! Order-preserving keys, and the hashing of partition keys.
//!
//! A key is a sequence of parts, written by [`KeyBuf`] and read by [`KeyReader`]; comparing two keys as bytes
//! compares their parts one after another. An [`Epk`] is where a partition key value lies in the key space of
//! a container, computed exactly as Cosmos DB and its clients do.
//!
//! This crate knows no kinds of rows: which parts a key has is its model's business.

mod epk;
#[doc(hidden)]
pub mod fuzz;
mod hashing;
mod index_value;
mod key;
pub mod limits;
mod murmur;
mod reader;
mod split;

pub use epk::{Epk, InvalidEpk, prefix_range};
pub use hashing::{Hashing, epk};
pub use index_value::{IndexValue, Shallow};
pub use key::{Direction, KeyBuf, prefix_end};
pub use reader::{InvalidKey, KeyReader};
pub use split::{even_bounds, midpoint};
