//! What the documents of a process promise to many writers and readers, over the memory engine.
//!
//! The auditor is the one of the model's own tests, the gate the one of the transactions' tests.

#![expect(clippy::unwrap_used, reason = "a helper of a test that cannot go on panics, as the test does")]

#[path = "../../../../models/documents/tests/model/audit.rs"]
mod audit;
mod background;
mod catalog;
mod crashing;
#[path = "../../../../engine/txn/tests/txn/gate.rs"]
#[expect(dead_code, reason = "the transactions' tests use more of it")]
mod gate;
mod indexing;
mod ordinals;
mod purging;
mod reaching;
mod schemas;
mod shop;
mod trimming;
