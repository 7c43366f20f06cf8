//! AND and OR, and expressions that are one of two others.
//!
//! An AND is true when all its terms are, and false when one of them is, whatever the others; with an OR it is
//! the other way round. So both say something of their terms even beside terms that are undefined.

use super::compare::is_defined;
use super::{SlotPaths, when};
use crate::access::predicate::IndexPredicate;
use crate::bind::bound::{Block, Expr, Source, SourceOf};

/// AND and OR: all of the terms are as wanted (an AND that is true, an OR that is false), or one of them is.
pub(super) fn junction(terms: &[Expr], each: bool, wanted: bool, slots: &SlotPaths<'_>) -> IndexPredicate {
    let needs = terms.iter().map(|term| when(term, wanted, slots));
    if each { IndexPredicate::and(needs) } else { IndexPredicate::or(needs) }
}

/// `test ? yes : no`. That the test is not true says nothing: it may be undefined.
pub(super) fn conditional(
    [test, yes, no]: [&Expr; 3],
    wanted: bool,
    slots: &SlotPaths<'_>,
) -> IndexPredicate {
    let taken = IndexPredicate::and([when(test, true, slots), when(yes, wanted, slots)]);
    IndexPredicate::or([taken, when(no, wanted, slots)])
}

pub(super) fn iif(args: &[Expr], wanted: bool, slots: &SlotPaths<'_>) -> IndexPredicate {
    match args {
        [test, yes, no] => conditional([test, yes, no], wanted, slots),
        _ => IndexPredicate::True,
    }
}

/// `first ?? second`
pub(super) fn coalesce(first: &Expr, second: &Expr, wanted: bool, slots: &SlotPaths<'_>) -> IndexPredicate {
    IndexPredicate::or([when(first, wanted, slots), when(second, wanted, slots)])
}

// EXISTS: the subquery has a row. It is never undefined, and that there is no row says nothing.

pub(super) fn exists(block: &Block, wanted: bool, slots: &SlotPaths<'_>) -> IndexPredicate {
    if wanted { has_row(block, slots) } else { IndexPredicate::True }
}

// What it says of a document that it gives a row.

/// A row of the block's sources passes its filter. `slots` are those inside the block.
pub(in crate::access) fn passing(block: &Block, slots: &SlotPaths<'_>) -> IndexPredicate {
    let sources = block.from.iter().map(|source| gives_row(source, slots));
    let filter = block.filter.iter().map(|filter| when(filter, true, slots));
    IndexPredicate::and(filter.chain(sources))
}

/// A subquery has a row.
pub(super) fn has_row(block: &Block, slots: &SlotPaths<'_>) -> IndexPredicate {
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
fn gives_row(source: &Source, slots: &SlotPaths<'_>) -> IndexPredicate {
    let alias = is_defined(&Expr::Slot(source.slot), slots);
    match &source.of {
        SourceOf::Rows(block) | SourceOf::EachOfRows(block) => {
            IndexPredicate::and([has_row(block, slots), alias])
        }
        SourceOf::Collection | SourceOf::Value(_) | SourceOf::Each(_) => alias,
    }
}
