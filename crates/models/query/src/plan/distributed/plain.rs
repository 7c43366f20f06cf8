//! Queries whose rows a client only has to put one after the other, and perhaps drop, skip or count some of.

use super::info::{DistinctType, Distributed, QueryInfo};
use super::{Feature, Planner};
use crate::error::QueryError;
use crate::parse::{Query, print};

impl Distributed {
    /// The plan that runs the query as it is in every range. Right for any query when there is one range.
    pub fn pass_through(query: &Query) -> Self {
        Self::of(QueryInfo::of(query), Vec::new())
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
        } else if bounds.window.is_some() {
            bounds.limit_each_range(&mut each);
            info.rewritten_query = print(&each);
        }
        Ok(Distributed::of(info, Vec::new()))
    }

    /// Every range gives the one row of a query without FROM, and the client takes one of them.
    pub(super) fn without_source(&self) -> Result<Distributed, QueryError> {
        let bounds = self.bounds()?;
        let mut info = QueryInfo::of(self.query);
        info.top = Some(bounds.top.unwrap_or(1).min(1));
        Ok(Distributed::of(info, vec![Feature::Top]))
    }
}
