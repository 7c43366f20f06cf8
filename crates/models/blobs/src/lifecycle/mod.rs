//! Lifecycle management: a policy of rules, and what it makes of a blob at a moment.
//!
//! A pure function decides ([`evaluate`]), so that a dry run shows what a run then does.

mod evaluate;
mod history;
mod policy;

pub use evaluate::{Action, BlobGroup, Decision, evaluate};
pub use history::{ActionTotals, LifecycleRun, runs, save_run};
pub use policy::{
    Condition, Filters, InvalidPolicy, LifecyclePolicy, LifecycleRule, RuleActions, accounts, load_policy,
    save_policy,
};
