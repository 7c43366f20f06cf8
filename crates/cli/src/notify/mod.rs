//! `orrery notify`: a client of the notification service's REST.

mod ask;
mod command;
mod print;

pub use ask::AskFlags;
pub use command::{NotifyVerb, notify};
