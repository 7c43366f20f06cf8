//! Texts that lie apart: whatever points to one finds it, and to each points one row.

use super::finding::{Fault, Finding, Findings, hex};
use crate::spaces::{DOCUMENTS, LOG, OVERFLOW};
use crate::sweep::text_of;
use bytes::Bytes;
use orrery_kv::{Error, KeyRange, Order, Read};
use std::collections::HashSet;

/// Over all containers, dropped ones included: their rows point to their texts until both are swept. Of each text, where
/// it is stays in memory.
pub fn check_texts(state: &dyn Read) -> Result<Vec<Finding>, Error> {
    let mut findings = Findings::default();
    let mut wanted: HashSet<Bytes> = HashSet::new();
    for space in [DOCUMENTS, LOG] {
        for row in state.range(space, &KeyRange::all(), Order::Ascending) {
            let Some(text) = text_of(space, &row?) else { continue };
            if !wanted.insert(text.clone()) {
                findings.note(Fault::SharedText, || hex(&text));
            }
        }
    }
    for row in state.range(OVERFLOW, &KeyRange::all(), Order::Ascending) {
        let (key, _) = row?;
        if !wanted.remove(&key) {
            findings.note(Fault::SurplusText, || hex(&key));
        }
    }
    wanted.iter().for_each(|key| findings.note(Fault::MissingText, || hex(key)));
    Ok(findings.finish())
}
