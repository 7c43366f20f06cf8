//! Blueprints: databases, containers, policies and queries declared in a file.
//!
//! ```text
//! YAML ───────────┐
//! Terraform .tf ──┼─ read ─▶ Blueprint ─┐
//! ARM JSON ───────┘                     ├─ plan ─▶ steps: create, change, nothing, refused
//!                  what a server has ───┘
//! ```
//!
//! Three formats become one [`Blueprint`], whose container definitions went through the same parser as a create on the
//! wire; what the service would refuse for a reason that has one sensible answer is completed, and a note says so.
//! [`plan`] compares a blueprint with what a server has. Everything here is a pure function: files are read, and steps
//! are taken, by the server crate.
//!
//! Invariants: no text makes it panic, recurse without bound or grow beyond its limits; every refusal has a file, a line,
//! a column and a reason; planning what was applied gives nothing to do. Absent: I/O, the network, Bicep's own text (its
//! compiler emits the ARM JSON that is read here) and anything of Azure that is not Cosmos DB's SQL API.

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
mod terraform;
mod yaml;

pub use blueprint::{Blueprint, Capacity, CapacityTarget, Container, Environment};
pub use built_in::starter;
pub use built_in::{built_in, built_in_names};
pub use node::{Location, SourceError};
pub use plan::{
    Change, Observed, ObservedContainer, ObservedDatabase, ObservedOffer, Plan, Step, Subject, Verdict, plan,
};
pub use query::{BindError, NamedQuery, Parameter, ParameterType};
pub use source::{Source, Variables, read};
pub use yaml::plain as plain_scalar;
