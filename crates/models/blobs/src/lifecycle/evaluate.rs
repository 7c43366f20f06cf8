//! What a policy makes of the states of one blob.

use super::policy::{Condition, Filters, LifecyclePolicy, LifecycleRule, RuleActions};
use crate::blob::{Blob, BlobKind, BlobState};
use crate::tier::Tier;
use orrery_core::{Ticks, Timestamp};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    Tier(Tier),
    Delete,
}

impl Action {
    /// As policies name it.
    pub fn name(self) -> String {
        match self {
            Self::Delete => "delete".to_owned(),
            Self::Tier(tier) => format!("tierTo{tier}"),
        }
    }
}

/// What happens to a state, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    pub action: Action,
    pub rule: String,
    /// A sentence for people.
    pub reason: String,
}

/// The states of one name: of what is not deleted, whether there are others beside the current one.
#[derive(Clone, Copy, Debug)]
pub struct BlobGroup<'a> {
    pub container: &'a str,
    pub has_history: bool,
    /// Since when the last access of blobs is recorded; a blob that was not read since then counts as read at that moment.
    pub tracked_since: Option<Timestamp>,
}

const MILLIS_PER_DAY: f64 = 86_400_000.0;

/// The cheapest action of all rules; none, if the state is protected or nothing applies.
pub fn evaluate(
    policy: &LifecyclePolicy,
    group: BlobGroup<'_>,
    blob: &Blob,
    now: Timestamp,
) -> Option<Decision> {
    let is_left_alone = blob.deleted.is_some()
        || blob.is_protected(now)
        || blob.lease.is_locked(now)
        || blob.tier.pending(now).is_some()
        || blob.copy.as_ref().is_some_and(|copy| copy.is_pending());
    if is_left_alone || group.container.starts_with('$') {
        return None;
    }
    let rules = policy.rules.iter().filter(|rule| rule.is_enabled && rule.filters.match_blob(group, blob));
    let decisions = rules.filter_map(|rule| decide(rule, group, blob, now));
    decisions.min_by_key(|decision| cost(decision.action))
}

/// What keeping a blob costs after an action: the cheapest wins.
fn cost(action: Action) -> u8 {
    match action {
        Action::Delete => 0,
        Action::Tier(Tier::Archive) => 1,
        Action::Tier(Tier::Cold) => 2,
        Action::Tier(Tier::Cool) => 3,
        Action::Tier(_) => 4,
    }
}

impl Filters {
    fn match_blob(&self, group: BlobGroup<'_>, blob: &Blob) -> bool {
        let is_kind = match blob.kind {
            BlobKind::Block => self.block_blobs,
            BlobKind::Append { .. } => self.append_blobs,
            BlobKind::Page { .. } => false,
        };
        let has_prefix = |prefix: &String| match prefix.strip_prefix(group.container) {
            Some(rest) => {
                rest.strip_prefix('/').is_some_and(|rest| blob.name.as_str().starts_with(rest))
                    || rest.is_empty()
            }
            None => group.container.starts_with(prefix.as_str()),
        };
        is_kind
            && (self.prefixes.is_empty() || self.prefixes.iter().any(has_prefix))
            && self.tags.iter().all(|(key, value)| blob.tags.get(key) == Some(value))
    }
}

fn decide(rule: &LifecycleRule, group: BlobGroup<'_>, blob: &Blob, now: Timestamp) -> Option<Decision> {
    let actions = match blob.state {
        BlobState::Current => &rule.base_blob,
        BlobState::Snapshot(_) => &rule.snapshot,
        BlobState::Version(_) => &rule.version,
        BlobState::DeletedBlob => return None,
    };
    let ages = Ages::of(blob, group, now);
    let decided = |action, reason| Some(Decision { action, rule: rule.name.clone(), reason });
    if let Some(reason) = actions.delete.as_ref().and_then(|condition| ages.exceed(condition)) {
        // The current state goes after the others that it stands for.
        if !(blob.state == BlobState::Current && group.has_history) {
            return decided(Action::Delete, reason);
        }
    }
    if blob.kind != BlobKind::Block {
        return None;
    }
    let is_now = blob.tier.tier(now);
    let possible = actions.tiers.iter().filter(|(tier, _)| moves(is_now, *tier));
    let met = possible.filter_map(|(tier, condition)| Some((*tier, ages.exceed(condition)?)));
    if let Some((tier, reason)) = met.min_by_key(|(tier, _)| cost(Action::Tier(*tier))) {
        return decided(Action::Tier(tier), reason);
    }
    warms(actions, blob, is_now, now).and_then(|reason| decided(Action::Tier(Tier::Hot), reason))
}

/// Whether a rule moves a blob from one tier to another: to a cooler one, or from cool and cold to hot.
fn moves(from: Tier, to: Tier) -> bool {
    let possible: &[Tier] = match from {
        Tier::Hot | Tier::Smart => &[Tier::Cool, Tier::Cold, Tier::Archive],
        Tier::Cool => &[Tier::Cold, Tier::Archive, Tier::Hot],
        Tier::Cold => &[Tier::Archive, Tier::Hot],
        Tier::Archive | Tier::Premium(_) => &[],
    };
    possible.contains(&to)
}

/// A blob that was read since it became cool.
fn warms(actions: &RuleActions, blob: &Blob, is_now: Tier, now: Timestamp) -> Option<String> {
    let (read, changed) = (blob.last_access?, blob.tier.changed(now)?);
    let is_read_since = actions.auto_tier_to_hot && is_now == Tier::Cool && read > changed.timestamp();
    is_read_since.then(|| "it was read since it became cool".to_owned())
}

struct Ages {
    modification: f64,
    creation: f64,
    access: Option<f64>,
    tier_change: f64,
}

impl Ages {
    fn of(blob: &Blob, group: BlobGroup<'_>, now: Timestamp) -> Self {
        let since = |at: Timestamp| now.millis().saturating_sub(at.millis()) as f64 / MILLIS_PER_DAY;
        let created = match blob.state {
            BlobState::Snapshot(at) | BlobState::Version(at) => at,
            BlobState::Current | BlobState::DeletedBlob => blob.created,
        };
        Self {
            modification: since(blob.modified.timestamp()),
            creation: since(created.timestamp()),
            access: blob.last_access.or(group.tracked_since).map(since),
            tier_change: since(blob.tier.changed(now).map_or(blob.created.timestamp(), Ticks::timestamp)),
        }
    }

    /// Why a condition holds, if it does.
    fn exceed(&self, condition: &Condition) -> Option<String> {
        let ages = [
            (condition.since_modification, Some(self.modification), "modified"),
            (condition.since_creation, Some(self.creation), "created"),
            (condition.since_access, self.access, "last read"),
            (condition.since_tier_change, Some(self.tier_change), "moved to its tier"),
        ];
        let mut reasons = Vec::new();
        for (days, age, what) in ages {
            if let Some(days) = days {
                let age = age.filter(|age| *age > days)?;
                reasons.push(format!("it was {what} {age:.1} days ago, more than {days}"));
            }
        }
        Some(reasons.join("; "))
    }
}
