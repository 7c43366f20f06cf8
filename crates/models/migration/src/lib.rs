//! Migrations: from the items of one layout to those of another, and back.
//!
//! ```text
//! file      a plan as YAML, checked ── plan: two sides and the rules between them
//! rule      which items it takes and which it gives, and what becomes of them ── step: one change of members
//! split     an array of an item ⇄ items of their own
//! reverse   the plan that undoes a plan
//! canonical what two items must have in common to be the same; how many are compared at once
//! ```
//!
//! Everything here is a function of the items alone: the same items give the same items, wherever and however often they
//! are transformed. What a rule could not take back is refused, with a sentence, and never dropped: for every item, it was refused, or
//! the reverse of its transformation is the item. Two things are added and stay on the way back: an id where there is none, and members
//! of which the plan knows the only value (`ensure`, and `where … equals` on the way back). Left out: servers, time, and in which order
//! things happen.

mod built_in;
mod canonical;
mod file;
pub mod limits;
mod path;
mod plan;
mod rule;
mod split;
mod yaml;

pub use built_in::{BUILT_IN, built_in};
pub use canonical::{Sum, canonical, content_hash, hash_of};
pub use path::Path;
pub use plan::{Container, ItemKey, Plan, Role, Side};
pub use rule::Step;
pub use rule::{Condition, Migrated, Rule, Shape, Siblings};
pub use split::Split;

/// Why an item does not become another: a sentence about it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Refusal(pub String);

/// Why a plan is none: a sentence, with the place in the file where there is one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct PlanError(pub String);
