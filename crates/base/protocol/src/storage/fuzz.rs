//! What the fuzzers run, here so that the ordinary tests run the same: one call per decoder of texts that clients send.
//! Each takes any bytes and panics only if a promise of this module is broken.

use super::sas::{Fields, Sas};
use super::{ConnectionString, Query, format_time, parse_time};

/// What is read of a query is the same when it is written and read again; a signature is never shown.
pub fn sas(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(query) = Query::parse(text) else { return };
    let fields = Fields::read(&query);
    let again = Query::parse(&fields.to_query()).expect("what is written is text");
    assert_eq!(Fields::read(&again), fields);
    if let Some(Ok(sas)) = Sas::read(&query) {
        let _ = sas.signature();
        assert!(!format!("{sas:?}").contains("\"sig\":"));
    }
    if let Some(at) = parse_time(text) {
        assert_eq!(parse_time(&format_time(at)), Some(at));
    }
}

/// A connection string that is understood means the same when it is written and read again.
pub fn connection_string(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(parsed) = ConnectionString::parse(text) else { return };
    assert_eq!(ConnectionString::parse(&parsed.to_string()), Ok(parsed));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn decoders_keep_their_promises(text in "[a-zA-Z0-9=&;%+?:/.T -]{0,120}", bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            super::sas(text.as_bytes());
            super::sas(&bytes);
            super::connection_string(text.as_bytes());
            super::connection_string(&bytes);
        }

        #[test]
        fn what_looks_like_a_connection_string_keeps_its_promises(
            parts in prop::collection::vec((0..14_usize, "[ a-z:/?=]{0,20}"), 0..8),
        ) {
            let names = crate::storage::connection_string::NAMES;
            let text: Vec<String> = parts.iter().map(|(at, value)| format!("{}={value}", names[*at])).collect();
            super::connection_string(text.join(";").as_bytes());
        }
    }
}
