//! The binary as people and scripts meet it: started, refused, asked, stopped, restarted, on a disk that fills up.
//!
//! Each test has folders and ports of its own; whatever must be waited for is polled until it is so, or until
//! a deadline that only a broken server meets.

#![expect(clippy::unwrap_used, reason = "a helper of a test that cannot go on panics, as the test does")]

mod access;
mod advising;
mod applying;
mod benching;
mod callers;
mod checking;
mod configuration;
mod data;
mod endpoints;
mod expiry;
mod first_look;
mod full_disk;
mod identity;
mod migrating;
mod monitoring;
mod one_url;
mod printing;
mod prometheus_text;
mod querying;
mod readme;
mod refusals;
mod reserve;
mod schemas;
mod scripts;
mod server;
mod stopping;
mod storage;
mod storage_monitoring;
mod web_pages;
