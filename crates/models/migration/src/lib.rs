//! Migrations: from the items of one layout to those of another, and back.
//!
//! ```text
//! file      a plan as YAML, validated ── plan: two sides and the rules between them
//! rule      the items it accepts and produces, and the transformation ── step: one change of members
//! split     an array of an item ⇄ separate items
//! reverse   the plan that undoes a plan
//! canonical equality of items, and of sets of items
//! ```
//!
//! Everything here is a function of the items alone: the same items give the same results, wherever and
//! however often they are transformed. A rule refuses, with a sentence, what it could not reverse, and never
//! drops it: either an item is refused, or the reverse of its transformation is the item. Two additions
//! survive the way back: an id for an item without one, and members whose only value the plan knows
//! (`ensure`, and `where … equals` on the way back). Absent: servers, time, and the order of execution.

mod built_in;
mod canonical;
mod file;
pub mod limits;
mod path;
mod plan;
mod rule;
mod split;

pub use built_in::{BUILT_IN, built_in};
pub use canonical::{Sum, canonical, content_hash, hash_of};
pub use path::Path;
pub use plan::{Container, ItemKey, Plan, Role, Side};
pub use rule::Step;
pub use rule::{Condition, Migrated, Rule, Shape, Siblings};
pub use split::Split;

/// Why an item cannot be transformed: a sentence about it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Refusal(pub String);

/// Why a plan is invalid: a sentence, with the position in the file if known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct PlanError(pub String);
