//! Running a plan: documents in, pages of rows out.
//!
//! ```text
//! Collection ─ scan ──────────┐
//!    Indexes ─ index_access ──┴─> from ─ filter ─> sink ─> page
//! ```
//!
//! A full scan reads every document in turn; an index leads to some of them. FROM derives rows from each, and
//! rows that pass the filter go to the sink that fits the query (`sink/`). Subqueries run once per row
//! (`subquery`). Every loop counts its steps, so that no query runs or grows without bound (`exec_context`).

mod accumulator;
mod collection;
mod continuation;
mod eval;
mod exec_context;
mod from;
mod index_access;
mod index_cursor;
mod operators;
mod page;
mod rank;
mod scan;
mod sink;
mod subquery;

pub use collection::{Collection, OrdinalScan, RelativePosition, ScannedDocument, Start};
pub(crate) use exec_context::ExecContext;
pub use exec_context::{Host, Metrics};
pub use page::{Limits, Page, ResumeFilter};
pub(crate) use subquery::size_of_value;

use crate::access::{self, Access, IndexPredicate, IndexUsage, Materialized, PageRequest};
use crate::error::QueryError;
use crate::plan::Plan;
use continuation::QueryState;
use scan::Scan;

/// The next page of a plan's result; `resume` is the previous page's [`Page::next`].
pub fn page(
    plan: &Plan,
    collection: &dyn Collection,
    host: &dyn Host,
    resume: Option<&[u8]>,
    filter: Option<&ResumeFilter>,
    limits: Limits,
) -> Result<Page, QueryError> {
    page_with_predicate(
        plan,
        &access::index_predicate(&plan.query.block),
        collection,
        host,
        resume,
        filter,
        limits,
    )
}

/// Variant for callers that have already computed the plan's index predicate.
pub fn page_with_predicate(
    plan: &Plan,
    need: &IndexPredicate,
    collection: &dyn Collection,
    host: &dyn Host,
    resume: Option<&[u8]>,
    filter: Option<&ResumeFilter>,
    limits: Limits,
) -> Result<Page, QueryError> {
    orrery_core::tour_step!();
    let resume = resume.map(QueryState::read).transpose()?;
    let ctx = ExecContext::new(host);
    let query = &plan.query;
    let indexes = collection.indexes();
    let request = page::request(plan, resume.as_ref(), limits);
    let chosen = access::choose(&query.block, need, indexes, request, &ctx)?;
    let Materialized { access, known } = access::materialize(chosen.clone(), indexes, &ctx)?;
    let access = access::in_order(access, &query.block, request, collection)?;
    let (block, slots) = (&query.block, query.slots);
    let open = access::residual_conditions(block, &known);
    let scan = Scan { block, filter: open, slots, collection, access: &access, ctx: &ctx };
    let page = page::run(&scan, resume, filter, limits)?;
    let used = access::index_usage(&query.block, need, collection.declared(), chosen);
    let used = IndexUsage { is_scan_only: indexes.is_none(), ..used };
    Ok(Page { metrics: ctx.metrics(), index_usage: used, ..page })
}

/// The access path that the first page of a plan would take.
pub fn explain(
    plan: &Plan,
    collection: &dyn Collection,
    host: &dyn Host,
    limits: Limits,
) -> Result<Access, QueryError> {
    let ctx = ExecContext::new(host);
    let (block, request): (_, PageRequest) = (&plan.query.block, page::request(plan, None, limits));
    access::choose(block, &access::index_predicate(block), collection.indexes(), request, &ctx)
}

/// The value of an expression that reads no row, if it can be computed within the limits.
pub(crate) fn constant(expr: &crate::bind::bound::Expr, host: &dyn Host) -> Option<orrery_value::Value> {
    let ctx = ExecContext::new(host);
    let value = eval::eval(expr, &mut Vec::new(), &ctx).into_value();
    ctx.check().is_ok().then_some(value)
}

/// The result for one document: the value of its only row, undefined if it has none.
pub fn value_of(plan: &Plan, root: crate::datum::Datum<'_>, host: &dyn Host) -> orrery_value::Value {
    let ctx = ExecContext::new(host);
    let query = &plan.query;
    let mut row = vec![crate::datum::Datum::Undefined; query.slots];
    if let Some(source) = query.block.from.first() {
        row[source.slot] = root;
    }
    subquery::first_value(&query.block, &mut row, &ctx).into_value()
}
