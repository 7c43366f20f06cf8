//! EXISTS: the subquery has a row. It is never undefined, and that there is no row says nothing.

use super::Slots;
use super::rows::has_row;
use crate::access::need::IndexPredicate;
use crate::bind::bound::Block;

pub(super) fn exists(block: &Block, wanted: bool, slots: &Slots<'_>) -> IndexPredicate {
    if wanted { has_row(block, slots) } else { IndexPredicate::True }
}
