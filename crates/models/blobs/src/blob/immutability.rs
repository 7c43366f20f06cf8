//! Immutability policies: a blob that has one is neither changed nor deleted before its time.

use orrery_core::Timestamp;
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ImmutabilityMode {
    /// It may be shortened and removed.
    Unlocked,
    /// It may be extended, and nothing else.
    Locked,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Immutability {
    pub until: Timestamp,
    pub mode: ImmutabilityMode,
}

impl Immutability {
    /// Whether it may replace the policy that is there.
    pub fn may_follow(self, earlier: Option<Self>, now: Timestamp) -> bool {
        match earlier {
            Some(earlier) if earlier.mode == ImmutabilityMode::Locked && earlier.until > now => {
                self.mode == ImmutabilityMode::Locked && self.until >= earlier.until
            }
            _ => true,
        }
    }
}
