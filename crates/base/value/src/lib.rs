//! JSON as Cosmos DB defines it: values and their order, one-pass scanning of text, Cosmos binary JSON.
//!
//! [`scan_object`] validates a document once, on the way in; from then on its text is trusted and read in
//! place ([`raw`]) or as a [`Value`]. Everything here is total: bad input is an error, deep or hostile input
//! costs bounded time and stack, nothing panics.
//!
//! Absent: storage, queries, and the splicing of system properties.

mod binary;
mod build;
mod error;
#[doc(hidden)]
pub mod fuzz;
mod names;
mod number;
mod order;
pub mod raw;
mod scan;
mod swar;
mod value;

pub use binary::{BinaryError, binary_to_text};
pub use error::JsonError;
pub use number::Number;
pub use scan::{Member, Scan, Span, scan_object, scan_object_text, scan_value, utf8};
pub use value::Value;
