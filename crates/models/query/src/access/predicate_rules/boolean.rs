//! AND and OR, and expressions that select one of two others.
//!
//! An AND is true if all its terms are and false if one of them is, whatever the others; for OR it is the
//! reverse. So both imply something about their terms even beside undefined ones.

use super::compare::is_defined;
use super::{SlotPaths, when};
use crate::access::predicate::IndexPredicate;
use crate::bind::bound::{Block, Expr, Source, SourceOf};

/// AND and OR: either all terms have the wanted value (a true AND, a false OR), or one of them does.
pub(super) fn junction(terms: &[Expr], each: bool, wanted: bool, slots: &SlotPaths<'_>) -> IndexPredicate {
    let needs = terms.iter().map(|term| when(term, wanted, slots));
    if each { IndexPredicate::and(needs) } else { IndexPredicate::or(needs) }
}

/// `test ? yes : no`. A test that is not true implies nothing, since it may be undefined.
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

// EXISTS: the subquery has a row. It is never undefined, and its being false implies nothing.

pub(super) fn exists(block: &Block, wanted: bool, slots: &SlotPaths<'_>) -> IndexPredicate {
    if wanted { has_row(block, slots) } else { IndexPredicate::True }
}

// Implications of a document giving a row.

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
        // Aggregates without keys give a row even for no input.
        Some(grouping) if grouping.keys.is_empty() => IndexPredicate::True,
        Some(_) => passing(block, &inside),
    }
}

/// A source gives a row. An empty array gives none, and neither does an undefined value; the alias is bound
/// to the value found.
fn gives_row(source: &Source, slots: &SlotPaths<'_>) -> IndexPredicate {
    let alias = is_defined(&Expr::Slot(source.slot), slots);
    match &source.of {
        SourceOf::Rows(block) | SourceOf::EachOfRows(block) => {
            IndexPredicate::and([has_row(block, slots), alias])
        }
        SourceOf::Collection | SourceOf::Value(_) | SourceOf::Each(_) => alias,
    }
}
