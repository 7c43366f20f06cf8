//! The notification service (seed 002): events in, an in-app centre and pushes out.
//!
//! ```text
//! records     the items as stored, in the seed's shapes
//! policy      pure decisions: types, templates, windows, limits, quiet hours, back-off
//! service     the operations for callers
//! dispatch    the processing of an event, step by step, under a lease
//! push        FCM HTTP v1 and APNs
//! ```

pub mod dispatch;
pub mod limits;
pub mod policy;
pub mod push;
pub mod records;
mod routes;
pub mod service;
mod service_impl;
