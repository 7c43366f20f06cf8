//! AND and OR, and expressions that are one of two others.
//!
//! An AND is true when all its terms are, and false when one of them is, whatever the others; with an OR it is
//! the other way round. So both say something of their terms even beside terms that are undefined.

use super::{Slots, when};
use crate::access::need::IndexPredicate;
use crate::bind::bound::Expr;

/// AND and OR: all of the terms are as wanted (an AND that is true, an OR that is false), or one of them is.
pub(super) fn junction(terms: &[Expr], each: bool, wanted: bool, slots: &Slots<'_>) -> IndexPredicate {
    let needs = terms.iter().map(|term| when(term, wanted, slots));
    if each { IndexPredicate::and(needs) } else { IndexPredicate::or(needs) }
}

/// `test ? yes : no`. That the test is not true says nothing: it may be undefined.
pub(super) fn conditional([test, yes, no]: [&Expr; 3], wanted: bool, slots: &Slots<'_>) -> IndexPredicate {
    let taken = IndexPredicate::and([when(test, true, slots), when(yes, wanted, slots)]);
    IndexPredicate::or([taken, when(no, wanted, slots)])
}

pub(super) fn iif(args: &[Expr], wanted: bool, slots: &Slots<'_>) -> IndexPredicate {
    match args {
        [test, yes, no] => conditional([test, yes, no], wanted, slots),
        _ => IndexPredicate::True,
    }
}

/// `first ?? second`
pub(super) fn coalesce(first: &Expr, second: &Expr, wanted: bool, slots: &Slots<'_>) -> IndexPredicate {
    IndexPredicate::or([when(first, wanted, slots), when(second, wanted, slots)])
}
