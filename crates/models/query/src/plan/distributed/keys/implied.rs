//! What must hold for a condition to be as it is: one of several terms, each giving some levels a value.

use super::KEYS_MAX;
use orrery_value::Value;
use std::collections::BTreeSet;

/// A value for each level; `None` leaves a level open.
pub(super) type Term = Vec<Option<Value>>;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Implied {
    /// Any document will do.
    Nothing,
    /// One of the terms holds. Without terms there is no such document.
    AnyOf(BTreeSet<Term>),
}

impl Implied {
    pub(super) fn never() -> Self {
        Self::AnyOf(BTreeSet::new())
    }

    /// Both hold. When that takes too many terms, one of the two is said alone, which is true as well.
    pub(super) fn and(self, other: Self) -> Self {
        let (left, right) = match (self, other) {
            (Self::Nothing, it) | (it, Self::Nothing) => return it,
            (Self::AnyOf(left), Self::AnyOf(right)) => (left, right),
        };
        if left.len().saturating_mul(right.len()) > KEYS_MAX {
            return Self::AnyOf(if left.len() <= right.len() { left } else { right });
        }
        let pairs = left.iter().flat_map(|a| right.iter().filter_map(|b| both(a, b)));
        Self::AnyOf(pairs.collect())
    }

    /// Either holds.
    pub(super) fn or(self, other: Self) -> Self {
        let (Self::AnyOf(mut left), Self::AnyOf(mut right)) = (self, other) else { return Self::Nothing };
        if left.len() < right.len() {
            std::mem::swap(&mut left, &mut right);
        }
        left.extend(right);
        if left.len() > KEYS_MAX { Self::Nothing } else { Self::AnyOf(left) }
    }
}

/// The two terms as one, unless they disagree about a level.
fn both(left: &Term, right: &Term) -> Option<Term> {
    let level = |(a, b): (&Option<Value>, &Option<Value>)| match (a, b) {
        (Some(a), Some(b)) if a != b => Err(()),
        (Some(it), _) | (None, Some(it)) => Ok(Some(it.clone())),
        (None, None) => Ok(None),
    };
    left.iter().zip(right).map(level).collect::<Result<Term, ()>>().ok()
}
