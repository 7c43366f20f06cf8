//! The rows of FROM: every combination of what its sources give, the first source outermost.

use super::block;
use super::eval::{Row, eval};
use super::exec_context::ExecContext;
use crate::bind::bound::{Source, SourceOf};
use crate::datum::Datum;
use orrery_value::raw;
use std::ops::ControlFlow;

/// What to do with a row: go on, or no more rows are wanted.
pub(crate) type Visit<'v, 'd> = &'v mut dyn FnMut(&mut Row<'d>) -> ControlFlow<()>;

/// Fills the slots of `sources` with each combination. A source sees those before it.
pub(crate) fn each_row<'d>(
    sources: &'d [Source],
    row: &mut Row<'d>,
    ctx: &ExecContext<'_>,
    visit: Visit<'_, 'd>,
) -> ControlFlow<()> {
    let Some((source, rest)) = sources.split_first() else {
        return if ctx.count_row() { visit(row) } else { ControlFlow::Break(()) };
    };
    let mut each = |row: &mut Row<'d>, value: Datum<'d>| {
        // Also where nothing comes of it: a source after this one may give no rows.
        if !rest.is_empty() && !ctx.count_row() {
            return ControlFlow::Break(());
        }
        row[source.slot] = value;
        each_row(rest, row, ctx, visit)
    };
    match &source.of {
        // Whoever scans the collection has filled the slot.
        SourceOf::Collection => {
            let document = row[source.slot].clone();
            each(row, document)
        }
        SourceOf::Value(expr) => match eval(expr, row, ctx) {
            Datum::Undefined => ControlFlow::Continue(()),
            value => each(row, value),
        },
        SourceOf::Each(expr) => each_element(eval(expr, row, ctx), row, &mut each),
        SourceOf::Rows(block) => block::each(block, row, ctx, &mut each),
        SourceOf::EachOfRows(block) => {
            block::each(block, row, ctx, &mut |row, value| each_element(value, row, &mut each))
        }
    }
}

/// The elements of an array; of anything else there are none.
pub(crate) fn each_element<'d>(
    value: Datum<'d>,
    row: &mut Row<'d>,
    each: &mut dyn FnMut(&mut Row<'d>, Datum<'d>) -> ControlFlow<()>,
) -> ControlFlow<()> {
    match value {
        Datum::Text(text) => raw::elements(text).try_for_each(|item| each(row, Datum::read(item))),
        value => value.elements().unwrap_or_default().into_iter().try_for_each(|item| each(row, item)),
    }
}
