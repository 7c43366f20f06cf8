//! How the content of a blob was copied from elsewhere, or is being copied.

use crate::millis;
use orrery_core::{Guid, Timestamp};
use serde::{Deserialize, Serialize};
use std::fmt;

/// A GUID.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CopyId(u128);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CopyStatus {
    Pending,
    Success,
    Aborted,
    Failed,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Copy {
    pub id: CopyId,
    /// The address of the source, as the caller gave it.
    pub source: String,
    pub status: CopyStatus,
    pub bytes_copied: u64,
    /// Unknown until the source has answered.
    pub bytes_total: Option<u64>,
    #[serde(with = "millis::optional")]
    pub completed: Option<Timestamp>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

impl CopyId {
    pub const fn new(bits: u128) -> Self {
        Self(bits)
    }

    pub fn parse(raw: &str) -> Option<Self> {
        let digits: String = raw.chars().filter(|char| *char != '-').collect();
        let id = u128::from_str_radix(&digits, 16).ok().map(Self)?;
        (id.to_string().eq_ignore_ascii_case(raw)).then_some(id)
    }
}

impl fmt::Display for CopyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Guid::new(self.0).as_str())
    }
}

impl Copy {
    pub fn is_pending(&self) -> bool {
        self.status == CopyStatus::Pending
    }
}
