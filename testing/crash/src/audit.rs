//! The auditor: what was recorded beside what is there. Touches nothing.
//!
//! Each operation has a span, from when it was sent to when its answer came (or it was first seen by a
//! reader); one never answered has no end. Of two operations whose spans do not overlap, the later one won.
//! So a version may be there unless some *certain* operation of the item began after the version's span
//! ended. That is all that can be asked without knowing the server's own order, and it is enough to catch a
//! lost write, a write that came back, and a half-undone one.

mod asked;

use crate::history::{
    Asked, Effect, Found, Items, Key, Lsns, Operation, Outcome, PolicyChange, Seq, Sighting, Tick,
};
use asked::Looked;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Violation {
    /// An older version (or nothing) is there although this later attempt was acknowledged or seen.
    Lost { key: Key, seq: Seq, there: Option<Seq> },
    /// A version is there that nobody wrote, or whose write was refused.
    Invented { key: Key, seq: Seq },
    /// The tag is not the one the write was answered with.
    Tag { key: Key, seq: Seq, answered: String, there: String },
    /// Two conditional writes were both built on one version.
    LostUpdate { key: Key, etag: String },
    /// A reader was shown a version that had already been replaced.
    Stale { key: Key, shown: Seq, replaced_by: Seq },
    /// The feed and a point read disagree.
    Views { key: Key, feed: Option<Found>, point: Option<Found> },
    /// An LSN went backwards over a restart.
    Backwards { range: String, before: u64, after: u64 },
    /// A question was answered without an item that was there all the while.
    Missed { key: Key, seq: Seq, question: String },
    /// A question was answered with an item that does not match.
    Misfit { key: Key, seq: Seq, question: String },
    /// The indexing policy is not the last one that was acknowledged, nor one that was sent after it.
    Policy { there: Option<Seq>, acknowledged: Option<Seq> },
}

/// One round of history: what was there before it, what happened, what is there now.
#[derive(Clone, Copy, Debug)]
pub struct Round<'a> {
    pub before: &'a Items,
    pub operations: &'a [Operation],
    pub sightings: &'a [Sighting],
    pub asked: &'a [Asked],
    pub now: &'a Items,
}

/// Everything that is wrong with a round.
pub fn audit(round: Round<'_>) -> Vec<Violation> {
    let mut stories: BTreeMap<&Key, Story<'_>> = BTreeMap::new();
    for key in round.before.keys().chain(round.now.keys()) {
        stories.entry(key).or_default();
    }
    for operation in round.operations {
        stories.entry(&operation.key).or_default().operations.push(operation);
    }
    for sighting in round.sightings {
        stories.entry(&sighting.key).or_default().sightings.push(sighting);
    }
    let looked: Vec<Looked<'_>> = round.asked.iter().map(Looked::new).collect();
    stories
        .iter()
        .flat_map(|(key, story)| story.audit(key, round.before.get(key), round.now.get(key), &looked))
        .collect()
}

/// Where a point read and the feed tell different things.
pub fn audit_views(feed: &Items, points: &BTreeMap<Key, Option<Found>>) -> Vec<Violation> {
    let differs = |(key, point): &(&Key, &Option<Found>)| feed.get(key) != point.as_ref();
    let violation = |(key, point): (&Key, &Option<Found>)| Violation::Views {
        key: key.clone(),
        feed: feed.get(key).cloned(),
        point: point.clone(),
    };
    points.iter().filter(differs).map(violation).collect()
}

/// Whether a token seen after a restart (each of its parts) is at least what was seen before.
pub fn audit_lsn(before: &Lsns, range: &str, after: u64) -> Option<Violation> {
    let before = before.get(range)?;
    (after < before).then(|| Violation::Backwards { range: range.to_owned(), before, after })
}

/// Whether the policy that is there is one that may be: the last acknowledged one, or one sent after it that was not
/// refused. `before` is the one that was there when the changes began.
pub fn audit_policy(before: Option<Seq>, changes: &[PolicyChange], there: Option<Seq>) -> Option<Violation> {
    let done = |change: &PolicyChange| matches!(change.outcome, Outcome::Acknowledged { .. });
    let last = changes.iter().rposition(done);
    let acknowledged = last.map_or(before, |at| Some(changes[at].seq));
    let mut open = changes[last.map_or(0, |at| at + 1)..].iter().filter(|c| c.outcome == Outcome::Unknown);
    let may_be = there == acknowledged || open.any(|change| Some(change.seq) == there);
    (!may_be).then_some(Violation::Policy { there, acknowledged })
}

/// What happened to one item.
#[derive(Default)]
struct Story<'a> {
    operations: Vec<&'a Operation>,
    sightings: Vec<&'a Sighting>,
}

/// What may have happened once: what was there before, or an operation that was not refused.
#[derive(Clone, Copy)]
struct Event<'a> {
    seq: Seq,
    leaves: Leaves<'a>,
    certain: bool,
    began: Tick,
    ended: Tick,
}

#[derive(Clone, Copy, PartialEq)]
enum Leaves<'a> {
    Nothing,
    /// A version, with its tag if that is known.
    Version(Option<&'a str>),
}

impl<'a> Story<'a> {
    fn audit(
        &self,
        key: &Key,
        before: Option<&'a Found>,
        now: Option<&Found>,
        looked: &[Looked<'_>],
    ) -> Vec<Violation> {
        let events = self.events(before);
        let mut violations = audit_final(key, &events, now);
        violations.extend(self.sightings.iter().filter_map(|sighting| audit_sighting(sighting, &events)));
        violations.extend(looked.iter().filter_map(|looked| looked.audit(key, &events)));
        violations.extend(self.lost_updates(key));
        violations
    }

    fn events(&self, before: Option<&'a Found>) -> Vec<Event<'a>> {
        let start = match before {
            Some(found) => (found.seq, Leaves::Version(Some(found.etag.as_str()))),
            None => (0, Leaves::Nothing),
        };
        let start = Event { seq: start.0, leaves: start.1, certain: true, began: 0, ended: 0 };
        let happened = self.operations.iter().filter_map(|operation| self.event(operation));
        std::iter::once(start).chain(happened).collect()
    }

    fn event(&self, operation: &'a Operation) -> Option<Event<'a>> {
        let (etag, answered) = match &operation.outcome {
            Outcome::Refused => return None,
            Outcome::Unknown => (None, None),
            Outcome::Acknowledged { etag, ended } => (Some(etag.as_str()), Some(*ended)),
        };
        let leaves = match operation.effect {
            Effect::Delete => Leaves::Nothing,
            Effect::Write => Leaves::Version(etag),
        };
        let seen = self.sightings.iter().filter(|s| s.seq == operation.seq).map(|s| s.ended).min();
        let ended = answered.into_iter().chain(seen).min();
        Some(Event {
            seq: operation.seq,
            leaves,
            certain: ended.is_some(),
            began: operation.began,
            ended: ended.unwrap_or(Tick::MAX),
        })
    }

    fn lost_updates(&self, key: &Key) -> Vec<Violation> {
        let mut built_on = BTreeSet::new();
        let done = self.operations.iter().filter(|o| matches!(o.outcome, Outcome::Acknowledged { .. }));
        done.filter_map(|operation| operation.if_match.as_ref())
            .filter(|etag| !built_on.insert(*etag))
            .map(|etag| Violation::LostUpdate { key: key.clone(), etag: etag.clone() })
            .collect()
    }
}

fn audit_final(key: &Key, events: &[Event<'_>], now: Option<&Found>) -> Vec<Violation> {
    match now {
        Some(found) => audit_present(key, events, found),
        None => audit_absent(key, events).into_iter().collect(),
    }
}

fn audit_present(key: &Key, events: &[Event<'_>], found: &Found) -> Vec<Violation> {
    let made_by = events.iter().find(|e| e.seq == found.seq && e.leaves != Leaves::Nothing);
    let Some(event) = made_by else {
        return vec![Violation::Invented { key: key.clone(), seq: found.seq }];
    };
    let mut violations = Vec::new();
    if let Leaves::Version(Some(answered)) = event.leaves
        && answered != found.etag
    {
        let (answered, there) = (answered.to_owned(), found.etag.clone());
        violations.push(Violation::Tag { key: key.clone(), seq: found.seq, answered, there });
    }
    if let Some(later) = certain_after(events, event.ended) {
        violations.push(Violation::Lost { key: key.clone(), seq: later.seq, there: Some(found.seq) });
    }
    violations
}

/// Nothing is there: some event that leaves nothing must be possible as the last one.
fn audit_absent(key: &Key, events: &[Event<'_>]) -> Option<Violation> {
    let emptied = events.iter().filter(|e| e.leaves == Leaves::Nothing);
    if emptied.clone().any(|event| certain_after(events, event.ended).is_none()) {
        return None;
    }
    let last = events.iter().filter(|e| e.certain && e.leaves != Leaves::Nothing).max_by_key(|e| e.began)?;
    Some(Violation::Lost { key: key.clone(), seq: last.seq, there: None })
}

fn audit_sighting(sighting: &Sighting, events: &[Event<'_>]) -> Option<Violation> {
    let key = || sighting.key.clone();
    let shown = events.iter().find(|e| e.seq == sighting.seq && e.leaves != Leaves::Nothing);
    let Some(shown) = shown else {
        return Some(Violation::Invented { key: key(), seq: sighting.seq });
    };
    let replaced = events.iter().find(|e| e.certain && e.began > shown.ended && e.ended < sighting.began)?;
    Some(Violation::Stale { key: key(), shown: shown.seq, replaced_by: replaced.seq })
}

fn certain_after<'a, 'b>(events: &'b [Event<'a>], ended: Tick) -> Option<&'b Event<'a>> {
    events.iter().find(|event| event.certain && event.began > ended)
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lost { key, seq, there: Some(there) } => {
                write!(f, "{key}: attempt {seq} was acknowledged or seen, but the older {there} is there")
            }
            Self::Lost { key, seq, there: None } => {
                write!(f, "{key}: attempt {seq} was acknowledged or seen, but nothing is there")
            }
            Self::Invented { key, seq } => {
                write!(f, "{key}: {seq} is there, which nobody wrote or which was refused")
            }
            Self::Tag { key, seq, answered, there } => {
                write!(f, "{key}: attempt {seq} was answered with tag {answered}, but has {there}")
            }
            Self::LostUpdate { key, etag } => {
                write!(f, "{key}: two conditional writes on {etag} were both accepted")
            }
            Self::Stale { key, shown, replaced_by } => {
                write!(f, "{key}: a reader was shown {shown} after {replaced_by} had replaced it")
            }
            Self::Views { key, feed, point } => {
                write!(f, "{key}: the feed has {feed:?}, a point read {point:?}")
            }
            Self::Backwards { range, before, after } => {
                write!(f, "range {range}: the LSN was {before} before the restart and is {after} after it")
            }
            Self::Missed { key, seq, question } => {
                write!(
                    f,
                    "{key}: attempt {seq} was there all the while, but is not in the answer to {question}"
                )
            }
            Self::Misfit { key, seq, question } => {
                write!(f, "{key}: attempt {seq} does not match, but is in the answer to {question}")
            }
            Self::Policy { there, acknowledged } => {
                write!(
                    f,
                    "the indexing policy of attempt {acknowledged:?} was acknowledged, but {there:?} is there"
                )
            }
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.partition, self.id)
    }
}

#[cfg(test)]
mod tests;
