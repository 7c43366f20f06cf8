//! The service behind a real port, spoken to in raw HTTP: what each request gets, byte for byte where it matters.
//!
//! `world` is a store in memory with its clock in the test's hand; `call` is a request that may be wrong in any
//! way a client can be wrong. Whatever a test is about, every reply is also held to what all replies owe.

#![expect(clippy::unwrap_used, reason = "a helper of a test that cannot go on panics, as the test does")]

mod authorization;
mod batches;
mod batches_bulk;
mod bearers;
mod bodies;
mod call;
mod change_feed;
mod children;
mod children_queries;
mod consistency;
mod containers;
mod counting;
mod cross_partition;
mod failing;
mod feeds;
mod heads;
mod ids;
mod items;
mod limits;
mod monitoring;
mod partition_deletes;
mod partition_keys;
mod partition_size;
mod patches;
mod preconditions;
mod queries;
mod queries_ask;
mod queries_explain;
mod queries_metrics;
mod queries_narrow;
mod queries_paging;
mod queries_plan;
mod queries_resources;
mod queries_resume;
mod queries_tokens;
mod ranges;
mod resource_tokens;
mod resources;
mod schemas;
mod scripts;
mod scripts_bounds;
mod sessions;
mod sessions_ranges;
mod throttling;
mod throttling_load;
mod throttling_offers;
mod triggers;
mod udfs;
mod unpartitioned;
mod world;
