//! Which events are due: those that wait, those that failed and have waited, those whose worker went away (C-38).

use super::Dispatcher;
use crate::records::{Event, Status};
use crate::service::Tagged;
use crate::service::containers::EVENTS;
use crate::service::items;
use orrery_core::{Timestamp, limits};
use orrery_kit::port::{StoreError, Write};
use orrery_kit::time;
use serde_json::{Value, json};
use std::collections::HashMap;

/// `claimable-events` of the blueprint.
const CLAIMABLE: &str = "SELECT * FROM c WHERE (c.status = 'PENDING' AND (NOT IS_DEFINED(c.nextRetryAt) \
     OR IS_NULL(c.nextRetryAt) OR c.nextRetryAt <= @now)) \
     OR (c.status = 'FAILED' AND c.retryCount < 5 AND c.nextRetryAt <= @now) \
     OR (c.status = 'PROCESSING' AND c.leaseUntil < @now)";

/// The due events of one user, the oldest first (S2-87).
#[derive(Debug)]
pub(super) struct Group {
    pub user: String,
    pub events: Vec<Tagged<Event>>,
}

impl Dispatcher {
    pub(super) async fn claimable(&self) -> Result<Vec<Group>, StoreError> {
        let now = self.service.now();
        let mut query = items::query(CLAIMABLE, &[("now", json!(time::format(now)))]);
        query.items_max = self.options.claim_max;
        let documents = self.service.documents();
        let rows = items::rows(documents, EVENTS, None, query, self.options.claim_max).await?;
        let mut events = Vec::with_capacity(rows.len());
        for row in rows {
            let etag = row["_etag"].as_str().unwrap_or_default().to_owned();
            match serde_json::from_value(row.clone()) {
                Ok(event) => events.push(Tagged { value: event, etag, charge: 0.0 }),
                Err(error) => self.give_up(row, etag, &error.to_string()).await?,
            }
        }
        Ok(groups(events))
    }

    /// Somebody else wrote an event that is none: it would be found again and again.
    async fn give_up(&self, mut row: Value, etag: String, error: &str) -> Result<(), StoreError> {
        let Some(user) = row["userId"].as_str().map(str::to_owned) else { return Ok(()) };
        let id = row["id"].as_str().unwrap_or_default().to_owned();
        row["status"] = json!(Status::Failed);
        row["retryCount"] = limits::NOTIFICATION_RETRIES_MAX.into();
        row["deadLetteredAt"] = time::format(self.service.now()).into();
        row["lastError"] = format!("It is no event: {error}").into();
        row["nextRetryAt"] = Value::Null;
        let write = Write::Replace { item: row, if_match: Some(etag) };
        match self.service.documents().write(EVENTS, &user, write).await {
            Ok(_) => self.service.counters().dead_lettered.one(),
            Err(StoreError::Changed | StoreError::Missing) => {}
            Err(StoreError::Refused { message, .. }) => {
                tracing::warn!(
                    user,
                    id,
                    message,
                    "an item of notification_events is no event and cannot be marked"
                );
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }
}

/// By user, in the order in which users appear first; an event's place is its time, then its id.
fn groups(events: Vec<Tagged<Event>>) -> Vec<Group> {
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut groups: Vec<Group> = Vec::new();
    for event in events {
        let user = event.value.user_id.clone();
        let place = *places.entry(user.clone()).or_insert_with(|| {
            groups.push(Group { user, events: Vec::new() });
            groups.len() - 1
        });
        groups[place].events.push(event);
    }
    for group in &mut groups {
        group.events.sort_by_cached_key(|event| order(&event.value));
    }
    groups
}

fn order(event: &Event) -> (Timestamp, String) {
    (time::parse(&event.created_at).unwrap_or_default(), event.id.clone())
}

/// As the query has it, of an event that was read again.
pub(super) fn is_claimable(event: &Event, now: Timestamp) -> bool {
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
    fn what_is_due_is_claimable_and_what_is_held_or_over_is_not() {
        let check = |status, retry_count, next, until, expected| {
            let event = Event { status, retry_count, next_retry_at: next, lease_until: until, ..event() };
            assert_eq!(is_claimable(&event, NOW), expected, "{event:?}");
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
    fn events_of_a_user_come_in_the_order_of_their_time() {
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
        let found = groups(vec![made("b", "2", 5), made("a", "3", 1), made("b", "1", 4), made("b", "0", 5)]);
        let shown: Vec<(&str, Vec<&str>)> = found
            .iter()
            .map(|group| {
                (group.user.as_str(), group.events.iter().map(|one| one.value.id.as_str()).collect())
            })
            .collect();
        assert_eq!(shown, [("b", vec!["1", "0", "2"]), ("a", vec!["3"])]);
    }
}
