//! Indexes through the store: policies that change under writers, partitions that grow, rows that must go.
//!
//! A test drives the background by hand, a round at a time, and after each looks at the items in three ways.

mod changing;
mod choosing;
mod growing;
mod leaving;
mod rebuilding;
mod shelf;
mod surviving;
