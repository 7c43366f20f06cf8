//! Where tables and entities are, as answers say it: the ends of URLs, percent-encoded.

use crate::key_predicate;
use orrery_api_common::percent::COMPONENT;
use percent_encoding::{AsciiSet, utf8_percent_encode};

/// The marks of a key's parentheses stay as they are.
const ENCODED: AsciiSet = COMPONENT.remove(b',').remove(b'=');

/// `Tables('runs')`
pub fn entry(table: &str) -> String {
    format!("Tables('{table}')")
}

/// `runs(PartitionKey='p',RowKey='r')`
pub fn entity(table: &str, partition_key: &str, row_key: &str) -> String {
    let predicate = key_predicate::write(partition_key, row_key);
    [table, &utf8_percent_encode(&predicate, &ENCODED).to_string()].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_ascii_and_keeps_its_marks() {
        assert_eq!(entity("runs", "a b", "1"), "runs(PartitionKey='a%20b',RowKey='1')");
        assert_eq!(entity("runs", "o'clock", "é%"), "runs(PartitionKey='o''clock',RowKey='%C3%A9%25')");
        assert_eq!(entry("runs"), "Tables('runs')");
    }
}
