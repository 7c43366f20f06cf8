//! Reading children: one, a page of them, all of an owner's.

use super::record::{self, Subresource};
use super::{Kind, Owner};
use crate::row::{self, Row};
use orrery_core::limits;
use orrery_kv::{Error, KeyRange, META, Order, Read};
use orrery_query::execute::Limits;
use std::ops::ControlFlow;

pub struct Page {
    pub children: Vec<Subresource>,
    /// The name after which the next page begins, if there may be more.
    pub more_after: Option<String>,
}

/// By name, or by resource id in text.
pub fn find(
    state: &dyn Read,
    owner: &Owner,
    kind: Kind,
    name_or_rid: &str,
) -> Result<Option<Subresource>, Error> {
    if let Some(child) = by_name(state, owner, kind, name_or_rid)? {
        return Ok(Some(child));
    }
    match owner.child_ordinal(kind, name_or_rid) {
        None => Ok(None),
        Some(ordinal) => by_ordinal(state, owner, kind, ordinal),
    }
}

fn by_name(state: &dyn Read, owner: &Owner, kind: Kind, name: &str) -> Result<Option<Subresource>, Error> {
    let row = Row::Subresource { kind: kind.number(), owner: owner.number(), name };
    let stored = state.get(META, &row.key())?;
    stored.map(|bytes| record::read(kind, name, &bytes)).transpose()
}

/// By the number in its resource id.
pub fn by_ordinal(
    state: &dyn Read,
    owner: &Owner,
    kind: Kind,
    ordinal: u64,
) -> Result<Option<Subresource>, Error> {
    let place = Row::ChildPlace { kind: kind.number(), owner: owner.number(), ordinal };
    let Some(name) = state.get(META, &place.key())? else { return Ok(None) };
    let name = std::str::from_utf8(&name).map_err(|_| Error::Corrupt("the name of a child".into()))?;
    by_name(state, owner, kind, name)
}

/// Some of an owner's children in the order of their names.
pub fn page(
    state: &dyn Read,
    owner: &Owner,
    kind: Kind,
    after: Option<&str>,
    limits: Limits,
) -> Result<Page, Error> {
    let (mut children, mut bytes, mut is_full) = (Vec::new(), 0, false);
    each_after(state, owner, kind, after, |child, size| {
        is_full = children.len() >= limits.items || (bytes + size > limits.bytes && !children.is_empty());
        if is_full {
            return ControlFlow::Break(());
        }
        bytes += size;
        children.push(child);
        ControlFlow::Continue(())
    })?;
    let last = children.last().map(|child: &Subresource| child.name.to_string());
    Ok(Page { more_after: last.filter(|_| is_full), children })
}

/// All of an owner's, of a kind that has few.
pub fn all(state: &dyn Read, owner: &Owner, kind: Kind) -> Result<Vec<Subresource>, Error> {
    let limits = Limits { items: limits::STORED_PROCEDURES_MAX as usize, bytes: usize::MAX };
    Ok(page(state, owner, kind, None, limits)?.children)
}

/// Shows an owner's children in the order of their names, with the size of their rows, until told to stop.
pub fn each_after(
    state: &dyn Read,
    owner: &Owner,
    kind: Kind,
    after: Option<&str>,
    mut visit: impl FnMut(Subresource, usize) -> ControlFlow<()>,
) -> Result<(), Error> {
    let mut range = row::children(kind.number(), owner.number());
    if let Some(name) = after {
        let row = Row::Subresource { kind: kind.number(), owner: owner.number(), name };
        // The least key above this one.
        range = KeyRange { start: [&row.key()[..], &[0]].concat(), ..range };
    }
    for row in state.range(META, &range, Order::Ascending) {
        let (key, value) = row?;
        let name = row::read_child(&key).ok_or_else(|| Error::Corrupt("the key of a child".into()))?;
        if visit(record::read(kind, name, &value)?, value.len()).is_break() {
            break;
        }
    }
    Ok(())
}
