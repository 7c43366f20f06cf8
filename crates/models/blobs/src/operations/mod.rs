//! Operations on blobs: each is a function over a transaction in the scope of the blob's name, or over a snapshot.

mod requests;

pub use requests::*;
