//! BETWEEN: `>=` and `<=`.

use super::Slots;
use super::compare::{holds, side_of};
use crate::access::interval::kind_of;
use crate::access::need::IndexPredicate;
use crate::bind::bound::Expr;
use crate::datum::Kind;
use crate::parse::BinaryOp;
use orrery_value::Value;

pub(super) fn between([value, low, high]: [&Expr; 3], is_between: bool, slots: &Slots<'_>) -> IndexPredicate {
    if !is_between {
        return IndexPredicate::or([
            holds(BinaryOp::Less, value, low, slots),
            holds(BinaryOp::Greater, value, high, slots),
        ]);
    }
    both(value, low, high, slots).unwrap_or_else(|| {
        IndexPredicate::and([
            holds(BinaryOp::GreaterOrEqual, value, low, slots),
            holds(BinaryOp::LessOrEqual, value, high, slots),
        ])
    })
}

/// One term for both ends: it is the same value that is between them, also in an array.
fn both(value: &Expr, low: &Expr, high: &Expr, slots: &Slots<'_>) -> Option<IndexPredicate> {
    let path = slots.found_at(value)?;
    let comparable = |end: &&Value| (Kind::Null..=Kind::String).contains(&kind_of(end));
    let low = side_of(BinaryOp::GreaterOrEqual, low.as_constant().filter(comparable)?);
    let high = side_of(BinaryOp::LessOrEqual, high.as_constant().filter(comparable)?);
    Some(low.and(high).map_or(IndexPredicate::False, |interval| IndexPredicate::at(Some(path), interval)))
}
