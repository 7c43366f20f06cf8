//! What queries on the wire share: metrics of a page, and queries over resources that are no items.

pub mod metrics;
pub mod resources;
