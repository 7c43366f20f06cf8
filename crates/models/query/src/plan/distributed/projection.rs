//! What a row of a query becomes, as one expression: the payload that a rewritten query carries along.

use super::Planner;
use super::tree::{call, expr};
use crate::error::QueryError;
use crate::parse::{Expr, ExprKind, Select, SelectItem};

impl Planner<'_> {
    pub(super) fn payload(&self) -> Result<Expr, QueryError> {
        match &self.query.select {
            Select::All => self.whole_row(),
            Select::Value(value) => Ok(value.clone()),
            Select::List(items) => {
                let values = items.iter().map(|item| item.expr.clone());
                Ok(expr(ExprKind::Object(member_names(items).into_iter().zip(values).collect())))
            }
        }
    }

    /// What keeps out the rows that are not there: `SELECT VALUE` of undefined gives no row, but a payload
    /// beside other members would only be left out.
    pub(super) fn payload_is_there(&self) -> Option<Expr> {
        match &self.query.select {
            Select::Value(value) if !is_always_defined(value) => {
                Some(call("IS_DEFINED", vec![value.clone()]))
            }
            _ => None,
        }
    }
}

/// The names of a SELECT list's members; those that have none are counted.
pub(super) fn member_names(items: &[SelectItem]) -> Vec<String> {
    let mut unnamed = 0;
    let name = |item: &SelectItem| match (&item.alias, &item.expr.kind) {
        (Some(alias), _) => alias.text.clone(),
        (None, ExprKind::Name(name) | ExprKind::Member(_, name)) => name.clone(),
        (None, _) => {
            unnamed += 1;
            format!("${unnamed}")
        }
    };
    items.iter().map(name).collect()
}

/// A source's row is never undefined, and neither is what is written out.
fn is_always_defined(value: &Expr) -> bool {
    use ExprKind::{Array, Bool, Name, Null, Number, Object, String};
    matches!(value.kind, Name(_) | Object(_) | Array(_) | Null | Bool(_) | Number(_) | String(_))
}
