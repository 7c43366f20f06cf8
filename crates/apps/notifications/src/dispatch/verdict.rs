//! What the answers of the providers mean for the event.
//!
//! ```text
//! one asks to come back ─────────────────▶ Failed, tried again
//! one is set up wrongly ─────────────────▶ Deferred: the event is not to blame
//! one has it ────────────────────────────▶ Completed, delivered
//! one refuses the message ───────────────▶ Refused: it would do so again
//! all tokens gone, or no devices ────────▶ Completed, no_devices
//! ```

use super::end::End;
use crate::push::Outcome;
use crate::records::{Attempt, Device, Event};
use orrery_core::{Timestamp, limits};
use orrery_kit::time;
use std::time::Duration;

pub(super) const DELIVERED: &str = "delivered";

/// One push to one device.
pub(super) struct PushResult {
    pub at: String,
    pub device: Device,
    pub outcome: Outcome,
}

impl PushResult {
    pub fn attempt(&self) -> Attempt {
        let (result, status) = match &self.outcome {
            Outcome::Delivered => (DELIVERED.to_owned(), None),
            Outcome::Unregistered { reason, status } => (format!("unregistered: {reason}"), *status),
            Outcome::Refused { reason, status } => (format!("refused: {reason}"), *status),
            Outcome::Later { reason, status, may_have_arrived: true, .. } => {
                (format!("later: {reason}; it may have arrived"), *status)
            }
            Outcome::Later { reason, status, .. } => (format!("later: {reason}"), *status),
            Outcome::Misconfigured { reason, status } => (format!("misconfigured: {reason}"), *status),
        };
        Attempt {
            device_id: self.device.id.clone(),
            platform: self.device.platform,
            at: self.at.clone(),
            result: result.chars().take(limits::NOTIFICATION_ERROR_CHARS_MAX).collect(),
            status,
        }
    }
}

/// The event already has the attempts of `tried`; `devices` is how many are active.
pub(super) fn verdict(event: &Event, devices: usize, tried: &[PushResult], now: Timestamp) -> End {
    let later = tried.iter().filter_map(|one| match &one.outcome {
        Outcome::Later { after, reason, .. } => Some((*after, reason.clone())),
        _ => None,
    });
    if let Some((after, reason)) = later.max_by_key(|(after, _)| *after) {
        return End::Failed { after, reason };
    }
    if let Some(reason) = tried.iter().find_map(|one| match &one.outcome {
        Outcome::Misconfigured { reason, .. } => Some(reason.clone()),
        _ => None,
    }) {
        return End::Misconfigured { until: now.plus(wait(event, now)), reason };
    }
    if event.attempts.iter().any(|attempt| attempt.result == DELIVERED) {
        return End::Completed(DELIVERED);
    }
    let refused = tried.iter().find_map(|one| match &one.outcome {
        Outcome::Refused { reason, .. } => Some(reason.clone()),
        _ => None,
    });
    match refused {
        Some(reason) if devices > 0 => End::Refused { reason },
        _ => End::Completed("no_devices"),
    }
}

/// A few minutes, and longer for what has waited long.
fn wait(event: &Event, now: Timestamp) -> Duration {
    const HOURS_6: Duration = Duration::from_secs(6 * 3_600);
    let age = time::parse(&event.created_at).map_or(Duration::ZERO, |created| now.abs_diff(created));
    (age / 4).clamp(Duration::from_secs(limits::NOTIFICATION_MISCONFIGURED_SECONDS), HOURS_6)
}

/// The newest are kept, and every success: it is what keeps a device from getting a second push.
pub(super) fn trim(attempts: &mut Vec<Attempt>) {
    let mut surplus = attempts.len().saturating_sub(limits::NOTIFICATION_ATTEMPTS_MAX);
    attempts.retain(|attempt| {
        let goes = surplus > 0 && attempt.result != DELIVERED;
        surplus -= usize::from(goes);
        !goes
    });
}

#[cfg(test)]
mod tests {
    use super::super::decide::tests::event;
    use super::*;
    use crate::records::Platform;

    const NOW: Timestamp = Timestamp::from_seconds(1_800_000_000);

    fn tried(outcome: Outcome) -> PushResult {
        let device = Device {
            id: "d".to_owned(),
            user_id: "u".to_owned(),
            device_id: "d".to_owned(),
            push_token: "t".to_owned(),
            platform: Platform::Fcm,
            label: String::new(),
            created_at: String::new(),
            last_seen_at: String::new(),
            revoked_at: None,
            revoke_reason: None,
        };
        PushResult { at: time::format(NOW), device, outcome }
    }

    fn gone() -> Outcome {
        Outcome::Unregistered { reason: "UNREGISTERED".to_owned(), status: Some(404) }
    }

    fn refused() -> Outcome {
        Outcome::Refused { reason: "INVALID_ARGUMENT".to_owned(), status: Some(400) }
    }

    fn wrong() -> Outcome {
        Outcome::Misconfigured { reason: "no key".to_owned(), status: None }
    }

    fn later(seconds: Option<u64>) -> Outcome {
        let after = seconds.map(Duration::from_secs);
        Outcome::Later { after, reason: "503".to_owned(), status: Some(503), may_have_arrived: false }
    }

    fn check(outcomes: Vec<Outcome>, expected: &End) {
        let tried: Vec<PushResult> = outcomes.into_iter().map(tried).collect();
        let mut event = event();
        event.attempts = tried.iter().map(PushResult::attempt).collect();
        event.created_at = time::format(NOW);
        assert_eq!(&verdict(&event, tried.len(), &tried, NOW), expected);
    }

    #[test]
    fn one_answer_decides_for_all_of_them() {
        let failed = |seconds: Option<u64>| End::Failed {
            after: seconds.map(Duration::from_secs),
            reason: "503".to_owned(),
        };
        check(vec![], &End::Completed("no_devices"));
        check(vec![gone(), gone()], &End::Completed("no_devices"));
        check(vec![Outcome::Delivered, gone()], &End::Completed("delivered"));
        check(vec![Outcome::Delivered, refused()], &End::Completed("delivered"));
        check(vec![gone(), refused()], &End::Refused { reason: "INVALID_ARGUMENT".to_owned() });
        check(vec![Outcome::Delivered, later(None)], &failed(None));
        // B-6: the provider's wait counts, the longest of them.
        check(vec![later(Some(60)), later(Some(120)), later(None)], &failed(Some(120)));
        let until = NOW.plus(Duration::from_secs(300));
        check(vec![wrong(), Outcome::Delivered], &End::Misconfigured { until, reason: "no key".to_owned() });
    }

    #[test]
    fn what_was_delivered_is_never_forgotten() {
        let mut attempts: Vec<Attempt> = vec![tried(Outcome::Delivered).attempt()];
        attempts.extend((0..80).map(|_| tried(later(None)).attempt()));
        trim(&mut attempts);
        assert_eq!(attempts.len(), limits::NOTIFICATION_ATTEMPTS_MAX);
        assert_eq!(attempts[0].result, DELIVERED);
    }
}
