//! Facts that hold on every store.

pub mod batches;
pub mod changes;
pub mod containers;
pub mod idempotency;
pub mod items;
pub mod leases;
pub mod outbox;
pub mod queries;
pub mod reads;
