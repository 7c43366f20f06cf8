//! What it says of a document that it gives a row.

use super::defined::is_defined;
use super::{Slots, when};
use crate::access::need::IndexPredicate;
use crate::bind::bound::{Block, Expr, Source, SourceOf};

/// A row of the block's sources passes its filter. `slots` are those inside the block.
pub(in crate::access) fn passing(block: &Block, slots: &Slots<'_>) -> IndexPredicate {
    let sources = block.from.iter().map(|source| gives_row(source, slots));
    let filter = block.filter.iter().map(|filter| when(filter, true, slots));
    IndexPredicate::and(filter.chain(sources))
}

/// A subquery has a row.
pub(super) fn has_row(block: &Block, slots: &Slots<'_>) -> IndexPredicate {
    let inside = slots.inside(block);
    match &block.grouping {
        None => IndexPredicate::and([passing(block, &inside), is_defined(&block.select, &inside)]),
        // Aggregates without keys make a row of no rows too.
        Some(grouping) if grouping.keys.is_empty() => IndexPredicate::True,
        Some(_) => passing(block, &inside),
    }
}

/// A source gives a row. An array without elements gives none, and neither does a value that is not there; the
/// alias stands for what was found.
fn gives_row(source: &Source, slots: &Slots<'_>) -> IndexPredicate {
    let alias = is_defined(&Expr::Slot(source.slot), slots);
    match &source.of {
        SourceOf::Rows(block) | SourceOf::EachOfRows(block) => {
            IndexPredicate::and([has_row(block, slots), alias])
        }
        SourceOf::Collection | SourceOf::Value(_) | SourceOf::Each(_) => alias,
    }
}
