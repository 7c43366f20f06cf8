//! One file for each kind of operation: decode, one call of the store, encode.

pub mod access_policies;
pub mod batch;
pub mod entities;
pub mod query;
pub mod service;
pub mod tables;
