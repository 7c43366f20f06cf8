//! Leases: the state machine that blobs and containers share (wire guide §8.9).

use crate::limits;
use crate::millis;
use orrery_core::{Guid, Timestamp};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;

/// A GUID, whatever the case of its digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LeaseId(u128);

/// For how long a lease is acquired.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LeaseDuration {
    Infinite,
    /// 15 to 60.
    Seconds(u8),
}

/// Seconds until a lease that is broken ends: 0 to 60.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BreakPeriod(u8);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeaseAction {
    /// With the id that the caller proposes, or a new one.
    Acquire {
        duration: LeaseDuration,
        proposed: Option<LeaseId>,
    },
    Renew {
        id: LeaseId,
    },
    Change {
        id: LeaseId,
        proposed: LeaseId,
    },
    Release {
        id: LeaseId,
    },
    /// At once, or after the period; without one, when the lease would have ended.
    Break {
        period: Option<BreakPeriod>,
    },
}

/// The lease of a blob or container.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Lease {
    #[default]
    None,
    Held {
        id: LeaseId,
        duration: LeaseDuration,
        /// `None`: never.
        #[serde(with = "millis::optional")]
        ends: Option<Timestamp>,
    },
    Breaking {
        id: LeaseId,
        #[serde(with = "millis")]
        ends: Timestamp,
    },
    Broken {
        id: LeaseId,
    },
}

/// `x-ms-lease-state`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeaseState {
    Available,
    Leased,
    Expired,
    Breaking,
    Broken,
}

/// What became of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leased {
    pub lease: Lease,
    /// The id that the caller is told; none after a release and a break.
    pub id: Option<LeaseId>,
    /// After a break: seconds until the lease is broken.
    pub seconds_left: Option<u64>,
}

/// Why an action on a lease is refused: each is an error code of the service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LeaseRefusal {
    #[error("There is already a lease present.")]
    AlreadyPresent,
    #[error("There is already a breaking lease, and the lease cannot be acquired until it is broken.")]
    BreakingCannotBeAcquired,
    #[error("The lease is breaking and cannot be changed.")]
    BreakingCannotBeChanged,
    #[error("The lease is broken and cannot be renewed.")]
    BrokenCannotBeRenewed,
    #[error("The lease ID specified did not match the lease ID for the resource.")]
    IdMismatch,
    #[error("There is currently no lease on the resource.")]
    NotPresent,
}

/// Why a write or a read is refused for its lease id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LeaseConflict {
    #[error("There is currently a lease on the resource and no lease ID was specified in the request.")]
    IdMissing,
    #[error("The lease ID specified did not match the lease ID for the resource.")]
    IdMismatch,
    #[error("There is currently no lease on the resource.")]
    NotPresent,
    #[error("A lease ID was specified, but the lease for the resource has expired.")]
    Lost,
}

/// The number is outside of its limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the number of seconds is not within the limits of a lease")]
pub struct InvalidLeaseTime;

impl LeaseId {
    pub const fn new(bits: u128) -> Self {
        Self(bits)
    }

    /// `None`: no GUID. Braces and missing hyphens are taken, as the service takes them.
    pub fn parse(raw: &str) -> Option<Self> {
        let inner = raw.trim();
        let inner = inner.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).unwrap_or(inner);
        let digits: String = inner.chars().filter(|char| *char != '-').collect();
        if digits.len() != 32 || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        let id = u128::from_str_radix(&digits, 16).ok().map(Self)?;
        (inner.len() == 32 || inner.eq_ignore_ascii_case(&id.to_string())).then_some(id)
    }
}

impl fmt::Display for LeaseId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Guid::new(self.0).as_str())
    }
}

impl LeaseDuration {
    /// -1 is for ever.
    pub fn parse(seconds: i64) -> Result<Self, InvalidLeaseTime> {
        match u8::try_from(seconds) {
            Ok(seconds) if (limits::LEASE_SECONDS_MIN..=limits::LEASE_SECONDS_MAX).contains(&seconds) => {
                Ok(Self::Seconds(seconds))
            }
            _ if seconds == -1 => Ok(Self::Infinite),
            _ => Err(InvalidLeaseTime),
        }
    }

    fn ends(self, now: Timestamp) -> Option<Timestamp> {
        match self {
            Self::Infinite => None,
            Self::Seconds(seconds) => Some(now.plus(Duration::from_secs(u64::from(seconds)))),
        }
    }
}

impl BreakPeriod {
    pub fn parse(seconds: i64) -> Result<Self, InvalidLeaseTime> {
        match u8::try_from(seconds) {
            Ok(seconds) if seconds <= limits::LEASE_BREAK_SECONDS_MAX => Ok(Self(seconds)),
            _ => Err(InvalidLeaseTime),
        }
    }
}

impl Lease {
    pub fn state(&self, now: Timestamp) -> LeaseState {
        match *self {
            Self::None => LeaseState::Available,
            Self::Held { ends, .. } if ends.is_some_and(|ends| ends <= now) => LeaseState::Expired,
            Self::Held { .. } => LeaseState::Leased,
            Self::Breaking { ends, .. } if ends <= now => LeaseState::Broken,
            Self::Breaking { .. } => LeaseState::Breaking,
            Self::Broken { .. } => LeaseState::Broken,
        }
    }

    /// Whether it protects what it is on.
    pub fn is_locked(&self, now: Timestamp) -> bool {
        matches!(self.state(now), LeaseState::Leased | LeaseState::Breaking)
    }

    /// Of a lease that is held.
    pub fn duration(&self, now: Timestamp) -> Option<LeaseDuration> {
        match self {
            Self::Held { duration, .. } if self.state(now) == LeaseState::Leased => Some(*duration),
            _ => None,
        }
    }

    fn id(&self) -> Option<LeaseId> {
        match *self {
            Self::None => None,
            Self::Held { id, .. } | Self::Breaking { id, .. } | Self::Broken { id } => Some(id),
        }
    }

    /// Does one action; a new lease without a proposed id gets `fresh`.
    pub fn act(&self, action: LeaseAction, fresh: LeaseId, now: Timestamp) -> Result<Leased, LeaseRefusal> {
        match action {
            LeaseAction::Acquire { duration, proposed } => {
                self.acquire(duration, proposed, proposed.unwrap_or(fresh), now)
            }
            LeaseAction::Renew { id } => self.renew(id, now),
            LeaseAction::Change { id, proposed } => self.change(id, proposed, now),
            LeaseAction::Release { id } => self.release(id),
            LeaseAction::Break { period } => self.break_lease(period, now),
        }
    }

    fn acquire(
        &self,
        duration: LeaseDuration,
        proposed: Option<LeaseId>,
        id: LeaseId,
        now: Timestamp,
    ) -> Result<Leased, LeaseRefusal> {
        match self.state(now) {
            LeaseState::Leased if proposed != self.id() => Err(LeaseRefusal::AlreadyPresent),
            LeaseState::Breaking if proposed == self.id() => Err(LeaseRefusal::BreakingCannotBeAcquired),
            LeaseState::Breaking => Err(LeaseRefusal::AlreadyPresent),
            _ => Ok(held(Self::Held { id, duration, ends: duration.ends(now) }, id)),
        }
    }

    fn renew(&self, wanted: LeaseId, now: Timestamp) -> Result<Leased, LeaseRefusal> {
        match *self {
            Self::Held { id, duration, .. } if id == wanted => {
                Ok(held(Self::Held { id, duration, ends: duration.ends(now) }, id))
            }
            Self::Breaking { id, .. } | Self::Broken { id } if id == wanted => {
                Err(LeaseRefusal::BrokenCannotBeRenewed)
            }
            _ => Err(LeaseRefusal::IdMismatch),
        }
    }

    fn change(&self, wanted: LeaseId, proposed: LeaseId, now: Timestamp) -> Result<Leased, LeaseRefusal> {
        match (self.state(now), *self) {
            (LeaseState::Leased, Self::Held { id, duration, ends }) if [wanted, proposed].contains(&id) => {
                Ok(held(Self::Held { id: proposed, duration, ends }, proposed))
            }
            (LeaseState::Leased, _) => Err(LeaseRefusal::IdMismatch),
            (LeaseState::Breaking, Self::Breaking { id, .. }) if id == wanted => {
                Err(LeaseRefusal::BreakingCannotBeChanged)
            }
            (LeaseState::Breaking, _) => Err(LeaseRefusal::IdMismatch),
            _ => Err(LeaseRefusal::NotPresent),
        }
    }

    fn release(&self, wanted: LeaseId) -> Result<Leased, LeaseRefusal> {
        if self.id() == Some(wanted) {
            Ok(Leased { lease: Self::None, id: None, seconds_left: None })
        } else {
            Err(LeaseRefusal::IdMismatch)
        }
    }

    fn break_lease(&self, period: Option<BreakPeriod>, now: Timestamp) -> Result<Leased, LeaseRefusal> {
        let id = self.id().ok_or(LeaseRefusal::NotPresent)?;
        let asked = period.map(|BreakPeriod(seconds)| now.plus(Duration::from_secs(u64::from(seconds))));
        let ends = match (self.state(now), *self) {
            (LeaseState::Leased, Self::Held { ends, .. }) => match (ends, asked) {
                (Some(ends), Some(asked)) => ends.min(asked),
                (Some(ends), None) => ends,
                // A lease for ever is broken at once unless the caller gives it time.
                (None, asked) => asked.unwrap_or(now),
            },
            (LeaseState::Breaking, Self::Breaking { ends, .. }) => {
                asked.map_or(ends, |asked| ends.min(asked))
            }
            _ => now,
        };
        let lease = if ends > now { Self::Breaking { id, ends } } else { Self::Broken { id } };
        let millis_left = ends.millis().saturating_sub(now.millis());
        Ok(Leased { lease, id: None, seconds_left: Some(millis_left.div_ceil(1000)) })
    }

    /// Whether a write may go on that names this lease, or none.
    pub fn check_write(&self, named: Option<LeaseId>, now: Timestamp) -> Result<(), LeaseConflict> {
        match (self.is_locked(now), named) {
            (true, None) => Err(LeaseConflict::IdMissing),
            (_, None) => Ok(()),
            (_, Some(_)) => self.check_read(named, now),
        }
    }

    /// A read needs no lease; one that it names must be there.
    pub fn check_read(&self, named: Option<LeaseId>, now: Timestamp) -> Result<(), LeaseConflict> {
        let Some(named) = named else { return Ok(()) };
        match (self.id(), self.is_locked(now)) {
            (None, _) => Err(LeaseConflict::NotPresent),
            (Some(id), true) if id == named => Ok(()),
            (Some(id), false) if id == named => Err(LeaseConflict::Lost),
            (Some(_), true) => Err(LeaseConflict::IdMismatch),
            (Some(_), false) => Err(LeaseConflict::NotPresent),
        }
    }

    /// A write to something whose lease has ended makes it available again.
    #[must_use]
    pub fn after_write(self, now: Timestamp) -> Self {
        if self.is_locked(now) { self } else { Self::None }
    }
}

fn held(lease: Lease, id: LeaseId) -> Leased {
    Leased { lease, id: Some(id), seconds_left: None }
}
