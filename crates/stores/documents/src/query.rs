//! Queries over items: a page of rows, the access path, and the plan for a client that merges ranges itself.
//!
//! ```text
//! request ── plan cache: parsed and planned once ──> prune: the partitions that the filter names
//!         ── lane: here, or on a thread ──> pages of ranges ──> rows, continuation, usage
//! ```

use crate::cross_partition::{QueryTarget, is_pinned};
use crate::error::Error;
use crate::item_query::ItemQuery;
use crate::metering::Charged;
use crate::partition_key::Scope;
use crate::plan_cache::{PreparedQuery, QueryRequest};
use crate::query_pages::{Begin, Pages, Received};
use crate::query_spec::{QuerySpec, fnv1a};
use crate::scheduler::QueryHost;
use crate::store::Store;
use crate::throttle::Priority;
use crate::usage::{Queried, Reach};
use orrery_core::Lsn;
use orrery_documents::catalog::Container;
use orrery_documents::charge::Charge;
use orrery_documents::item::{Pruning, partitions, settings};
use orrery_keys::Epk;
use orrery_kv::Snapshot;
use orrery_query::access::{IndexOf, Path};
use orrery_query::execute::{self, Host as _, Limits, Page};
use orrery_query::plan::Rules;
use orrery_query::plan::distributed::{
    DistributeOptions, Distributed, HybridForm, QueryRange, distribute, needs_merging, unsupported,
};
use std::sync::Arc;

/// One page of a query.
pub struct PageRequest {
    pub query: Arc<QueryRequest>,
    pub scope: Scope,
    pub target: QueryTarget,
    pub continuation: Option<Received>,
    /// Whether the filter under an ORDER BY may differ from that of the previous page: SDKs that resume one narrow it.
    pub may_narrow: bool,
    pub limits: Limits,
    pub priority: Priority,
}

/// A page, the part of the container that it covers, and the token of the next one.
#[derive(Debug)]
pub struct QueryPage {
    pub page: Page,
    pub scope: Scope,
    pub continuation: Option<String>,
    /// Whether an ORDER BY's first key descends.
    pub descends: Option<bool>,
    pub elapsed_ms: f64,
    /// The snapshot that it was read from.
    pub lsn: Lsn,
}

impl Charged for QueryPage {
    fn charge(&self) -> Charge {
        Charge::page(&self.page)
    }
}

/// How a query would run.
#[derive(Debug)]
pub struct Explained {
    pub plan: String,
    /// The number of logical partitions read.
    pub partitions: String,
    pub access: String,
    pub lsn: Lsn,
}

impl Charged for Explained {
    fn charge(&self) -> Charge {
        Charge::metadata()
    }
}

/// The plan, as JSON, by which a client runs a query over the ranges itself.
#[derive(Debug)]
pub struct ClientPlan(pub String);

impl Charged for ClientPlan {
    fn charge(&self) -> Charge {
        Charge::metadata()
    }
}

impl Store {
    pub async fn query(&self, container: &Arc<Container>, request: PageRequest) -> Result<QueryPage, Error> {
        orrery_core::tour_step!();
        let (scope, priority) = (request.scope.clone(), request.priority);
        let run = async {
            let (snapshot, text) = (self.snapshot(), &request.query.spec.text);
            let (query_key, may_call_functions) =
                (self.query_key(container.number(), text), names_functions(text));
            let work = {
                let (store, container) = (self.clone(), container.clone());
                move |host: &QueryHost| store.query_page(host, &snapshot, &container, &request)
            };
            match may_call_functions {
                true => self.run_query(work).await?,
                false => self.run_known_query(query_key, work).await?,
            }
        };
        self.metered(container, Some(&scope), priority, run).await
    }

    fn query_page(
        &self,
        host: &QueryHost,
        snapshot: &Snapshot,
        container: &Container,
        request: &PageRequest,
    ) -> Result<QueryPage, Error> {
        orrery_core::tour_step!();
        let PageRequest { query, scope, target, continuation, may_narrow, limits, .. } = request;
        let spec = &query.spec;
        let prepared_query = query.prepare(self.parse_cache(), &settings(container))?;
        let PreparedQuery { prepared, question, paths, .. } = &*prepared_query;
        let pruning = Pruning::of(prepared, &spec.parameters, container);
        let named = pruning.partitions();
        target.check(prepared, &spec.parameters, container, named.as_deref())?;
        let is_by_range =
            target.is_by_range() && !prepared.ast.from.is_empty() && !needs_merging(&prepared.ast);
        let question = if *may_narrow { *question } else { spec.fingerprint_of("") };
        let seal = self.tokens().of_query(container.number(), question ^ fingerprint(scope));
        let pages = Pages { container, scope, named: named.as_deref(), seal };
        let Begin { scope, resume, is_by_range } = pages.begin(continuation.as_ref(), is_by_range)?;
        let item_query = ItemQuery {
            store: self,
            state: snapshot,
            container,
            scope: &scope,
            spec,
            query: &prepared_query,
            pruning: &pruning,
            is_indexed: true,
            statistics: Some(self.statistics().at(snapshot.lsn())),
        };
        let page = item_query.page(host, resume.as_deref(), *limits)?;
        if !host.inline_budget_spent() {
            let reach = reach(&scope, named.as_deref(), container);
            self.note_query(container, &spec.text, continuation.is_none(), reach, paths, &page);
        }
        let next = match is_by_range {
            false => page.next.as_deref().map(|state| pages.seal.seal(state)),
            true => pages.next(continuation.is_some(), &scope, page.next.as_deref()),
        };
        let descends = prepared.plan.descends();
        let elapsed_ms = host.elapsed_ms() as f64;
        Ok(QueryPage { page, scope, continuation: next, descends, elapsed_ms, lsn: snapshot.lsn() })
    }

    /// Records the query's shape for `advise`.
    fn note_query(
        &self,
        container: &Container,
        text: &str,
        is_first: bool,
        reach: Reach<'_>,
        paths: &[Path],
        page: &Page,
    ) {
        let missing = &missing_composites(page)[..];
        let (rows, charge) = (page.count as u64, Charge::page(page));
        if is_first {
            self.monitor().queried(container.number(), reach);
        }
        let page = Queried { text, is_first, reach, rows, charge, paths, missing };
        self.usage().queried(container.number(), &page);
    }

    /// The plan of a query, the partitions that it reaches and its access path. Reads nothing but the index statistics
    /// for the choice of the path.
    pub async fn explain(
        &self,
        container: &Arc<Container>,
        spec: QuerySpec,
        scope: Scope,
        limits: Limits,
        priority: Priority,
    ) -> Result<Explained, Error> {
        let run = async {
            let (container, scope, snapshot) = (container.clone(), scope.clone(), self.snapshot());
            let (store, request) = (self.clone(), QueryRequest::new(spec));
            let work = move |host: &QueryHost| -> Result<Explained, Error> {
                let query = request.prepare(store.parse_cache(), &settings(&container))?;
                let plan = &query.prepared.plan;
                let pruning = Pruning::of(&query.prepared, &request.spec.parameters, &container);
                let item_query = ItemQuery {
                    store: &store,
                    state: &*snapshot,
                    container: &container,
                    scope: &scope,
                    spec: &request.spec,
                    query: &query,
                    pruning: &pruning,
                    is_indexed: true,
                    statistics: None,
                };
                let host = item_query.host(host);
                let access = execute::explain(plan, &item_query.items(&host)?, &host, limits)?;
                Ok(Explained {
                    plan: plan.to_string(),
                    partitions: partitions_reached(&scope, pruning.partitions().map(|named| named.len())),
                    access: access.to_string(),
                    lsn: snapshot.lsn(),
                })
            };
            self.run_query(work).await?
        };
        self.metered(container, Some(&scope), priority, run).await
    }

    /// How a client runs a query over the container's ranges itself; `features` are the client's. If the server
    /// `answers_alone`, a container of one range needs no such plan.
    pub async fn client_plan(
        &self,
        container: &Arc<Container>,
        spec: QuerySpec,
        features: String,
        answers_alone: bool,
        scope: Option<&Scope>,
        priority: Priority,
    ) -> Result<ClientPlan, Error> {
        let run = async {
            let (store, container) = (self.clone(), container.clone());
            let plan =
                move |_: &QueryHost| store.distributed_plan(&spec, &features, answers_alone, &container);
            self.run_query(plan).await?
        };
        self.metered(container, scope, priority, run).await
    }

    fn distributed_plan(
        &self,
        spec: &QuerySpec,
        features: &str,
        answers_alone: bool,
        container: &Container,
    ) -> Result<ClientPlan, Error> {
        let settings = settings(container);
        let prepared = self.parse_cache().prepare_for(&spec.text, &spec.parameters, Rules::On, &settings)?;
        let named = partitions(&prepared, &spec.parameters, container);
        let options = DistributeOptions {
            hybrid: HybridForm::for_client(features),
            is_one_partition: is_pinned(named.as_deref()),
            vectors: settings.vectors,
        };
        let distributed = distribute(&prepared.ast, &spec.parameters, &options);
        // One range gives the whole result, so the client need not support merging.
        let is_whole = answers_alone && container.ranges().leaves().len() == 1;
        let plan = match distributed {
            Err(_) if is_whole => Distributed::pass_through(&prepared.ast),
            Err(error) => return Err(error.into()),
            Ok(plan) => match unsupported(&plan.features, features) {
                None => plan,
                Some(_) if is_whole => Distributed::pass_through(&prepared.ast),
                Some(message) => return Err(Error::Invalid(message)),
            },
        };
        Ok(ClientPlan(plan.to_json(&client_ranges(named.as_deref()))))
    }
}

/// Binds a continuation to its partition, so that it reads no other one. A scope of several partitions may be narrowed
/// between pages.
fn fingerprint(scope: &Scope) -> u32 {
    match scope {
        Scope::Partition(epk) => fnv1a(epk.as_bytes()),
        Scope::Between(..) => 0,
    }
}

/// Whether a query may call user-defined functions, which may take seconds and so never run where requests are served.
fn names_functions(text: &str) -> bool {
    text.as_bytes().windows(3).any(|word| word.eq_ignore_ascii_case(b"udf"))
}

/// The partitions read: those of the scope, or those named by the filter. A proper part of a range counts as some of
/// them.
fn reach<'a>(scope: &'a Scope, named: Option<&'a [(Epk, Epk)]>, container: &Container) -> Reach<'a> {
    match (scope, named) {
        (Scope::Partition(epk), _) => Reach::Partition(epk.as_bytes()),
        (_, Some([(min, max)])) if min == max => Reach::Partition(min.as_bytes()),
        (_, Some(_)) => Reach::Some,
        (Scope::Between(min, max), None) => {
            let mut ranges = container.ranges().leaves().iter();
            let is_all = ranges.any(|range| *min <= range.min && range.max <= *max);
            if is_all { Reach::All } else { Reach::Some }
        }
    }
}

/// `named` many that the filter names, else those of the scope.
fn partitions_reached(scope: &Scope, named: Option<usize>) -> String {
    match (scope, named) {
        (Scope::Partition(_), _) | (_, Some(1)) => "one".to_owned(),
        (_, Some(count)) => count.to_string(),
        (Scope::Between(..), None) => "all".to_owned(),
    }
}

/// Composite indexes that would have helped; none if no index was read.
fn missing_composites(page: &Page) -> Vec<Vec<(Path, bool)>> {
    if page.index_usage.is_scan_only {
        return Vec::new();
    }
    let potential = page.index_usage.potential.iter().map(|one| &one.index);
    let composites = potential.filter_map(|index| match index {
        IndexOf::Composite(parts) => Some(parts.clone()),
        IndexOf::Path(_) => None,
    });
    composites.collect()
}

/// The ranges that a client queries. If no document can match or none is read, the very first key: the client needs
/// some range to get its empty result from.
pub(crate) fn client_ranges(named: Option<&[(Epk, Epk)]>) -> Vec<QueryRange> {
    let Some(named) = named else { return vec![QueryRange::whole()] };
    if named.is_empty() {
        return vec![QueryRange::point("")];
    }
    let mut partitions = named.to_vec();
    partitions.sort();
    partitions.dedup();
    let range = |(min, max): &(Epk, Epk)| {
        if min == max {
            QueryRange::point(&min.to_string())
        } else {
            QueryRange::half_open(&min.to_string(), &max.to_string())
        }
    };
    partitions.iter().map(range).collect()
}
