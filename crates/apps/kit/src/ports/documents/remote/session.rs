//! Session tokens: what this process has seen of each container, per range.
//!
//! `<range>:<version>#<lsn>...`, several joined by commas. The newest token of each range is kept as received
//! and sent with reads, so a read sees every write whose response was received. A store that has not reached
//! a token says so. If its data was rolled back it says so forever; then the token is forgotten.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, PoisonError};

/// By container.
#[derive(Default)]
pub struct Sessions(Mutex<HashMap<String, Seen>>);

/// Per range: the LSN and the text after the colon.
type Seen = BTreeMap<String, (u64, String)>;

impl Sessions {
    pub fn note(&self, container: &str, token: &str) {
        let parts = token.split(',').filter_map(part);
        let mut sessions = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !sessions.contains_key(container) {
            sessions.insert(container.to_owned(), Seen::new());
        }
        let Some(seen) = sessions.get_mut(container) else { return };
        for (range, lsn, text) in parts {
            match seen.get_mut(range) {
                Some(newest) if newest.0 >= lsn => {}
                Some(newest) => *newest = (lsn, text.to_owned()),
                None => drop(seen.insert(range.to_owned(), (lsn, text.to_owned()))),
            }
        }
    }

    pub fn token(&self, container: &str) -> Option<String> {
        let sessions = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let parts = sessions.get(container)?.iter().map(|(range, (_, text))| format!("{range}:{text}"));
        Some(parts.collect::<Vec<_>>().join(",")).filter(|token| !token.is_empty())
    }

    pub fn forget(&self, container: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(container);
    }
}

/// Range, LSN and text of `0:-1#12` or, with regions, `0:1#12#1=9`; the short form is `0:12`.
fn part(text: &str) -> Option<(&str, u64, &str)> {
    let (range, vector) = text.trim().split_once(':')?;
    let lsn = vector.split('#').nth(1).unwrap_or(vector);
    Some((range, lsn.parse().ok()?, vector))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_of_each_range_is_kept() {
        let sessions = Sessions::default();
        assert_eq!(sessions.token("c"), None);
        for token in ["0:-1#5", "1:-1#7,0:-1#4", "1:-1#6", "0:-1#9#1=9", "nonsense", "2:x#y"] {
            sessions.note("c", token);
        }
        assert_eq!(sessions.token("c").as_deref(), Some("0:-1#9#1=9,1:-1#7"));
        assert_eq!(sessions.token("d"), None);
        sessions.forget("c");
        assert_eq!(sessions.token("c"), None);
    }
}
