//! What the fuzzers run, here so that the ordinary tests run the same. It takes any bytes and panics only if a promise of
//! this crate is broken.

use crate::filter::Filter;
use crate::limits;
use crate::plan::QueryPlan;
use crate::query::KeyBounds;

/// What is read can be planned and printed, and reads back as the same tree; an error is about a place in the text.
pub fn filter_parse(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match Filter::parse(text) {
        Ok(filter) => {
            let printed = filter.to_string();
            // Constants may print longer than they were written.
            if printed.len() > limits::FILTER_BYTES_MAX {
                return;
            }
            let again = Filter::parse(&printed).unwrap_or_else(|error| panic!("{error} in {printed:?}"));
            assert_eq!(again.to_string(), printed, "from {text:?}");
            let plan = QueryPlan::new(Some(&filter), &KeyBounds::default());
            assert!(plan.ranges().iter().all(|range| !range.to_string().is_empty()));
        }
        Err(error) => assert!(error.position() <= text.chars().count(), "{error:?} in {text:?}"),
    }
}
