//! The change feed on the wire (wire guide §18): decoding of requests and encoding of responses.

pub mod body;
pub mod request;
