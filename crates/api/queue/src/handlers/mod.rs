//! What each operation does: decode, one call of the store, encode.

pub mod messages;
pub mod queues;
pub mod service;
