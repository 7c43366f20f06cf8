//! Resource ids: the bytes behind `_rid` and `_self`.
//!
//! A rid is Base64 (with `-` for `/`) of: database, 4 bytes big-endian; container, the database's 4 and 4
//! more with the top bit set; item and its siblings, the container's 8 and 8 little-endian whose last high
//! nibble is the kind of resource. SDKs rely on these forms (wire guide §8). Users, permissions and client
//! encryption keys have theirs in `children`.

mod children;

pub use children::{ClientKeyRid, PermissionRid, UserRid};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::fmt;

/// A database's number in the account. Not reused after the database is deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DatabaseRid(pub u32);

/// A container's number in the account, with its database's. Not reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContainerRid {
    pub database: DatabaseRid,
    number: u32,
}

/// A resource inside a container, by its ordinal (below 2^60).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ItemRid {
    pub container: ContainerRid,
    pub kind: ResourceKind,
    ordinal: u64,
}

/// The kinds in the last byte's high nibble.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ResourceKind {
    Item = 0x0,
    Conflict = 0x4,
    PartitionKeyRange = 0x5,
    UserDefinedFunction = 0x6,
    Trigger = 0x7,
    StoredProcedure = 0x8,
}

/// An offer's number: three bytes, four characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OfferRid(pub u32);

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not a resource id")]
pub struct InvalidRid(pub String);

const CONTAINER_BIT: u32 = 0x8000_0000;
const ORDINAL_MAX: u64 = (1 << 60) - 1;

impl DatabaseRid {
    pub fn parse(text: &str) -> Result<Self, InvalidRid> {
        let bytes: [u8; 4] = decode(text)?;
        Ok(Self(u32::from_be_bytes(bytes)))
    }
}

impl ContainerRid {
    pub fn new(database: DatabaseRid, number: u32) -> Self {
        assert!(number < CONTAINER_BIT, "a container number has 31 bits");
        Self { database, number }
    }

    pub fn number(self) -> u32 {
        self.number
    }

    pub fn to_bytes(self) -> [u8; 8] {
        let mut bytes = [0; 8];
        bytes[..4].copy_from_slice(&self.database.0.to_be_bytes());
        bytes[4..].copy_from_slice(&(self.number | CONTAINER_BIT).to_be_bytes());
        bytes
    }

    pub fn parse(text: &str) -> Result<Self, InvalidRid> {
        Self::from_bytes(decode(text)?).ok_or_else(|| InvalidRid(text.to_owned()))
    }

    fn from_bytes(bytes: [u8; 8]) -> Option<Self> {
        let whole = u64::from_be_bytes(bytes);
        let low = whole as u32;
        let is_container = low & CONTAINER_BIT != 0;
        is_container
            .then_some(Self { database: DatabaseRid((whole >> 32) as u32), number: low & !CONTAINER_BIT })
    }
}

impl ResourceKind {
    fn from_nibble(nibble: u8) -> Option<Self> {
        use ResourceKind::{
            Conflict, Item, PartitionKeyRange, StoredProcedure, Trigger, UserDefinedFunction,
        };
        let all = [Item, Conflict, PartitionKeyRange, UserDefinedFunction, Trigger, StoredProcedure];
        all.into_iter().find(|kind| *kind as u8 == nibble)
    }
}

impl ItemRid {
    pub fn new(container: ContainerRid, kind: ResourceKind, ordinal: u64) -> Self {
        assert!(ordinal <= ORDINAL_MAX, "an ordinal has 60 bits");
        Self { container, kind, ordinal }
    }

    pub fn ordinal(self) -> u64 {
        self.ordinal
    }

    pub fn parse(text: &str) -> Result<Self, InvalidRid> {
        let invalid = || InvalidRid(text.to_owned());
        let bytes: [u8; 16] = decode(text)?;
        let (owner, own) = bytes.split_at(8);
        let container =
            ContainerRid::from_bytes(owner.try_into().map_err(|_| invalid())?).ok_or_else(invalid)?;
        let low = u64::from_le_bytes(own.try_into().map_err(|_| invalid())?);
        let kind = ResourceKind::from_nibble((low >> 60) as u8).ok_or_else(invalid)?;
        Ok(Self { container, kind, ordinal: low & ORDINAL_MAX })
    }

    fn to_bytes(self) -> [u8; 16] {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&self.container.to_bytes());
        bytes[8..].copy_from_slice(&self.ordinal.to_le_bytes());
        bytes[15] |= (self.kind as u8) << 4;
        bytes
    }
}

impl fmt::Display for DatabaseRid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        encode(&self.0.to_be_bytes(), f)
    }
}

impl fmt::Display for ContainerRid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        encode(&self.to_bytes(), f)
    }
}

impl ItemRid {
    pub fn text(&self) -> RidText {
        RidText::of(&self.to_bytes())
    }
}

impl fmt::Display for ItemRid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text().as_str())
    }
}

impl fmt::Display for OfferRid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        encode(&self.0.to_be_bytes()[1..], f)
    }
}

/// The text of an id, without a heap allocation.
#[derive(Clone, Copy, Debug)]
pub struct RidText {
    text: [u8; 24],
    length: usize,
}

impl RidText {
    fn of(bytes: &[u8]) -> Self {
        let mut text = [0u8; 24];
        // The longest id has sixteen bytes, which are 24 characters.
        let length = STANDARD.encode_slice(bytes, &mut text).unwrap_or(0);
        text.iter_mut().filter(|byte| **byte == b'/').for_each(|byte| *byte = b'-');
        Self { text, length }
    }

    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.text[..self.length]).unwrap_or_default()
    }
}

fn encode(bytes: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str(RidText::of(bytes).as_str())
}

fn decode<const N: usize>(text: &str) -> Result<[u8; N], InvalidRid> {
    let invalid = || InvalidRid(text.to_owned());
    let bytes = STANDARD.decode(text.replace('-', "/")).map_err(|_| invalid())?;
    bytes.try_into().map_err(|_| invalid())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rids_have_the_services_shapes() {
        let database = DatabaseRid(0x4000_1001);
        let container = ContainerRid::new(database, 0x1002);
        let item = ItemRid::new(container, ResourceKind::Item, 1);
        assert_eq!(database.to_string(), "QAAQAQ==");
        assert_eq!(container.to_string(), "QAAQAYAAEAI=");
        assert_eq!(item.to_string(), "QAAQAYAAEAIBAAAAAAAAAA==");
        let range = ItemRid::new(container, ResourceKind::PartitionKeyRange, 1);
        assert_eq!(range.to_bytes()[15], 0x50);
        assert_eq!(OfferRid(0xffff).to_string(), "AP--");
    }

    #[test]
    fn parse_undoes_display() {
        let container = ContainerRid::new(DatabaseRid(7), 0xffff);
        assert_eq!(ContainerRid::parse(&container.to_string()), Ok(container));
        assert_eq!(DatabaseRid::parse(&DatabaseRid(0xffff_ffff).to_string()), Ok(DatabaseRid(0xffff_ffff)));
        assert!(ContainerRid::parse("QAAQAQ==").is_err());
        assert!(DatabaseRid::parse("orders").is_err());
        let item = ItemRid::new(container, ResourceKind::StoredProcedure, (1 << 60) - 1);
        assert_eq!(ItemRid::parse(&item.to_string()), Ok(item));
        assert!(ItemRid::parse(&container.to_string()).is_err());
    }
}
