//! Upper and lower case, character by character.
//!
//! The service maps case independently of culture and string length: `ß` has no single upper-case character
//! and stays as it is, and a final sigma is an ordinary sigma.

pub(super) fn upper(text: &str) -> String {
    if text.is_ascii() { text.to_ascii_uppercase() } else { text.chars().map(upper_char).collect() }
}

pub(super) fn lower(text: &str) -> String {
    if text.is_ascii() { text.to_ascii_lowercase() } else { text.chars().map(lower_char).collect() }
}

/// Whether two strings are equal, ignoring case.
pub(super) fn same(a: &str, b: &str) -> bool {
    a.chars().map(upper_char).eq(b.chars().map(upper_char))
}

pub(super) fn contains(text: &str, needle: &str) -> bool {
    upper(text).contains(&upper(needle))
}

pub(super) fn starts_with(text: &str, prefix: &str) -> bool {
    let mut text = text.chars().map(upper_char);
    prefix.chars().map(upper_char).all(|wanted| text.next() == Some(wanted))
}

pub(super) fn ends_with(text: &str, suffix: &str) -> bool {
    let mut text = text.chars().rev().map(upper_char);
    suffix.chars().rev().map(upper_char).all(|wanted| text.next() == Some(wanted))
}

fn upper_char(character: char) -> char {
    single(character, character.to_uppercase())
}

fn lower_char(character: char) -> char {
    single(character, character.to_lowercase())
}

/// The mapped character if the mapping is a single character, otherwise the character itself.
fn single(character: char, mut mapped: impl Iterator<Item = char>) -> char {
    match (mapped.next(), mapped.next()) {
        (Some(one), None) => one,
        _ => character,
    }
}
