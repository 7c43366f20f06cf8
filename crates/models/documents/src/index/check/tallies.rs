//! A tally's row beside what is really there: only what it keeps is counted again, so this is never larger than a row.

use super::finding::{Fault, Findings};
use crate::index::{DOCUMENTS, INDEXED};
use crate::spaces::INDEX;
use orrery_keys::KeyReader;
use orrery_kv::{Error, Read};
use std::collections::BTreeMap;

/// What a field's row says, and how many items there are.
#[derive(Clone, Copy, Default)]
struct Count {
    kept: u64,
    real: u64,
}

#[derive(Default)]
pub(super) struct CheckedTally {
    fields: BTreeMap<u64, Count>,
    pub is_there: bool,
    is_damaged: bool,
}

impl CheckedTally {
    /// `exact` are the fields that every such row keeps.
    pub fn new(state: &dyn Read, key: &[u8], exact: &[u64]) -> Result<Self, Error> {
        let stored = state.get(INDEX, key)?;
        let mut fields: BTreeMap<u64, Count> = exact.iter().map(|field| (*field, Count::default())).collect();
        let bytes = stored.as_deref().unwrap_or_default();
        let mut reader = KeyReader::new(bytes);
        while let (Ok(field), Ok(kept)) = (reader.u64(), reader.u64()) {
            fields.insert(field, Count { kept, real: 0 });
        }
        // Half a pair at the end: such a row is refused whole.
        Ok(Self { fields, is_there: stored.is_some(), is_damaged: bytes.len() % 16 != 0 })
    }

    pub fn count(&mut self, field: u64) {
        if let Some(count) = self.fields.get_mut(&field) {
            count.real += 1;
        }
    }

    /// Counts of paths may be too small, because a row keeps so many and no more; the others may not.
    pub fn finish(&self, of: &str, findings: &mut Findings) {
        if self.is_damaged {
            findings.note(Fault::WrongTally, || format!("all of {of}: the row is damaged"));
        }
        for (field, Count { kept, real }) in &self.fields {
            let is_wrong = if is_exact(*field) { kept != real } else { kept > real };
            if is_wrong {
                let say = || format!("{} of {of}: {kept} instead of {real}", name(*field));
                findings.note(Fault::WrongTally, say);
            }
        }
    }
}

fn is_exact(field: u64) -> bool {
    field == DOCUMENTS || field == INDEXED
}

fn name(field: u64) -> String {
    match field {
        DOCUMENTS => "items".to_owned(),
        INDEXED => "indexed items".to_owned(),
        path => format!("path {path:016x}"),
    }
}
