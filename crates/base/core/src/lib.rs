//! The vocabulary of all crates: names and resource ids, etags, timestamps, limits, and [`Env`], the only
//! source of time and randomness.
//!
//! Nothing here does I/O or knows a protocol. Values of these types are valid by construction: each is made
//! by a `parse` whose error explains the problem.

mod env;
mod etag;
mod guid;
mod heavy_hitters;
pub mod limits;
mod log_limiter;
mod name;
mod rid;
mod tick_clock;
mod ticks;
mod time;
mod tour;

pub use env::{Env, OsSeed};
pub use etag::ETag;
pub use guid::Guid;
pub use heavy_hitters::HeavyHitters;
pub use log_limiter::LogLimiter;
pub use name::{ChildName, ContainerName, DatabaseName, InvalidName, ItemId, NameFault};
pub use rid::{
    ClientKeyRid, ContainerRid, DatabaseRid, InvalidRid, ItemRid, OfferRid, PermissionRid, ResourceKind,
    RidText, UserRid,
};
pub use tick_clock::TickClock;
pub use ticks::Ticks;
pub use time::Timestamp;
#[doc(hidden)]
pub use tour::tour_step_of;

/// The system members of an item; the last one appears in the change feed only.
pub const SYSTEM_MEMBERS: [&str; 6] = ["_rid", "_self", "_etag", "_attachments", "_ts", "_lsn"];

/// The position of a commit in the total order of commits; the LSN of session tokens and the change feed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lsn(pub u64);

impl std::fmt::Display for Lsn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}
