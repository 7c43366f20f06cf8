//! Binding: names become slots, parameters become constants, calls find their functions.
//!
//! Scopes nest as queries do. The first source of the outermost query (or of a subquery in that place) names
//! the collection, whatever name it uses; every other name must be an alias in scope.

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

/// Parameter values by name, including the `@`; undefined if the parameter has no value.
pub type Parameters = [(String, Value)];

/// A bound query and the number of slots in its rows.
#[derive(Clone, Debug, PartialEq)]
pub struct BoundQuery {
    pub block: Block,
    pub slots: usize,
    /// The name of each slot, for printing.
    pub names: Vec<String>,
}

/// The container settings that affect binding.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The default distance function of each vector path.
    pub vectors: Vec<(Vec<String>, Distance)>,
    /// The policy's composite indexes: paths, and whether each descends. `None` if there is no policy;
    /// then every ORDER BY is accepted.
    pub composites: Option<Vec<CompositeIndex>>,
}

/// Member paths, each with whether it descends.
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
    /// Memory that the parameter values copied into the bound tree take.
    expanded: usize,
    settings: &'a Settings,
    /// The aliases in scope, the innermost last.
    scope: Vec<(String, usize)>,
    names: Vec<String>,
    /// The aggregates found so far, where aggregates are allowed.
    collected: Option<Vec<bound::Aggregate>>,
    /// The number of enclosing queries.
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
        // Each use of a parameter copies its value.
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
