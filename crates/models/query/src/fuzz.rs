//! What the fuzzers run, here so that the ordinary tests run the same. Each takes any bytes and panics
//! only if a promise of this crate is broken.

mod choices;
mod execute;

pub use execute::query_execute;

use crate::parse::{TextSpan, parse, print};

/// What is read can be printed, and reads back as what prints the same; a complaint is about a part of the
/// text.
pub fn query_parse(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match parse(text) {
        Ok(query) => {
            let printed = print(&query);
            let again = parse(&printed).unwrap_or_else(|complaint| panic!("{complaint} in {printed:?}"));
            assert_eq!(print(&again), printed, "from {text:?}");
        }
        Err(complaint) => {
            let TextSpan { start, end } = complaint.at;
            assert!(text.get(start as usize..end as usize).is_some(), "{complaint:?} in {text:?}");
        }
    }
}
