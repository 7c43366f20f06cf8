//! Failpoints: named places between two steps at which a test can end the process.
//!
//! The server arms one from its configuration; nothing else does. An unarmed failpoint costs one atomic load.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

static IS_ARMED: AtomicBool = AtomicBool::new(false);
static ARMED: Mutex<Option<Armed>> = Mutex::new(None);

struct Armed {
    name: String,
    /// Passes left before the process ends.
    passes: u32,
}

/// Arms one failpoint: `name`, or `name:3` for its third pass. An empty string disarms.
pub fn arm(text: &str) -> Result<(), String> {
    let (name, nth) = text.rsplit_once(':').unwrap_or((text, "1"));
    let nth = nth.parse::<u32>().ok().filter(|nth| *nth > 0);
    let nth = nth.ok_or_else(|| format!("the failpoint '{text}' is not a name, or name:n with n from 1"))?;
    let armed = (!name.is_empty()).then(|| Armed { name: name.to_owned(), passes: nth - 1 });
    IS_ARMED.store(armed.is_some(), Ordering::Release);
    *ARMED.lock().unwrap_or_else(PoisonError::into_inner) = armed;
    Ok(())
}

/// Ends the process immediately, like a crash, if this failpoint is armed and due.
pub fn hit(name: &str) {
    if IS_ARMED.load(Ordering::Relaxed) && is_due(name) {
        std::process::abort();
    }
}

fn is_due(name: &str) -> bool {
    let mut armed = ARMED.lock().unwrap_or_else(PoisonError::into_inner);
    match armed.as_mut() {
        Some(armed) if armed.name == name => {
            let is_due = armed.passes == 0;
            armed.passes = armed.passes.saturating_sub(1);
            is_due
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_armed_failpoint_fires_and_only_at_its_count() {
        hit("a.place");
        arm("a.place:3").unwrap();
        assert!(!is_due("another.place"));
        assert_eq!([is_due("a.place"), is_due("a.place"), is_due("a.place")], [false, false, true]);
        arm("a.place").unwrap();
        assert!(is_due("a.place"));
        assert!(arm("a.place:0").is_err() && arm("a.place:x").is_err());
        arm("").unwrap();
        hit("a.place");
    }
}
