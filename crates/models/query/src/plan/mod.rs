//! Query plans: for one collection, and for the several ranges of a container.
//!
//! A plan is a bound query after the optimizer rules. Each rule is a pure function, and a plan gives the same
//! result with all rules off.

pub mod distributed;
mod print;
mod rules;

use crate::access::AccessPreference;
use crate::bind::BoundQuery;
use crate::bind::bound::Expr;
use crate::error::QueryError;
use crate::execute::size_of_value;
use crate::functions;
use orrery_value::Value;

#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    pub query: BoundQuery,
    /// The access path preference; without the rules, a plan always scans.
    pub prefer: AccessPreference,
}

/// Whether the rules apply; without them a plan follows the text step by step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rules {
    #[default]
    On,
    Off,
}

impl Plan {
    /// The direction of the first ORDER BY key, which ties follow too.
    pub fn descends(&self) -> Option<bool> {
        self.query.block.order.first().map(|key| key.descending)
    }

    /// Whether no document can satisfy the filter.
    pub fn matches_nothing(&self) -> bool {
        fn is_never(filter: &Expr) -> bool {
            match filter {
                Expr::Constant(value) => !matches!(value, Value::Bool(true)),
                Expr::All(parts) => parts.iter().any(is_never),
                Expr::Any(parts) => parts.iter().all(is_never),
                _ => false,
            }
        }
        self.query.block.filter.as_ref().is_some_and(is_never)
    }

    /// Memory of the plan's constants: literals, parameters, and values folded from them.
    pub fn constant_bytes(&mut self) -> usize {
        fn add(expr: &mut Expr, bytes: &mut usize) {
            *bytes += match expr {
                Expr::Constant(value) => size_of_value(value),
                Expr::InSet { set, .. } => set.iter().map(size_of_value).sum(),
                _ => 0,
            };
            expr.for_each_child(&mut |child| add(child, bytes));
        }
        let mut bytes = 0;
        self.query.block.for_each_expr(&mut |expr| add(expr, &mut bytes));
        bytes
    }

    /// Refuses a regular expression that is too large, even if no document would reach it.
    pub fn check_patterns(&mut self) -> Result<(), QueryError> {
        fn check(expr: &mut Expr, outcome: &mut Result<(), QueryError>) {
            if let Expr::Call(function, args) = expr
                && let Some(modifiers) = functions::modifiers_of(function.0)
                && let Some(Value::String(pattern)) = args.get(1).and_then(Expr::as_constant)
                && outcome.is_ok()
            {
                let modifiers = match args.get(modifiers).and_then(Expr::as_constant) {
                    Some(Value::String(modifiers)) => modifiers,
                    _ => "",
                };
                *outcome = functions::check_pattern(pattern, modifiers);
            }
            expr.for_each_child(&mut |child| check(child, outcome));
        }
        let mut outcome = Ok(());
        self.query.block.for_each_expr(&mut |expr| check(expr, &mut outcome));
        outcome
    }

    pub fn new(query: BoundQuery, rules: Rules) -> Self {
        orrery_core::tour_step!();
        match rules {
            Rules::Off => Self { query, prefer: AccessPreference::Scan },
            Rules::On => {
                let plan = Self { query, prefer: AccessPreference::Cheapest };
                rules::ALL.iter().fold(plan, |plan, rule| rule(plan))
            }
        }
    }
}
