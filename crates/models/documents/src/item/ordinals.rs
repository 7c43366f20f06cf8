//! The ids behind the numbers of a partition's items, for whoever asks for many of them.

use super::record::ItemHead;
use crate::row;
use crate::spaces::DOCUMENTS;
use orrery_catalog::Container;
use orrery_keys::Epk;
use orrery_kv::{Error, Order, Read};
use std::collections::HashMap;

/// The ids of a partition's items by their numbers, of as many as `max`.
pub fn ids_by_ordinal(
    state: &dyn Read,
    container: &Container,
    epk: &Epk,
    max: usize,
) -> Result<HashMap<u64, String>, Error> {
    let range = row::items_of_partition(container.number(), epk.as_bytes());
    let rows = state.range(DOCUMENTS, &range, Order::Ascending).take(max);
    let ids = rows.map(|row| {
        let (key, value) = row?;
        let (_, id) = row::read_item(&key).ok_or_else(|| Error::Corrupt("the key of an item".into()))?;
        Ok((ItemHead::read(value)?.ordinal(), id))
    });
    ids.collect()
}
