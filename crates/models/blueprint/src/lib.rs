//! Blueprints: databases, containers, policies, queries and storage accounts declared in a file.
//!
//! ```text
//! YAML ───────────┐
//! Terraform .tf ──┼─ read ─▶ Blueprint ─┐
//! ARM JSON ───────┘                     ├─ plan ─▶ steps: create, change, nothing, refused
//!                  what a server has ───┘
//! ```
//!
//! Three formats become one [`Blueprint`], whose container definitions and example entities pass the same
//! checks as on the wire; input that the service would refuse for a reason with one sensible correction is completed, with
//! a note. [`plan`] compares a blueprint with a server's state. Everything here is a pure function: the
//! server crate reads files and executes steps.
//!
//! Invariants: no text makes it panic, recurse without bound or exceed its limits; every error has a file, a
//! line, a column and a reason; planning right after applying gives no steps. Absent: I/O, the network, Bicep
//! source (its compiler emits the ARM JSON read here) and anything in Azure other than Cosmos DB's SQL API,
//! tables and queues.

mod account;
mod arm;
mod blueprint;
mod budget;
mod built_in;
mod container;
mod format;
mod json;
pub mod limits;
mod node;
mod plan;
mod query;
mod source;
mod storage;
mod terraform;
mod yaml;

pub use blueprint::{Blueprint, Capacity, CapacityTarget, Container, Environment};
pub use built_in::starter;
pub use built_in::{built_in, built_in_names};
pub use node::{Location, SourceError};
pub use plan::{
    Change, Observed, ObservedContainer, ObservedDatabase, ObservedOffer, ObservedQueue, ObservedStorage,
    ObservedStorageAccount, ObservedTable, Plan, Step, Subject, Verdict, plan,
};
pub use query::{BindError, NamedQuery, Parameter, ParameterType};
pub use source::{Source, Variables, read};
pub use storage::{ExampleEntity, StorageAccount, StorageQueue, StorageTable};
