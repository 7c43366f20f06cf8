//! Batches beside what is there of them: all of a batch or nothing, and a count that is in step.

use crate::history::Seq;
use std::collections::BTreeMap;

/// A batch that was sent: so many items that carry its number, and one more in the partition's count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchAttempt {
    pub number: Seq,
    pub partition: String,
    pub items: u64,
    pub outcome: BatchOutcome,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BatchOutcome {
    Acknowledged,
    /// One of its operations failed, so none may be there.
    Refused,
    /// Never answered.
    Unknown,
}

/// What was found after a restart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kept {
    /// How many items of each batch are there, in its partition.
    pub items: BTreeMap<(String, Seq), u64>,
    /// What each partition's count says.
    pub counts: BTreeMap<String, u64>,
    /// Rows that could not be read.
    pub trouble: Vec<String>,
}

/// Everything that is wrong.
pub fn audit_batches(attempts: &[BatchAttempt], kept: &Kept) -> Vec<String> {
    let mut wrong = kept.trouble.clone();
    let mut found = kept.items.clone();
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for attempt in attempts {
        let there = found.remove(&(attempt.partition.clone(), attempt.number)).unwrap_or(0);
        let is_right = match attempt.outcome {
            BatchOutcome::Acknowledged => there == attempt.items,
            BatchOutcome::Refused => there == 0,
            BatchOutcome::Unknown => there == 0 || there == attempt.items,
        };
        if !is_right {
            let BatchAttempt { number, partition, items, outcome } = attempt;
            wrong.push(format!(
                "{partition}: batch {number} ({outcome:?}): {there} of its {items} items are there"
            ));
        }
        *counts.entry(&attempt.partition).or_default() += u64::from(there > 0);
    }
    wrong.extend(found.keys().map(|(partition, number)| format!("{partition}: nobody sent batch {number}")));
    for (partition, count) in counts {
        let said = kept.counts.get(partition).copied().unwrap_or(0);
        if said != count {
            wrong.push(format!("{partition}: {count} batches are there, and the count in them says {said}"));
        }
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;
    use BatchOutcome::{Acknowledged, Refused, Unknown};

    fn check(outcome: BatchOutcome, there: u64, count: u64) -> usize {
        let attempt = BatchAttempt { number: 7, partition: "b".to_owned(), items: 3, outcome };
        let items = BTreeMap::from([(("b".to_owned(), 7), there)]);
        let items = items.into_iter().filter(|(_, there)| *there > 0).collect();
        let kept = Kept { items, counts: BTreeMap::from([("b".to_owned(), count)]), trouble: Vec::new() };
        audit_batches(&[attempt], &kept).len()
    }

    #[test]
    fn a_whole_batch_or_none_is_right() {
        assert_eq!(check(Acknowledged, 3, 1), 0);
        assert_eq!(check(Refused, 0, 0), 0);
        assert_eq!(check(Unknown, 3, 1), 0);
        assert_eq!(check(Unknown, 0, 0), 0);
    }

    #[test]
    fn half_a_batch_a_lost_one_and_one_that_was_refused_are_wrong() {
        assert_eq!(check(Acknowledged, 2, 1), 1);
        assert_eq!(check(Acknowledged, 0, 0), 1);
        assert_eq!(check(Unknown, 1, 1), 1);
        assert_eq!(check(Refused, 3, 1), 1);
        assert_eq!(check(Refused, 1, 1), 1);
    }

    #[test]
    fn a_count_out_of_step_and_a_batch_of_nobody_are_wrong() {
        assert_eq!(check(Acknowledged, 3, 0), 1);
        assert_eq!(check(Unknown, 0, 1), 1);
        let items = BTreeMap::from([(("b".to_owned(), 9), 1)]);
        assert_eq!(audit_batches(&[], &Kept { items, ..Kept::default() }).len(), 1);
    }
}
