//! Queries whose rows a client only has to put one after the other, and perhaps drop, skip or count some of.

use super::Planner;
use super::info::{DistinctType, Distributed, QueryInfo};
use crate::error::QueryError;
use crate::parse::{Query, print};

impl Distributed {
    /// The plan that runs the query as it is in every range. Right for any query when there is one range.
    pub fn pass_through(query: &Query) -> Self {
        Self::of(QueryInfo::of(query))
    }
}

impl Planner<'_> {
    pub(super) fn plain(&self) -> Result<Distributed, QueryError> {
        let bounds = self.bounds()?;
        let mut info = QueryInfo::of(self.query);
        bounds.tell(&mut info);
        let mut each = Query { top: None, window: None, ..self.query.clone() };
        if self.query.distinct {
            // The first rows of each range are not enough: some may be another range's too.
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

    /// A query without FROM reads no documents: its plan names no range but the first, and that answers it whole.
    pub(super) fn without_source(&self) -> Result<Distributed, QueryError> {
        self.bounds()?;
        Ok(Distributed::pass_through(self.query))
    }
}
