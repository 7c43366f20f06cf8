//! GROUP BY and aggregates: after grouping, a row is its keys and its aggregates, and nothing else.
//!
//! So in the SELECT clause of such a query each expression that is a key becomes the key's slot, and what
//! still reads a source is refused.

use super::Binder;
use super::bound::{Aggregate, Expr, Grouping, Source};
use crate::error::{Complaint, QueryError};
use crate::lex::is_name;
use crate::parse::{self, Query};
use orrery_core::limits;

impl Binder<'_> {
    pub(super) fn group_keys(&mut self, keys: &[parse::Expr]) -> Result<Vec<(usize, Expr)>, QueryError> {
        if let Some(key) = keys.get(limits::GROUP_KEYS_MAX) {
            let message = format!("A GROUP BY has at most {} expressions.", limits::GROUP_KEYS_MAX);
            return Err(Complaint::new("SC2104", key.at, message).into());
        }
        let bind = |key: &parse::Expr| {
            let expr = self.expr(key)?;
            Ok((self.new_slot("#key"), expr))
        };
        keys.iter().map(bind).collect()
    }

    pub(super) fn grouping(
        &mut self,
        keys: Vec<(usize, Expr)>,
        aggregates: Vec<Aggregate>,
        select: &mut Expr,
        from: &[Source],
        query: &Query,
    ) -> Result<Option<Grouping>, QueryError> {
        if keys.is_empty() && aggregates.is_empty() {
            return Ok(None);
        }
        lift(select, &keys);
        let sources: Vec<usize> = from.iter().map(|source| source.slot).collect();
        let mut reads = None;
        select.any(&mut |expr| {
            reads = self.reference(expr, &sources);
            reads.is_some()
        });
        match reads {
            None => Ok(Some(Grouping { keys, aggregates })),
            Some(path) => {
                let message = format!(
                    "Property reference '{path}' is invalid in the select list because it is not contained in either an aggregate function or the GROUP BY clause."
                );
                Err(Complaint::new("SC2102", query.at, message).into())
            }
        }
    }

    /// A path from one of the sources, as a query writes it.
    fn reference(&self, expr: &Expr, sources: &[usize]) -> Option<String> {
        match expr {
            Expr::Slot(slot) if sources.contains(slot) => Some(self.names[*slot].clone()),
            Expr::Member(of, name) if is_name(name) => {
                Some(format!("{}.{name}", self.reference(of, sources)?))
            }
            Expr::Member(of, name) => Some(format!("{}[{name:?}]", self.reference(of, sources)?)),
            _ => None,
        }
    }
}

fn lift(expr: &mut Expr, keys: &[(usize, Expr)]) {
    match keys.iter().find(|(_, key)| key == expr) {
        Some((slot, _)) => *expr = Expr::Slot(*slot),
        None => expr.for_each_child(&mut |child| lift(child, keys)),
    }
}
