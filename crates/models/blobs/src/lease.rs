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

#[cfg(test)]
mod tests {
    use super::*;
    use LeaseRefusal::{
        AlreadyPresent, BreakingCannotBeAcquired, BreakingCannotBeChanged, BrokenCannotBeRenewed, IdMismatch,
        NotPresent,
    };

    const NOW: Timestamp = Timestamp::from_seconds(1000);
    const A: LeaseId = LeaseId::new(0xa);
    const B: LeaseId = LeaseId::new(0xb);
    const FRESH: LeaseId = LeaseId::new(0xf);

    fn at(seconds: u64) -> Timestamp {
        Timestamp::from_seconds(seconds)
    }

    /// A lease of 30 seconds in each of the states: available, leased, breaking, broken, expired.
    fn states() -> [Lease; 5] {
        let held = |ends| Lease::Held { id: A, duration: LeaseDuration::Seconds(30), ends: Some(ends) };
        [
            Lease::None,
            held(at(1020)),
            Lease::Breaking { id: A, ends: at(1010) },
            Lease::Broken { id: A },
            held(at(990)),
        ]
    }

    #[test]
    fn every_action_in_every_state() {
        use LeaseState::{Available, Breaking, Broken, Leased};
        let check = |action: LeaseAction, expected: [Result<LeaseState, LeaseRefusal>; 5]| {
            let got = states().map(|lease| lease.act(action, FRESH, NOW).map(|done| done.lease.state(NOW)));
            assert_eq!(got, expected, "{action:?}");
        };
        let duration = LeaseDuration::Seconds(15);
        let (new, own) = (None, Some(A));
        check(
            LeaseAction::Acquire { duration, proposed: new },
            [Ok(Leased), Err(AlreadyPresent), Err(AlreadyPresent), Ok(Leased), Ok(Leased)],
        );
        check(
            LeaseAction::Acquire { duration, proposed: own },
            [Ok(Leased), Ok(Leased), Err(BreakingCannotBeAcquired), Ok(Leased), Ok(Leased)],
        );
        check(
            LeaseAction::Renew { id: A },
            [Err(IdMismatch), Ok(Leased), Err(BrokenCannotBeRenewed), Err(BrokenCannotBeRenewed), Ok(Leased)],
        );
        check(LeaseAction::Renew { id: B }, [Err(IdMismatch); 5]);
        check(
            LeaseAction::Change { id: A, proposed: B },
            [Err(NotPresent), Ok(Leased), Err(BreakingCannotBeChanged), Err(NotPresent), Err(NotPresent)],
        );
        check(
            LeaseAction::Change { id: B, proposed: A },
            [Err(NotPresent), Ok(Leased), Err(IdMismatch), Err(NotPresent), Err(NotPresent)],
        );
        check(
            LeaseAction::Release { id: A },
            [Err(IdMismatch), Ok(Available), Ok(Available), Ok(Available), Ok(Available)],
        );
        check(LeaseAction::Release { id: B }, [Err(IdMismatch); 5]);
        check(
            LeaseAction::Break { period: None },
            [Err(NotPresent), Ok(Breaking), Ok(Breaking), Ok(Broken), Ok(Broken)],
        );
        check(
            LeaseAction::Break { period: Some(BreakPeriod(0)) },
            [Err(NotPresent), Ok(Broken), Ok(Broken), Ok(Broken), Ok(Broken)],
        );
    }

    #[test]
    fn a_break_ends_a_lease_no_later_than_it_would_have_ended() {
        let left = |lease: Lease, period: Option<u8>| {
            lease
                .act(LeaseAction::Break { period: period.map(BreakPeriod) }, FRESH, NOW)
                .map(|done| done.seconds_left)
        };
        let [_, leased, breaking, broken, _] = states();
        let infinite = Lease::Held { id: A, duration: LeaseDuration::Infinite, ends: None };
        assert_eq!(left(leased, None), Ok(Some(20)));
        assert_eq!(left(leased, Some(60)), Ok(Some(20)));
        assert_eq!(left(leased, Some(5)), Ok(Some(5)));
        assert_eq!(left(breaking, Some(60)), Ok(Some(10)));
        assert_eq!(left(breaking, Some(3)), Ok(Some(3)));
        assert_eq!(left(infinite, None), Ok(Some(0)));
        assert_eq!(left(infinite, Some(60)), Ok(Some(60)));
        assert_eq!(left(broken, Some(60)), Ok(Some(0)));
    }

    #[test]
    fn a_write_shows_the_lease_that_protects() {
        use LeaseConflict::{IdMismatch, IdMissing, Lost, NotPresent};
        let check = |named: Option<LeaseId>, expected: [Result<(), LeaseConflict>; 5]| {
            assert_eq!(states().map(|lease| lease.check_write(named, NOW)), expected, "{named:?}");
        };
        check(None, [Ok(()), Err(IdMissing), Err(IdMissing), Ok(()), Ok(())]);
        check(Some(A), [Err(NotPresent), Ok(()), Ok(()), Err(Lost), Err(Lost)]);
        check(Some(B), [Err(NotPresent), Err(IdMismatch), Err(IdMismatch), Err(NotPresent), Err(NotPresent)]);
        assert!(states().iter().all(|lease| lease.check_read(None, NOW).is_ok()));
        let after = states().map(|lease| lease.after_write(NOW).state(NOW));
        use LeaseState::{Available, Breaking, Leased};
        assert_eq!(after, [Available, Leased, Breaking, Available, Available]);
    }

    #[test]
    fn ids_are_guids_and_times_are_within_their_limits() {
        let text = "1f812371-a41d-49e6-b123-f4b542e851c5";
        let id = LeaseId::parse(text).expect("a GUID");
        assert_eq!(id.to_string(), text);
        for same in [text.to_uppercase(), format!("{{{text}}}"), text.replace('-', "")] {
            assert_eq!(LeaseId::parse(&same), Some(id), "{same}");
        }
        for wrong in ["", "x", "1f812371a-41d-49e6-b123-f4b542e851c5", "1f812371-a41d-49e6-b123-f4b542e851cg"]
        {
            assert_eq!(LeaseId::parse(wrong), None, "{wrong}");
        }
        let parsed = [-1, 15, 60, 14, 61, 0, -2].map(|seconds| LeaseDuration::parse(seconds).is_ok());
        assert_eq!(parsed, [true, true, true, false, false, false, false]);
        assert_eq!(
            [0, 60, 61, -1].map(|seconds| BreakPeriod::parse(seconds).is_ok()),
            [true, true, false, false]
        );
    }
}
