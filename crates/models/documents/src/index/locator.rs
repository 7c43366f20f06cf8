//! Locators: the row that leads from an ordinal to its item. Every indexed item has one.

use crate::row::{self, Row};
use crate::spaces::INDEX;
use bytes::Bytes;
use orrery_keys::{InvalidKey, KeyBuf, KeyReader};
use orrery_kv::{Error, Read, Txn};
use std::borrow::Cow;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Locator {
    /// The generation of the policy that the item's entries follow.
    pub generation: u8,
    pub epk: Vec<u8>,
    pub id: String,
}

impl Locator {
    pub fn of(state: &dyn Read, container: u32, ordinal: u64) -> Result<Option<Self>, Error> {
        let stored = state.get(INDEX, &Row::Locator { container, ordinal }.key())?;
        stored.map(|bytes| Self::read(&bytes)).transpose()
    }

    /// The key of the item of a number, if it is there and its partition is wanted.
    pub fn item_key(
        state: &dyn Read,
        container: u32,
        ordinal: u64,
        is_wanted: impl FnOnce(&[u8]) -> bool,
    ) -> Result<Option<Vec<u8>>, Error> {
        match state.get(INDEX, &row::locator_key(container, ordinal))? {
            Some(stored) => Self::key_of(&stored, container, is_wanted),
            None => Ok(None),
        }
    }

    /// The key of the item that a stored place leads to, if its partition is wanted.
    pub fn key_of(
        stored: &[u8],
        container: u32,
        is_wanted: impl FnOnce(&[u8]) -> bool,
    ) -> Result<Option<Vec<u8>>, Error> {
        // Behind the generation it is written as in the item's key behind the container.
        let (Some(of_item), Ok(epk)) = (stored.get(1..), partition_of(stored)) else { return damaged() };
        Ok(is_wanted(&epk).then(|| [&container.to_be_bytes(), of_item].concat()))
    }

    pub fn read(bytes: &[u8]) -> Result<Self, Error> {
        let parts = |bytes| {
            let mut reader = KeyReader::new(bytes);
            let generation = reader.u8().ok()?;
            let epk = reader.bytes().ok()?.into_owned();
            Some(Self { generation, epk, id: String::from_utf8(reader.raw().to_vec()).ok()? })
        };
        parts(bytes).map_or_else(damaged, Ok)
    }

    pub(super) fn put(txn: &mut Txn<'_>, container: u32, ordinal: u64, generation: u8, epk: &[u8], id: &str) {
        let value = KeyBuf::with_capacity(3 + epk.len() + id.len()).u8(generation).bytes(epk);
        let value = Bytes::from(value.raw(id.as_bytes()).finish());
        txn.put(INDEX, Row::Locator { container, ordinal }.key(), value);
    }
}

fn partition_of(stored: &[u8]) -> Result<Cow<'_, [u8]>, InvalidKey> {
    let mut reader = KeyReader::new(stored);
    reader.u8()?;
    reader.bytes()
}

fn damaged<T>() -> Result<T, Error> {
    Err(Error::Corrupt("an item's place".into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use orrery_kv::{KeyRange, Order, Rows, Space};
    use proptest::prelude::*;

    /// A state with this locator row for every number.
    struct Only(Vec<u8>);

    impl Read for Only {
        fn get(&self, _: Space, _: &[u8]) -> Result<Option<Bytes>, Error> {
            Ok(Some(self.0.clone().into()))
        }

        fn range<'a>(&'a self, _: Space, _: &KeyRange, _: Order) -> Rows<'a> {
            Box::new(std::iter::empty())
        }
    }

    proptest! {
        #[test]
        fn a_place_leads_to_the_key_of_its_item(
            container: u32,
            ordinal: u64,
            epk in prop::collection::vec(prop_oneof![Just(0u8), any::<u8>()], 0..20),
            id in "\\PC{0,20}",
        ) {
            let state = Only(KeyBuf::new().u8(7).bytes(&epk).raw(id.as_bytes()).finish());
            let wanted = Locator::item_key(&state, container, ordinal, |it| it == epk).unwrap();
            prop_assert_eq!(wanted.unwrap(), Row::Item { container, epk: &epk, id: &id }.key().to_vec());
            prop_assert_eq!(Locator::item_key(&state, container, ordinal, |_| false).unwrap(), None);
        }
    }
}
