//! A merge: the properties of the stored entity, with those that are sent in place of the ones of the same name.

use super::record::{Properties, Record, RecordWriter};
use crate::edm::Ticks;
use std::collections::HashSet;

/// The record of both: first what stays of the stored one, then what is sent.
pub(crate) fn merge(stored: &Record, sent: Properties<'_>, at: Ticks) -> Vec<u8> {
    let replaced: HashSet<&str> = sent.map(|(name, _)| name).collect();
    let mut merged = RecordWriter::new(at);
    let mut kept = stored.properties();
    loop {
        let before = kept.rest();
        let Some((name, _)) = kept.next() else { break };
        if !replaced.contains(name) {
            merged.push_stored(&before[..before.len() - kept.rest().len()], 1);
        }
    }
    merged.push_stored(sent.rest(), sent.len());
    merged.finish()
}
