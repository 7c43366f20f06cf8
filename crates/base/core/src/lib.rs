//! The vocabulary everything else is written in: names and resource ids, etags, timestamps, limits, and
//! [`Env`], the only door through which time and randomness enter.
//!
//! Nothing here does I/O or knows a protocol. A value of one of these types is valid by construction:
//! each is made by a `parse` that says what is wrong with what it was given.

mod env;
mod etag;
mod guid;
pub mod limits;
mod log_limiter;
mod name;
mod rid;
mod time;
mod tour;

pub use env::{Env, OsSeed};
pub use etag::ETag;
pub use guid::Guid;
pub use log_limiter::LogLimiter;
pub use name::{ChildName, ContainerName, DatabaseName, InvalidName, ItemId, NameFault};
pub use rid::{
    ClientKeyRid, ContainerRid, DatabaseRid, InvalidRid, ItemRid, OfferRid, PermissionRid, ResourceKind,
    RidText, UserRid,
};
pub use time::Timestamp;
#[doc(hidden)]
pub use tour::tour_step_of;

/// The members that the server writes into an item; the last is of the change feed.
pub const SYSTEM_MEMBERS: [&str; 6] = ["_rid", "_self", "_etag", "_attachments", "_ts", "_lsn"];

/// The position of a commit in the one order of all commits; the LSN of session tokens and the change feed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lsn(pub u64);

impl std::fmt::Display for Lsn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}
