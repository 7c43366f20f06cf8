//! Queries whose rows a client only concatenates, perhaps with duplicates removed, and OFFSET and LIMIT
//! applied.

use super::ast_builder::count;
use super::info::{DistinctType, Distributed};
use super::{Planner, QueryInfo, refused};
use crate::bind::row_count;
use crate::error::{Complaint, QueryError};
use crate::parse::{Expr, ExprKind, Query, Window, print};
use orrery_value::Value;

impl Distributed {
    /// The plan that runs the unchanged query in every range. Correct for any query if there is one
    /// range.
    pub fn pass_through(query: &Query) -> Self {
        Self::of(QueryInfo::of(query))
    }
}

impl Planner<'_> {
    pub(super) fn plain(&self) -> Result<Distributed, QueryError> {
        let bounds = self.bounds()?;
        let mut info = QueryInfo::of(self.query);
        bounds.write_to(&mut info);
        let mut each = Query { top: None, window: None, ..self.query.clone() };
        if self.query.distinct {
            // The first rows of each range are not enough: some may be duplicates of another range's
            // rows.
            info.distinct_type = DistinctType::Unordered;
            if !bounds.is_none() {
                info.rewritten_query = print(&each);
            }
        } else if self.options.is_one_partition {
            (info.offset, info.limit) = (None, None);
        } else if bounds.window.is_some() {
            bounds.limit_each_range(&mut each);
            info.rewritten_query = print(&each);
        }
        Ok(Distributed::of(info))
    }

    /// A query without FROM reads no documents: its plan names only the first range, which answers it
    /// completely.
    pub(super) fn without_source(&self) -> Result<Distributed, QueryError> {
        self.bounds()?;
        Ok(Distributed::pass_through(self.query))
    }
}

// TOP, OFFSET and LIMIT as numbers. The binder has resolved them, whatever the text says.

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Bounds {
    pub(super) top: Option<u64>,
    /// OFFSET and LIMIT; they only occur together.
    pub(super) window: Option<(u64, u64)>,
}

impl Bounds {
    pub(super) fn is_none(self) -> bool {
        self == Self::default()
    }

    pub(super) fn take(self) -> Option<u64> {
        self.top.or(self.window.map(|(_, limit)| limit))
    }

    pub(super) fn skip(self) -> Option<u64> {
        self.window.map(|(offset, _)| offset)
    }

    /// Writes the bounds into the plan, for the client to apply after its other steps.
    pub(super) fn write_to(self, info: &mut QueryInfo) {
        info.top = self.top;
        info.offset = self.window.map(|(offset, _)| offset);
        info.limit = self.window.map(|(_, limit)| limit);
    }

    /// Limits each range to the rows that the client could still need of it.
    pub(super) fn limit_each_range(self, query: &mut Query) {
        query.top = self.top.map(count);
        query.window = self
            .window
            .map(|(offset, limit)| Window { offset: count(0), limit: count(offset.saturating_add(limit)) });
    }
}

impl Planner<'_> {
    pub(super) fn bounds(&self) -> Result<Bounds, QueryError> {
        let top = self.query.top.as_ref().map(|top| self.count(top, "TOP")).transpose()?;
        let Some(window) = &self.query.window else { return Ok(Bounds { top, window: None }) };
        if top.is_some() {
            return Err(refused("'OFFSET LIMIT' is not supported in presence of TOP."));
        }
        let window = (self.count(&window.offset, "OFFSET")?, self.count(&window.limit, "LIMIT")?);
        Ok(Bounds { top, window: Some(window) })
    }

    fn count(&self, expr: &Expr, clause: &str) -> Result<u64, QueryError> {
        let number = match &expr.kind {
            ExprKind::Number(number) => Some(*number),
            ExprKind::Parameter(name) => match self.parameter(name) {
                Some(Value::Number(number)) => Some(*number),
                _ => None,
            },
            _ => None,
        };
        number.and_then(row_count).ok_or_else(|| {
            let message = format!("The value of {clause} must be an integer from 0 to {}.", i64::MAX);
            Complaint::new("SC2062", expr.at, message).into()
        })
    }

    pub(super) fn parameter(&self, name: &str) -> Option<&Value> {
        self.parameters.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }
}
