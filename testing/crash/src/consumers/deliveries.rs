//! The auditor of consumers: what they wrote down beside what was put. Touches nothing.

use crate::history::Seq;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// A line of a consumer's log. Times are by the clock of the machine, which all consumers share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line {
    /// It was given a message, for the `count`th time by the queue's count, by a get that began then.
    Got { name: Seq, count: u32, began_ms: u64 },
    /// It did its work on it.
    Done { name: Seq },
    /// It deleted it; the answer was there by then.
    Gone { name: Seq, ended_ms: u64 },
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Got { name, count, began_ms } => write!(f, "got {name} {count} {began_ms}"),
            Self::Done { name } => write!(f, "done {name}"),
            Self::Gone { name, ended_ms } => write!(f, "gone {name} {ended_ms}"),
        }
    }
}

/// The lines of a log. The last one may be half there.
pub fn read(log: &str) -> Result<Vec<Line>, String> {
    let whole = log.rfind('\n').map_or("", |end| &log[..end]);
    whole.lines().map(|line| read_line(line).ok_or_else(|| format!("a log has the line '{line}'"))).collect()
}

fn read_line(line: &str) -> Option<Line> {
    let mut words = line.split(' ');
    let kind = words.next()?;
    let numbers: Vec<u64> = words.map(str::parse).collect::<Result<_, _>>().ok()?;
    match (kind, &numbers[..]) {
        ("got", [name, count, began_ms]) => {
            Some(Line::Got { name: *name, count: u32::try_from(*count).ok()?, began_ms: *began_ms })
        }
        ("done", [name]) => Some(Line::Done { name: *name }),
        ("gone", [name, ended_ms]) => Some(Line::Gone { name: *name, ended_ms: *ended_ms }),
        _ => None,
    }
}

/// What was put, and what the queue says that it still has.
#[derive(Clone, Debug, Default)]
pub struct Expected {
    pub put: BTreeSet<Seq>,
    /// Puts that were never answered.
    pub maybe_put: BTreeSet<Seq>,
    pub left: usize,
}

/// Everything that is wrong.
pub fn audit_deliveries(expected: &Expected, lines: &[Line]) -> Vec<String> {
    let mut wrong = Vec::new();
    if expected.left > 0 {
        wrong.push(format!("the queue says that it still has {} messages", expected.left));
    }
    let mut stories: BTreeMap<Seq, Vec<Line>> = expected.put.iter().map(|name| (*name, Vec::new())).collect();
    for line in lines {
        let (Line::Got { name, .. } | Line::Done { name } | Line::Gone { name, .. }) = line;
        stories.entry(*name).or_default().push(*line);
    }
    for (name, story) in &stories {
        let is_known = expected.put.contains(name) || expected.maybe_put.contains(name);
        let said = judge(story, is_known);
        wrong.extend(said.into_iter().map(|what| format!("message {name}: {what}")));
    }
    wrong
}

fn judge(story: &[Line], is_known: bool) -> Vec<String> {
    let mut wrong = Vec::new();
    if !is_known {
        wrong.push("nobody put it".to_owned());
    }
    if !story.iter().any(|line| matches!(line, Line::Done { .. })) {
        wrong.push("nobody completed it".to_owned());
    }
    let gone = story.iter().filter_map(|line| match line {
        Line::Gone { ended_ms, .. } => Some(*ended_ms),
        Line::Got { .. } | Line::Done { .. } => None,
    });
    let gone = gone.min().unwrap_or(u64::MAX);
    let mut counts = BTreeSet::new();
    for line in story {
        let Line::Got { count, began_ms, .. } = line else { continue };
        if *began_ms > gone {
            wrong.push("it was given to somebody after it was deleted".to_owned());
        }
        if !counts.insert(count) {
            wrong.push(format!("its delivery {count} was given to two"));
        }
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(lines: &[Line]) -> Vec<String> {
        let expected = Expected { put: BTreeSet::from([7]), maybe_put: BTreeSet::from([8]), left: 0 };
        audit_deliveries(&expected, lines)
    }

    fn got(name: Seq, count: u32, began_ms: u64) -> Line {
        Line::Got { name, count, began_ms }
    }

    fn completed(name: Seq, ended_ms: u64) -> [Line; 2] {
        [Line::Done { name }, Line::Gone { name, ended_ms }]
    }

    #[test]
    fn a_message_completed_once_or_more_often_is_right() {
        let once = [&[got(7, 1, 10)][..], &completed(7, 20)].concat();
        assert!(verdict(&once).is_empty());
        let twice =
            [&[got(7, 1, 10), Line::Done { name: 7 }, got(7, 2, 1_010)][..], &completed(7, 1_020)].concat();
        assert!(verdict(&twice).is_empty());
        assert!(verdict(&[&once[..], &[got(8, 1, 10)], &completed(8, 20)].concat()).is_empty());
    }

    #[test]
    fn a_message_that_nobody_completed_is_lost() {
        assert_eq!(verdict(&[]), ["message 7: nobody completed it"]);
        assert_eq!(verdict(&[got(7, 1, 10)]), ["message 7: nobody completed it"]);
    }

    #[test]
    fn a_deleted_message_that_is_given_again_one_given_to_two_and_one_of_nobody_are_wrong() {
        let once = [&[got(7, 1, 10)][..], &completed(7, 20)].concat();
        let again = [&once[..], &[got(7, 2, 21)]].concat();
        assert_eq!(verdict(&again), ["message 7: it was given to somebody after it was deleted"]);
        let two = [&once[..], &[got(7, 1, 12)]].concat();
        assert_eq!(verdict(&two), ["message 7: its delivery 1 was given to two"]);
        let other = [&once[..], &[got(9, 1, 10)], &completed(9, 20)].concat();
        assert_eq!(verdict(&other), ["message 9: nobody put it"]);
        let expected = Expected { left: 1, ..Expected::default() };
        assert_eq!(audit_deliveries(&expected, &[]).len(), 1);
    }

    #[test]
    fn a_log_reads_back_and_its_last_line_may_be_cut() {
        let lines = [&[got(7, 1, 10)][..], &completed(7, 20)].concat();
        let log: String = lines.iter().map(|line| format!("{line}\n")).collect();
        assert_eq!(read(&log), Ok(lines.clone()));
        assert_eq!(read(&format!("{log}got 7")), Ok(lines));
        assert!(read("got 7\n").is_err());
        assert_eq!(read("got"), Ok(Vec::new()));
    }
}
