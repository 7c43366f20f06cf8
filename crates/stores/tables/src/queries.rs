//! Queries, and how they are answered.

use crate::error::Error;
use crate::handle::TableHandle;
use crate::store::TableStore;
use orrery_tables::plan::QueryPlan;
use orrery_tables::query::{self, Query, QueryPage};

impl TableStore {
    /// The next page.
    pub fn query(&self, table: &TableHandle, query: &Query) -> Result<QueryPage, Error> {
        let plan = query.plan();
        let page = query::run_plan(&*self.snapshot(), table.number(), query, &plan)?;
        table.usage().count_query(query, &plan, &page);
        Ok(page)
    }

    /// How a query would be answered.
    pub fn explain(&self, query: &Query) -> QueryPlan {
        query.plan()
    }
}
