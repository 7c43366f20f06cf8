//! The change feed on the wire (wire guide §18): what a request asks for, and the bodies that answer it.

pub mod asked;
pub mod body;
