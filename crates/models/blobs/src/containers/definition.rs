//! A container of blobs as it is defined, and what operations on it are asked.

use crate::address::ContainerId;
use crate::etag::BlobETag;
use crate::lease::Lease;
use orrery_catalog::storage::{Metadata, SignedIdentifiers};
use orrery_core::{Ticks, Timestamp};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Container {
    pub id: ContainerId,
    pub(crate) number: u32,
    /// The last change of metadata or access: what the ETag and Last-Modified are made of.
    pub modified: Ticks,
    pub metadata: Metadata,
    pub public_access: PublicAccess,
    pub policies: SignedIdentifiers,
    pub lease: Lease,
    pub deleted: Option<ContainerDeletion>,
}

/// What those may read who show no key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PublicAccess {
    #[default]
    None,
    /// Blobs whose names they know.
    Blob,
    /// Blobs, and the list of them.
    Container,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContainerDeletion {
    pub at: Timestamp,
    pub until: Timestamp,
    pub version: ContainerVersion,
}

/// Tells soft-deleted containers of one name apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ContainerVersion(pub(crate) Ticks);

/// Conditions of an operation on a container: moments and the lease alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContainerConditions {
    pub if_modified_since: Option<Timestamp>,
    pub if_unmodified_since: Option<Timestamp>,
    pub lease: Option<crate::lease::LeaseId>,
}

#[derive(Clone, Debug)]
pub struct NewContainer {
    pub metadata: Metadata,
    pub public_access: PublicAccess,
}

#[derive(Clone, Debug)]
pub struct ListContainers {
    pub prefix: String,
    /// An earlier page's `next`.
    pub marker: Option<String>,
    pub count_max: usize,
    pub with_deleted: bool,
    /// `$logs` and `$blobchangefeed`.
    pub with_system: bool,
}

#[derive(Clone, Debug)]
pub struct ContainerPage {
    /// By name; deleted ones of a name before the one that is there.
    pub containers: Vec<Container>,
    pub next: Option<String>,
}

impl Container {
    /// No other container, table or queue has it, or had it.
    pub fn number(&self) -> u32 {
        self.number
    }

    pub fn etag(&self) -> BlobETag {
        BlobETag::new(self.modified)
    }
}

impl ContainerVersion {
    /// 16 hexadecimal digits.
    pub fn parse(raw: &str) -> Option<Self> {
        let is_version = raw.len() == 16 && raw.bytes().all(|byte| byte.is_ascii_hexdigit());
        let count = u64::from_str_radix(raw, 16).ok().filter(|_| is_version)?;
        Some(Self(Ticks::from_count(count)))
    }
}

impl std::fmt::Display for ContainerVersion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:016X}", self.0.count())
    }
}
