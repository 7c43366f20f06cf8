//! Scripts over a container's items: stored procedures, triggers and user-defined functions.
//!
//! ```text
//! partition    what a script may do, as operations on a transaction in one logical partition
//! procedure    executing a stored procedure
//! triggers     writes that name triggers
//! functions    user-defined functions, as a query calls them
//! work         running what takes seconds: on a thread, so many at once, with an end
//! slots        how many run at once, and how short ones pass long ones
//! ```

pub(crate) mod functions;
mod partition;
pub mod procedure;
pub(crate) mod slots;
pub mod triggers;
mod work;
