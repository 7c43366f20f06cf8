//! How a query is run: over one collection, and over the several ranges of one.
//!
//! A plan is a bound query after the rules have been at it. Each rule is one pure function in its own file,
//! and a plan answers the same with all of them off.

pub mod distributed;
mod print;
mod rules;

use crate::access::Prefer;
use crate::bind::BoundQuery;

#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    pub query: BoundQuery,
    /// Which way is taken to the documents; without the rules, all of them are read.
    pub prefer: Prefer,
}

/// Whether the rules are applied; without them a plan does what the text says, step by step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rules {
    #[default]
    On,
    Off,
}

impl Plan {
    /// The direction of the first key of ORDER BY, which is also that of rows that sort the same.
    pub fn descends(&self) -> Option<bool> {
        self.query.block.order.first().map(|key| key.descending)
    }

    pub fn new(query: BoundQuery, rules: Rules) -> Self {
        match rules {
            Rules::Off => Self { query, prefer: Prefer::Scan },
            Rules::On => {
                let plan = Self { query, prefer: Prefer::Cheapest };
                rules::ALL.iter().fold(plan, |plan, rule| rule(plan))
            }
        }
    }
}
