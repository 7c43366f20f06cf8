//! Where the item of a number is: the row that every indexed item has.

use crate::row::Row;
use bytes::Bytes;
use orrery_keys::{KeyBuf, KeyReader};
use orrery_kv::{Error, Read, Space, Txn};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The generation of the policy that the item's entries follow.
    pub generation: u8,
    pub epk: Vec<u8>,
    pub id: String,
}

impl Place {
    pub fn of(state: &dyn Read, container: u32, ordinal: u64) -> Result<Option<Self>, Error> {
        let stored = state.get(Space::Index, &Row::Place { container, ordinal }.key())?;
        stored.map(|bytes| Self::read(&bytes)).transpose()
    }

    pub fn read(bytes: &[u8]) -> Result<Self, Error> {
        let parts = |bytes| {
            let mut reader = KeyReader::new(bytes);
            let generation = reader.u8().ok()?;
            let epk = reader.bytes().ok()?.into_owned();
            Some(Self { generation, epk, id: String::from_utf8(reader.raw().to_vec()).ok()? })
        };
        parts(bytes).ok_or_else(|| Error::Corrupt("an item's place".into()))
    }

    pub(super) fn put(txn: &mut Txn<'_>, container: u32, ordinal: u64, generation: u8, epk: &[u8], id: &str) {
        let value = KeyBuf::with_capacity(3 + epk.len() + id.len()).u8(generation).bytes(epk);
        let value = Bytes::from(value.raw(id.as_bytes()).finish());
        txn.put(Space::Index, Row::Place { container, ordinal }.key(), value);
    }
}
