//! What services share, so that each is its own records and decisions and little else.
//!
//! ```text
//! port         the stores, as a service sees them: embedded in this process, or remote over the wire
//! http         the HTTP client for what lies outside (crates/client)
//! own          the container that a service keeps for itself
//! time         timestamps as services write them
//! failpoint    where a test ends the process
//! lease        who may work on something, with fencing
//! idempotency  a repeated request is answered as it was
//! outbox       events in the same batch as what they tell of, and their relay
//! bucket       so many requests a while
//! ```

pub mod bucket;
pub mod failpoint;
pub mod idempotency;
pub mod lease;
pub mod outbox;
mod own;
pub mod port;
pub mod time;

pub use orrery_client::http;
pub use own::service_container;
