//! What a check finds: a kind of fault, how often, and a few examples.

use crate::limits;
use std::collections::BTreeMap;
use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    NotAlive,
    DamagedItem,
    MissingText,
    SurplusText,
    SharedText,
    MisplacedItem,
    UnloggedItem,
    LostLocator,
    WrongLocator,
    SurplusLocator,
    MissingEntry,
    SurplusEntry,
    MissingLocalEntry,
    SurplusLocalEntry,
    MissingUnique,
    SurplusUnique,
    WrongSize,
    SurplusSize,
    WrongTally,
    SurplusTally,
    MissingExpiry,
    StrangeRow,
    Ownerless,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub fault: Fault,
    pub count: u64,
    /// The first ones.
    pub examples: Vec<String>,
}

impl Fault {
    /// What there is a number of.
    fn what(self) -> &'static str {
        match self {
            Self::NotAlive => {
                "containers that take no writes, because the row that says they are there is wrong"
            }
            Self::DamagedItem => "items whose rows cannot be read",
            Self::MissingText => "large texts of items, or of their earlier versions, that are missing",
            Self::SurplusText => "large texts that no item and no earlier version has",
            Self::SharedText => "large texts that two items or earlier versions have",
            Self::MisplacedItem => "items that do not lie where their id and partition key say",
            Self::UnloggedItem => "items whose last change is not in the log",
            Self::LostLocator => "items that have index entries and no locator row",
            Self::WrongLocator => "locator rows that do not tell where their items are",
            Self::SurplusLocator => "locator rows of items that are not there",
            Self::MissingEntry => "index entries that are missing",
            Self::SurplusEntry => "index entries that no item asks for",
            Self::MissingLocalEntry => "index entries of large partitions that are missing",
            Self::SurplusLocalEntry => "index entries of partitions that no item asks for",
            Self::MissingUnique => "unique keys whose values are not held by their items",
            Self::SurplusUnique => "unique keys that are held by items without their values",
            Self::WrongSize => "partitions whose size is not that of their items",
            Self::SurplusSize => "sizes of partitions that have no items",
            Self::WrongTally => "counts of items that are wrong",
            Self::SurplusTally => "counts of partitions that keep none",
            Self::MissingExpiry => "items that expire and are not in the list of the reaper",
            Self::StrangeRow => "rows of the space index that are nothing known",
            Self::Ownerless => "containers that have rows and are not in the catalog",
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}, such as {}", self.fault.what(), self.count, self.examples.join("; "))
    }
}

/// Findings as they come up.
#[derive(Default)]
pub(super) struct Findings(BTreeMap<Fault, Finding>);

impl Findings {
    /// `example` tells which; it is asked for the first few times.
    pub fn note(&mut self, fault: Fault, example: impl FnOnce() -> String) {
        let known = self.0.entry(fault).or_insert_with(|| Finding { fault, count: 0, examples: Vec::new() });
        known.count += 1;
        if known.examples.len() < limits::CHECK_EXAMPLES_MAX {
            known.examples.push(example());
        }
    }

    pub fn finish(self) -> Vec<Finding> {
        self.0.into_values().collect()
    }
}

/// The beginning of some bytes, for a person who wants to find the row.
pub(super) fn hex(bytes: &[u8]) -> String {
    const SHOWN: usize = 24;
    let shown: String = bytes.iter().take(SHOWN).map(|byte| format!("{byte:02x}")).collect();
    if bytes.len() > SHOWN { format!("{shown}…") } else { shown }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_is_a_sentence_with_its_first_examples() {
        let mut findings = Findings::default();
        (0..7).for_each(|number| findings.note(Fault::MissingEntry, || format!("item {number}")));
        findings.note(Fault::DamagedItem, || "item x".to_owned());
        let said: Vec<String> = findings.finish().iter().map(Finding::to_string).collect();
        assert_eq!(said[0], "items whose rows cannot be read: 1, such as item x");
        assert_eq!(said[1], "index entries that are missing: 7, such as item 0; item 1; item 2");
    }

    #[test]
    fn long_keys_are_cut() {
        assert_eq!(hex(&[0, 255]), "00ff");
        assert_eq!(hex(&[1; 100]), format!("{}…", "01".repeat(24)));
    }
}
