//! Finds due events: pending ones, failed ones whose wait is over, and those whose worker disappeared (C-38).
//!
//! A scan reads all of them once, a page whenever workers are nearly free: round-robin, every user is served
//! once before any user is served twice, and no page is read twice. The query excludes users with work in
//! progress when the scan begins, so that many events of one user do not delay the others. A page takes a few
//! events of each user.

use super::Dispatcher;
use crate::limits;
use crate::records::{Event, Status};
use crate::service::Tagged;
use crate::service::containers::EVENTS;
use crate::service::items;
use orrery_core::Timestamp;
use orrery_kit::ports::documents::{Query, StoreError};
use orrery_kit::time;
use serde_json::json;
use std::collections::HashMap;

/// `claimable-events` of the blueprint, for users with a name and without work in progress. `LENGTH` excludes
/// values that are not strings; `IS_STRING` would too, but scan the index of all users.
const DUE: &str = "SELECT * FROM c WHERE ((c.status = 'PENDING' AND (NOT IS_DEFINED(c.nextRetryAt) \
     OR IS_NULL(c.nextRetryAt) OR c.nextRetryAt <= @now)) \
     OR (c.status = 'FAILED' AND c.retryCount < 5 AND c.nextRetryAt <= @now) \
     OR (c.status = 'PROCESSING' AND c.leaseUntil < @now)) \
     AND LENGTH(c.userId) >= 0 AND NOT ARRAY_CONTAINS(@busy, c.userId)";

/// The due events of one user, oldest first (S2-87).
#[derive(Debug)]
pub(super) struct UserGroup {
    pub user: String,
    pub events: Vec<Tagged<Event>>,
}

/// An unfinished scan.
#[derive(Debug)]
pub(super) struct DueScan {
    query: Query,
}

impl DueScan {
    /// A scan for events due now, of users who are not `busy`.
    pub fn new(now: Timestamp, busy: &[String], events_max: usize) -> Self {
        let mut query = items::query(DUE, &[("now", json!(time::format(now))), ("busy", json!(busy))]);
        query.items_max = events_max;
        Self { query }
    }
}

/// One page of a scan.
#[derive(Debug, Default)]
pub(super) struct DuePage {
    pub groups: Vec<UserGroup>,
    /// Whether one of these users had more events.
    pub is_cut: bool,
    /// The rest of the scan.
    pub rest: Option<DueScan>,
}

impl Dispatcher {
    /// Reads the next page of a scan.
    pub(super) async fn due_page(&self, mut scan: DueScan) -> Result<DuePage, StoreError> {
        let page = self.service.documents().query(EVENTS, None, &scan.query).await?;
        orrery_core::tour_step!();
        let mut events = Vec::with_capacity(page.rows.len());
        for row in page.rows {
            match Tagged::<Event>::of_row(&row) {
                Ok(event) => events.push(event),
                // A foreign item that is not an event; without this it would be found again and again.
                Err(error) => self.give_up_row(&row, &error).await?,
            }
        }
        let (groups, is_cut) = groups(events, limits::NOTIFICATION_GROUP_MAX);
        scan.query.continuation = page.continuation;
        let rest = scan.query.continuation.is_some().then_some(scan);
        Ok(DuePage { groups, is_cut, rest })
    }
}

/// Groups by user, in order of first appearance, with the oldest few events of each; also whether there were
/// more. Events are ordered by time, then id.
fn groups(events: Vec<Tagged<Event>>, events_max: usize) -> (Vec<UserGroup>, bool) {
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut groups: Vec<UserGroup> = Vec::new();
    for event in events {
        match places.get(&event.value.user_id) {
            Some(place) => groups[*place].events.push(event),
            None => {
                let user = event.value.user_id.clone();
                places.insert(user.clone(), groups.len());
                groups.push(UserGroup { user, events: vec![event] });
            }
        }
    }
    let mut is_cut = false;
    for group in &mut groups {
        group.events.sort_by_cached_key(|event| order(&event.value));
        is_cut |= group.events.len() > events_max;
        group.events.truncate(events_max);
    }
    (groups, is_cut)
}

fn order(event: &Event) -> (Timestamp, String) {
    (time::parse(&event.created_at).unwrap_or_default(), event.id.clone())
}

/// The query's condition, for an event that was read again.
pub(super) fn is_due_event(event: &Event, now: Timestamp) -> bool {
    let at = |text: &Option<String>| text.as_deref().and_then(time::parse);
    match event.status {
        Status::Pending => at(&event.next_retry_at).is_none_or(|next| next <= now),
        Status::Failed => {
            let has_retries = event.retry_count < limits::NOTIFICATION_RETRIES_MAX as u32;
            has_retries && at(&event.next_retry_at).is_some_and(|next| next <= now)
        }
        Status::Processing => at(&event.lease_until).is_some_and(|until| until < now),
        Status::Completed | Status::RateLimited | Status::Deduplicated => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::decide::tests::event;
    use super::*;

    const NOW: Timestamp = Timestamp::from_seconds(1_800_000_000);

    fn at(seconds: i64) -> Option<String> {
        Some(time::format(Timestamp::from_seconds(NOW.seconds().saturating_add_signed(seconds))))
    }

    #[test]
    fn only_due_events_without_a_holder_are_claimable() {
        let check = |status, retry_count, next, until, expected| {
            let event = Event { status, retry_count, next_retry_at: next, lease_until: until, ..event() };
            assert_eq!(is_due_event(&event, NOW), expected, "{event:?}");
        };
        check(Status::Pending, 0, None, None, true);
        check(Status::Pending, 0, at(0), None, true);
        check(Status::Pending, 0, at(1), None, false);
        check(Status::Failed, 4, at(-1), None, true);
        check(Status::Failed, 4, at(1), None, false);
        check(Status::Failed, 4, None, None, false);
        check(Status::Failed, 5, at(-1), None, false);
        check(Status::Processing, 0, None, at(-1), true);
        check(Status::Processing, 0, None, at(0), false);
        check(Status::Completed, 0, None, None, false);
        check(Status::RateLimited, 0, at(-1), None, false);
        check(Status::Deduplicated, 0, None, at(-1), false);
    }

    #[test]
    fn events_of_a_user_are_ordered_by_time() {
        let made = |user: &str, id: &str, seconds: i64| Tagged {
            value: Event {
                user_id: user.to_owned(),
                id: id.to_owned(),
                created_at: at(seconds).expect("a time"),
                ..event()
            },
            etag: String::new(),
            charge: 0.0,
        };
        let events = || vec![made("b", "2", 5), made("a", "3", 1), made("b", "1", 4), made("b", "0", 5)];
        let check = |events_max: usize, expected: [(&str, Vec<&str>); 2], is_cut: bool| {
            let (found, was_cut) = groups(events(), events_max);
            let ids =
                |group: &UserGroup| group.events.iter().map(|one| one.value.id.clone()).collect::<Vec<_>>();
            let shown: Vec<(String, Vec<String>)> =
                found.iter().map(|group| (group.user.clone(), ids(group))).collect();
            let expected =
                expected.map(|(user, ids)| (user.to_owned(), ids.into_iter().map(str::to_owned).collect()));
            assert_eq!((shown, was_cut), (Vec::from(expected), is_cut));
        };
        check(3, [("b", vec!["1", "0", "2"]), ("a", vec!["3"])], false);
        check(2, [("b", vec!["1", "0"]), ("a", vec!["3"])], true);
    }
}
