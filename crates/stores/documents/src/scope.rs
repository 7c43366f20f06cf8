//! The scopes of document transactions: one logical partition of one container, or the catalog.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope<'a> {
    /// Databases, containers, offers and background work.
    Catalog,
    /// One logical partition, by its container and the bytes of its effective partition key.
    Partition { container: u32, epk: &'a [u8] },
}

/// The first byte tells the scopes of this store from those of other stores.
const CATALOG: u8 = 0;
const PARTITION: u8 = 1;

impl Scope<'_> {
    /// The bytes by which the transactions lock it.
    pub(crate) fn to_bytes(self) -> Vec<u8> {
        match self {
            Self::Catalog => vec![CATALOG],
            Self::Partition { container, epk } => {
                let mut bytes = Vec::with_capacity(5 + epk.len());
                bytes.push(PARTITION);
                bytes.extend_from_slice(&container.to_be_bytes());
                bytes.extend_from_slice(epk);
                bytes
            }
        }
    }
}
