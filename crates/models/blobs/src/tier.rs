//! Access tiers: where a blob's content would be kept, and how it comes back from the archive.

use crate::millis;
use orrery_core::{Ticks, Timestamp};
use serde::{Deserialize, Serialize};
use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Tier {
    Hot,
    Cool,
    Cold,
    Archive,
    Smart,
    /// Of page blobs of premium accounts: `P4` to `P80`.
    Premium(u8),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum RehydratePriority {
    #[default]
    Standard,
    High,
}

/// A blob on its way out of the archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rehydration {
    pub to: Tier,
    pub priority: RehydratePriority,
    /// When it is there.
    #[serde(with = "millis")]
    pub due: Timestamp,
}

/// The tier of a blob as it was set; the account's, until it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TierState {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub set: Option<Tier>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rehydration: Option<Rehydration>,
}

const PREMIUM: [u8; 11] = [4, 6, 10, 15, 20, 30, 40, 50, 60, 70, 80];

impl Tier {
    pub fn parse(raw: &str) -> Option<Self> {
        Some(match raw {
            "Hot" => Self::Hot,
            "Cool" => Self::Cool,
            "Cold" => Self::Cold,
            "Archive" => Self::Archive,
            "Smart" => Self::Smart,
            _ => {
                let number = raw.strip_prefix('P')?;
                let known = PREMIUM.iter().find(|known| known.to_string() == number)?;
                Self::Premium(*known)
            }
        })
    }
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Hot => f.write_str("Hot"),
            Self::Cool => f.write_str("Cool"),
            Self::Cold => f.write_str("Cold"),
            Self::Archive => f.write_str("Archive"),
            Self::Smart => f.write_str("Smart"),
            Self::Premium(number) => write!(f, "P{number}"),
        }
    }
}

impl TierState {
    pub fn set(tier: Option<Tier>) -> Self {
        Self { set: tier, changed: None, rehydration: None }
    }

    /// The tier now: one that is on its way counts from the moment it is there.
    pub fn tier(&self, now: Timestamp) -> Tier {
        match self.rehydration {
            Some(rehydration) if rehydration.due <= now => rehydration.to,
            _ => self.set.unwrap_or(Tier::Hot),
        }
    }

    pub fn is_archived(&self, now: Timestamp) -> bool {
        self.tier(now) == Tier::Archive
    }

    /// Nobody set it.
    pub fn is_inferred(&self) -> bool {
        self.set.is_none()
    }

    pub fn pending(&self, now: Timestamp) -> Option<Rehydration> {
        self.rehydration.filter(|rehydration| rehydration.due > now)
    }

    /// `x-ms-access-tier-change-time`
    pub fn changed(&self, now: Timestamp) -> Option<Ticks> {
        match self.rehydration {
            Some(rehydration) if rehydration.due <= now => Some(Ticks::at(rehydration.due)),
            _ => self.changed.map(Ticks::from_count),
        }
    }
}
