//! Runs a prepared query over the items of a scope and returns a page of rows: the same for clients, for `explain` and
//! for scripts.

use crate::plan_cache::PreparedQuery;
use crate::query_spec::QuerySpec;
use crate::scripts::functions::WithFunctions;
use crate::store::Store;
use orrery_documents::catalog::Container;
use orrery_documents::index::StatisticsView;
use orrery_documents::item::{FeedScope, Items, Pruning};
use orrery_kv::Read;
use orrery_query::QueryError;
use orrery_query::execute::{Host, Limits, Page, page_with_predicate};

pub(crate) struct ItemQuery<'a> {
    pub store: &'a Store,
    pub state: &'a dyn Read,
    pub container: &'a Container,
    pub scope: &'a FeedScope,
    pub spec: &'a QuerySpec,
    pub query: &'a PreparedQuery,
    pub pruning: &'a Pruning,
    /// Whether the indexes cover all of the state.
    pub is_indexed: bool,
    pub statistics: Option<StatisticsView<'a>>,
}

impl<'a> ItemQuery<'a> {
    /// The host, with the container's user-defined functions.
    pub(crate) fn host(&self, host: &'a dyn Host) -> WithFunctions<'a> {
        WithFunctions::new(host, self.store, self.state, self.container.rid())
    }

    /// The scope, pruned by the filter.
    pub(crate) fn items<'h>(&self, host: &'h dyn Host) -> Result<Items<'h>, QueryError>
    where
        'a: 'h,
    {
        let items = self.pruning.restrict(Items::new(self.state, self.container, self.scope, host)?);
        let items = match self.statistics {
            Some(statistics) => items.with_statistics(statistics),
            None => items,
        };
        if self.is_indexed { items.indexed() } else { Ok(items) }
    }

    pub(crate) fn page(
        &self,
        host: &'a dyn Host,
        resume: Option<&[u8]>,
        limits: Limits,
    ) -> Result<Page, QueryError> {
        let host = self.host(host);
        let items = self.items(&host)?;
        let PreparedQuery { prepared, need, .. } = self.query;
        let filter = self.spec.resume.as_ref();
        let mut page = page_with_predicate(&prepared.plan, need, &items, &host, resume, filter, limits)?;
        items.scope_key_paths().into_iter().for_each(|path| page.index_usage.add_path(path));
        Ok(page)
    }
}
