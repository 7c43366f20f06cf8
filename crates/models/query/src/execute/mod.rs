//! Running a plan: documents in, pages of rows out.
//!
//! ```text
//! Collection ─ scan ──┐
//!     Indexes ─ reach ─┴─> rows ─ filter ─> sink ─> page
//! ```
//!
//! A scan shows document after document, or an index leads to some of them; FROM makes rows of each; those that
//! pass the filter go to the sink that fits the query (`sink/`). Subqueries run inside, once for each row (`block`). Every loop counts its
//! steps, so no query runs, or grows, without bound (`world`).

mod accumulate;
mod along;
mod block;
mod collection;
mod derived;
mod ends;
mod eval;
mod like;
mod operators;
mod page;
mod rank;
mod reach;
mod rows;
mod scan;
mod sink;
mod state;
mod world;

pub(crate) use block::size_of_value;
pub use collection::{ByNumber, Collection, Found, Start, Whereabouts};
pub use page::{Limits, Page, ResumeFilter};
pub(crate) use world::World;
pub use world::{Host, Metrics};

use crate::access::{self, Access, Need, Settled, Task, Used};
use crate::error::QueryError;
use crate::plan::Plan;
use scan::Scan;
use state::State;

/// The next page of a plan's answer; `resume` is what the page before gave as [`Page::next`].
pub fn page(
    plan: &Plan,
    collection: &dyn Collection,
    host: &dyn Host,
    resume: Option<&[u8]>,
    filter: Option<&ResumeFilter>,
    limits: Limits,
) -> Result<Page, QueryError> {
    page_needing(plan, &access::need(&plan.query.block), collection, host, resume, filter, limits)
}

/// The same for who knows already what the plan needs of a document.
pub fn page_needing(
    plan: &Plan,
    need: &Need,
    collection: &dyn Collection,
    host: &dyn Host,
    resume: Option<&[u8]>,
    filter: Option<&ResumeFilter>,
    limits: Limits,
) -> Result<Page, QueryError> {
    let resume = resume.map(State::read).transpose()?;
    let world = World::new(host);
    let query = &plan.query;
    let indexes = collection.indexes();
    let task = page::task(plan, resume.as_ref(), limits);
    let chosen = access::choose(&query.block, need, indexes, task, &world)?;
    let Settled { access, known } = access::settle(chosen.clone(), indexes, &world)?;
    let access = access::in_order(access, &query.block, task, collection)?;
    let (block, slots) = (&query.block, query.slots);
    let open = access::open_conditions(block, &known);
    let scan = Scan { block, filter: open, slots, collection, access: &access, world: &world };
    let page = page::run(&scan, resume, filter, limits)?;
    let used = access::used(&query.block, need, collection.declared(), chosen);
    let used = Used { is_read_through: indexes.is_none(), ..used };
    Ok(Page { metrics: world.metrics(), used, ..page })
}

/// The way that the first page of a plan's answer takes to its documents.
pub fn explain(
    plan: &Plan,
    collection: &dyn Collection,
    host: &dyn Host,
    limits: Limits,
) -> Result<Access, QueryError> {
    let world = World::new(host);
    let (block, task): (_, Task) = (&plan.query.block, page::task(plan, None, limits));
    access::choose(block, &access::need(block), collection.indexes(), task, &world)
}

/// The value of an expression that reads no row, if it has one within the bounds.
pub(crate) fn constant(expr: &crate::bind::bound::Expr, host: &dyn Host) -> Option<orrery_value::Value> {
    let world = World::new(host);
    let value = eval::eval(expr, &mut Vec::new(), &world).into_value();
    world.outcome().is_ok().then_some(value)
}

/// What a query makes of one document: the value of its only row, undefined if it has none.
pub fn value_of(plan: &Plan, root: crate::datum::Datum<'_>, host: &dyn Host) -> orrery_value::Value {
    let world = World::new(host);
    let query = &plan.query;
    let mut row = vec![crate::datum::Datum::Undefined; query.slots];
    if let Some(source) = query.block.from.first() {
        row[source.slot] = root;
    }
    block::first(&query.block, &mut row, &world).into_value()
}
