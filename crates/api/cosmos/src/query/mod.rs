//! Shared parts of queries on the wire: metrics of a page, and queries over resources other than
//! items.

pub mod metrics;
pub mod resources;
