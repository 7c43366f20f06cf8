//! The notification service (seed 002): events in, an in-app centre and pushes out.
//!
//! ```text
//! records     the items as they are stored, in the seed's shapes
//! policy      what is decided, from values alone: types, templates, windows, limits, quiet hours, back-off
//! service     what a caller may ask for
//! dispatch    what happens to an event, step by step, under a lease
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
