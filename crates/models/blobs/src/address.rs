//! Which container, which blob, and which of its states an operation is about.

use crate::limits;
use orrery_catalog::storage::{AccountName, BlobContainerName};
use orrery_core::Ticks;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContainerId {
    pub account: AccountName,
    pub name: BlobContainerName,
}

/// The name of a blob: 1 to 1,024 characters of any kind. Case matters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlobName(String);

/// The length of a blob's name is not within its limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("The specified resource name length is not within the permissible limits.")]
pub struct InvalidBlobName;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address {
    pub container: ContainerId,
    pub name: BlobName,
}

/// One of the states that a blob has under its name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Selector {
    #[default]
    Current,
    /// The snapshot that was made at this moment.
    Snapshot(Ticks),
    /// The version with this id, which may be the current one.
    Version(Ticks),
}

impl ContainerId {
    pub fn blob(&self, name: BlobName) -> Address {
        Address { container: self.clone(), name }
    }
}

impl BlobName {
    pub fn parse(raw: &str) -> Result<Self, InvalidBlobName> {
        if (1..=limits::BLOB_NAME_CHARS_MAX).contains(&raw.chars().count()) {
            Ok(Self(raw.to_owned()))
        } else {
            Err(InvalidBlobName)
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_up_to_1024_characters_of_any_kind() {
        for name in ["a", "/", "runs/tenant a/year=2026/é.json", &"é".repeat(1024)] {
            assert_eq!(BlobName::parse(name).as_ref().map(BlobName::as_str), Ok(name));
        }
        for name in ["", &"a".repeat(1025)] {
            assert_eq!(BlobName::parse(name), Err(InvalidBlobName));
        }
    }
}
