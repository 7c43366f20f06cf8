//! From tree to bound tree: names to slots, parameters to constants, calls to functions.
//!
//! Scopes nest as queries do. The first source of the outermost query (or of a subquery that stands there)
//! names the collection, whatever name it uses; every other name must be an alias in scope.

pub mod bound;
mod clauses;
mod expression;
mod order;
mod rank;
mod visit;

pub(crate) use clauses::row_count;

use crate::error::{Complaint, QueryError};
use crate::execute::size_of_value;
use crate::functions::vector::Distance;
use crate::limits;
use crate::parse::{self, TextSpan};
use bound::Block;
use orrery_value::Value;
use std::collections::HashMap;

/// The parameters of a query, each name with its `@`; undefined when it came without a value.
pub type Parameters = [(String, Value)];

/// A bound query, and how many slots a row of it takes.
#[derive(Clone, Debug, PartialEq)]
pub struct BoundQuery {
    pub block: Block,
    pub slots: usize,
    /// The name of each slot, for printing.
    pub names: Vec<String>,
}

/// What the container says that a query is bound for.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// How the vectors at each path are compared when a query does not say.
    pub vectors: Vec<(Vec<String>, Distance)>,
    /// The composite indexes of the policy: paths, and whether each descends. `None` where there is no policy and
    /// any order goes.
    pub composites: Option<Vec<CompositeIndex>>,
}

/// Paths as member names, each with whether it descends.
pub type CompositeIndex = Vec<(Vec<String>, bool)>;

pub fn bind(
    query: &parse::Query,
    parameters: &Parameters,
    settings: &Settings,
) -> Result<BoundQuery, QueryError> {
    orrery_core::tour_step!();
    let mut binder = Binder {
        parameters: parameters.iter().map(|(name, value)| (name.as_str(), value)).collect(),
        expanded: 0,
        settings,
        scope: Vec::new(),
        names: Vec::new(),
        collected: None,
        depth: 0,
    };
    let block = binder.block(query, true)?;
    settings.check_order(&block)?;
    Ok(BoundQuery { block, slots: binder.names.len(), names: binder.names })
}

struct Binder<'a> {
    parameters: HashMap<&'a str, &'a Value>,
    /// Memory of the parameters' values that stand in the bound tree so far.
    expanded: usize,
    settings: &'a Settings,
    /// Aliases that can be named here, the innermost last.
    scope: Vec<(String, usize)>,
    names: Vec<String>,
    /// The aggregates met so far, where they are allowed.
    collected: Option<Vec<bound::Aggregate>>,
    /// Queries around this place.
    depth: usize,
}

impl Binder<'_> {
    fn new_slot(&mut self, name: &str) -> usize {
        self.names.push(name.to_owned());
        self.names.len() - 1
    }

    fn declare(&mut self, name: &str, at: TextSpan, from: usize) -> Result<usize, Complaint> {
        if self.scope[from..].iter().any(|(known, _)| known == name) {
            let message = format!("The input alias '{name}' is specified more than once in the FROM clause.");
            return Err(Complaint::new("SC2014", at, message));
        }
        let slot = self.new_slot(name);
        self.scope.push((name.to_owned(), slot));
        Ok(slot)
    }

    fn resolve(&self, name: &str) -> Option<usize> {
        self.scope.iter().rev().find(|(known, _)| known == name).map(|(_, slot)| *slot)
    }

    fn parameter(&mut self, name: &str, at: TextSpan) -> Result<&Value, QueryError> {
        let Some(value) = self.parameters.get(name).copied() else {
            let message = format!("The query uses the parameter '{name}', which was not given a value.");
            return Err(Complaint::new("SC2090", at, message).into());
        };
        // Each use is a copy.
        self.expanded += size_of_value(value);
        if self.expanded > limits::VALUE_BYTES_MAX {
            return Err(QueryError::Refused(format!(
                "The query uses parameters of more than {} MB, counted as often as they are used; bind a large one once, with JOIN x IN (SELECT VALUE @parameter).",
                limits::VALUE_BYTES_MAX / 1024 / 1024
            )));
        }
        Ok(value)
    }
}

fn unresolved(name: &str, at: TextSpan) -> Complaint {
    Complaint::new("SC2001", at, format!("Identifier '{name}' could not be resolved."))
}
