//! Tables and queues as the monitor sees them: resources of storage accounts, of one shape whichever service they belong to.
//!
//! ```text
//! resource   what was asked of one since the process began, and what it holds
//! tracker    which of them are told apart, and what each was asked between two looks
//! families   measurements
//! busiest    for `/v1/top`
//! readings   for the alerts
//! ```
//!
//! Another service is another variant of [`resource::Resource`] and [`resource::Contents`], and another store in
//! [`resource::StorageStores`]; the metering and the bill know services by their name and number alone.

pub mod busiest;
pub mod families;
pub mod readings;
pub mod resource;
pub mod tracker;

#[cfg(test)]
mod tests;
