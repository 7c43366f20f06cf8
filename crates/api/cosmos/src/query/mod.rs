//! Queries on the wire: their bodies, what they may ask of the world, and the headers that tell how they ran.

pub mod again;
pub mod body;
pub mod condition;
pub mod cross_partition;
pub mod metrics;
pub mod pages;
pub mod plan;
pub mod resources;
