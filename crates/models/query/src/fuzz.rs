//! The fuzz targets, placed here so that ordinary tests run them too. Each accepts any bytes and panics only
//! if this crate breaks a promise.

mod choices;
mod execute;

pub use execute::query_execute;

use crate::parse::{TextSpan, parse, print};

/// Text that parses can be printed, and the printed text parses to a tree that prints the same; a complaint
/// refers to a span within the text.
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
