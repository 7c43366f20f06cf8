//! Subqueries, evaluated for one row of the outer query.
//!
//! The rows are few and come from one document, so everything is in memory and counted against the query's
//! limit.

use super::accumulator::Accumulator;
use super::eval::{Row, built, eval};
use super::exec_context::ExecContext;
use super::from::each_row;
use crate::bind::bound::{Block, Grouping};
use crate::datum::Datum;
use orrery_value::Value;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

/// The first row's value; undefined without rows.
pub(crate) fn first_value<'d>(block: &'d Block, row: &mut Row<'d>, ctx: &ExecContext<'_>) -> Datum<'d> {
    let mut found = Datum::Undefined;
    let _ = each_value(block, row, ctx, &mut |_, value| {
        found = value;
        ControlFlow::Break(())
    });
    found
}

/// The values of all rows as an array.
pub(crate) fn array_of_values<'d>(block: &'d Block, row: &mut Row<'d>, ctx: &ExecContext<'_>) -> Datum<'d> {
    let held = ctx.held();
    let mut items = Vec::new();
    let _ = each_value(block, row, ctx, &mut |_, value| {
        let value = value.into_value();
        ctx.hold(size_of_value(&value));
        items.push(value);
        if ctx.is_stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    ctx.release(held);
    built(Value::Array(items), ctx)
}

/// Shows each row of the subquery. Rows with an undefined value are skipped.
pub(crate) fn each_value<'d>(
    block: &'d Block,
    row: &mut Row<'d>,
    ctx: &ExecContext<'_>,
    visit: &mut dyn FnMut(&mut Row<'d>, Datum<'d>) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let mut window = Window { skip: block.offset, left: block.limit.unwrap_or(u64::MAX) };
    let mut limited = |row: &mut Row<'d>, value: Datum<'d>| match window.admit() {
        Admit::Skip => ControlFlow::Continue(()),
        Admit::Stop => ControlFlow::Break(Ended::Limit),
        Admit::Take => visit(row, value).map_break(|()| Ended::Visitor),
    };
    let ended = if block.is_streaming() {
        stream(block, row, ctx, &mut limited)
    } else {
        let held = ctx.held();
        let rows = collect(block, row, ctx);
        let ended = rows.into_iter().try_for_each(|value| limited(row, Datum::owned(value)));
        ctx.release(held);
        ended
    };
    match ended {
        ControlFlow::Break(Ended::Visitor) => ControlFlow::Break(()),
        _ if ctx.is_stopped() => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    }
}

enum Ended {
    /// OFFSET and LIMIT are exhausted.
    Limit,
    Visitor,
}

struct Window {
    skip: u64,
    left: u64,
}

enum Admit {
    Skip,
    Take,
    Stop,
}

impl Window {
    fn admit(&mut self) -> Admit {
        if self.skip > 0 {
            self.skip -= 1;
            return Admit::Skip;
        }
        if self.left == 0 {
            return Admit::Stop;
        }
        self.left -= 1;
        Admit::Take
    }
}

fn stream<'d>(
    block: &'d Block,
    row: &mut Row<'d>,
    ctx: &ExecContext<'_>,
    visit: &mut dyn FnMut(&mut Row<'d>, Datum<'d>) -> ControlFlow<Ended>,
) -> ControlFlow<Ended> {
    let mut ended = ControlFlow::Continue(());
    let _ = filtered(block, row, ctx, &mut |row| {
        let value = eval(&block.select, row, ctx);
        if value.is_undefined() {
            return ControlFlow::Continue(());
        }
        ended = visit(row, value);
        if ended.is_break() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    ended
}

fn filtered<'d>(
    block: &'d Block,
    row: &mut Row<'d>,
    ctx: &ExecContext<'_>,
    visit: super::from::Visit<'_, 'd>,
) -> ControlFlow<()> {
    each_row(&block.from, row, ctx, &mut |row| {
        if block.filter.as_ref().is_some_and(|filter| !eval(filter, row, ctx).is_true()) {
            return ControlFlow::Continue(());
        }
        visit(row)
    })
}

/// The rows of a subquery that cannot stream, in order.
fn collect<'d>(block: &'d Block, row: &mut Row<'d>, ctx: &ExecContext<'_>) -> Vec<Value> {
    let mut rows: Vec<(Vec<Value>, Value)> = Vec::new();
    let mut keep = |keys: Vec<Value>, value: Datum<'d>| {
        if !value.is_undefined() {
            let value = value.into_value();
            ctx.hold(size_of_value(&value) + keys.iter().map(size_of_value).sum::<usize>());
            rows.push((keys, value));
        }
    };
    match &block.grouping {
        Some(grouping) => {
            for (keys, accumulators) in groups(block, grouping, row, ctx) {
                fill(grouping, row, keys, accumulators);
                keep(Vec::new(), eval(&block.select, row, ctx));
            }
        }
        None => {
            let _ = filtered(block, row, ctx, &mut |row| {
                let keys = block.order.iter().map(|key| eval(&key.expr, row, ctx).into_value()).collect();
                keep(keys, eval(&block.select, row, ctx));
                if ctx.is_stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
        }
    }
    rows.sort_by(|(a, _), (b, _)| compare_keys(block, a, b));
    let mut seen = BTreeSet::new();
    let rows = rows.into_iter().map(|(_, value)| value);
    rows.filter(|value| !block.distinct || seen.insert(value.clone())).collect()
}

fn compare_keys(block: &Block, a: &[Value], b: &[Value]) -> Ordering {
    let by_key = block.order.iter().zip(a.iter().zip(b)).map(|(key, (a, b))| {
        let order = a.cmp_total(b);
        if key.descending { order.reverse() } else { order }
    });
    by_key.fold(Ordering::Equal, Ordering::then)
}

fn groups<'d>(
    block: &'d Block,
    grouping: &'d Grouping,
    row: &mut Row<'d>,
    ctx: &ExecContext<'_>,
) -> BTreeMap<Vec<Value>, Vec<Accumulator>> {
    let mut groups = BTreeMap::new();
    if grouping.keys.is_empty() {
        groups.insert(Vec::new(), Accumulator::for_all(grouping));
    }
    let _ = filtered(block, row, ctx, &mut |row| {
        let keys: Vec<Value> =
            grouping.keys.iter().map(|(_, key)| eval(key, row, ctx).into_value()).collect();
        let size = keys.iter().map(size_of_value).sum::<usize>();
        let group = groups.entry(keys).or_insert_with(|| {
            ctx.hold(size + 64);
            Accumulator::for_all(grouping)
        });
        Accumulator::add_row(group, grouping, row, ctx);
        if ctx.is_stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    groups
}

/// Writes a group's keys and aggregates into their slots.
pub(crate) fn fill<'d>(
    grouping: &Grouping,
    row: &mut Row<'d>,
    keys: Vec<Value>,
    accumulators: Vec<Accumulator>,
) {
    for ((slot, _), key) in grouping.keys.iter().zip(keys) {
        row[*slot] = Datum::owned(key);
    }
    for (aggregate, accumulator) in grouping.aggregates.iter().zip(accumulators) {
        row[aggregate.slot] = Datum::owned(accumulator.finish());
    }
}

/// The nesting depth of arrays and objects. The value consists of measured parts, so the recursion is
/// bounded.
pub(crate) fn levels_of_value(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(levels_of_value).max().unwrap_or(0),
        Value::Object(members) => {
            1 + members.iter().map(|(_, value)| levels_of_value(value)).max().unwrap_or(0)
        }
        _ => 0,
    }
}

/// The approximate memory of a value.
pub(crate) fn size_of_value(value: &Value) -> usize {
    const NODE: usize = std::mem::size_of::<Value>();
    NODE + match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(size_of_value).sum(),
        Value::Object(members) => {
            members.iter().map(|(name, value)| 24 + name.len() + size_of_value(value)).sum()
        }
        _ => 0,
    }
}
