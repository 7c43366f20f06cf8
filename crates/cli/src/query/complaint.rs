//! What is wrong with a query, shown under the place it is about.
//!
//! ```text
//! SC2001, Identifier 'd' could not be resolved.
//!
//!   SELECT d.id FROM c
//!          ^
//! ```
//!
//! A place comes from our own binder or, in a server's answer, as JSON inside a message
//! (`Message: {"errors":[{"location":{"start":7,"end":8},…}]}`). An answer of another shape is shown as it is.

use http::StatusCode;
use orrery_query::QueryError;
use serde::Deserialize;
use std::ops::Range;

/// As much of a line is shown; queries that programs write have long ones.
const SHOWN_CHARS_MAX: usize = 100;
/// How much of that stands before the place.
const BEFORE_CHARS_MAX: usize = 60;

/// A complaint of our own.
pub fn of_error(text: &str, error: &QueryError) -> String {
    match error {
        QueryError::Text(complaint) => {
            pointed(text, complaint.at.start as usize..complaint.at.end as usize, &complaint.to_string())
        }
        QueryError::Refused(sentence)
        | QueryError::TooLong(sentence)
        | QueryError::Busy(sentence)
        | QueryError::Storage(sentence) => sentence.clone(),
    }
}

#[derive(Deserialize)]
struct Answer {
    #[serde(default)]
    message: String,
}

#[derive(Deserialize)]
struct Errors {
    errors: Vec<OneError>,
}

#[derive(Deserialize)]
struct OneError {
    code: String,
    message: String,
    location: Option<Location>,
}

#[derive(Deserialize)]
struct Location {
    start: usize,
    end: usize,
}

/// A server's refusal.
pub fn of_answer(text: &str, status: StatusCode, body: &[u8]) -> String {
    let message = serde_json::from_slice::<Answer>(body).map(|answer| answer.message).unwrap_or_default();
    let message = message.split("\r\nActivityId:").next().unwrap_or_default();
    match errors(message) {
        Some(errors) => errors.iter().map(|error| of_one(text, error)).collect::<Vec<_>>().join("\n\n"),
        None if message.is_empty() => format!("the server answers {status}"),
        None => format!("the server answers {status}: {message}"),
    }
}

fn errors(message: &str) -> Option<Vec<OneError>> {
    let Errors { errors } = serde_json::from_str(message.strip_prefix("Message: ")?).ok()?;
    Some(errors).filter(|errors| !errors.is_empty())
}

fn of_one(text: &str, error: &OneError) -> String {
    let what = format!("{}, {}", error.code, error.message);
    match &error.location {
        Some(location) => pointed(text, location.start..location.end, &what),
        None => what,
    }
}

/// `what`, then the line of the place, then carets under the place. The place is in UTF-16 units, as the service
/// counts, and may lie outside the text.
fn pointed(text: &str, at: Range<usize>, what: &str) -> String {
    let start = byte_at(text, at.start);
    let line_start = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
    let line_end = text[start..].find('\n').map_or(text.len(), |newline| start + newline);
    let end = byte_at(text, at.end).min(line_end).max(start);
    let before: Vec<char> = text[line_start..start].chars().collect();
    let cut = before.len().saturating_sub(BEFORE_CHARS_MAX);
    let shown: String =
        text[line_start..line_end].trim_end().chars().skip(cut).take(SHOWN_CHARS_MAX).collect();
    let indent: String =
        before[cut..].iter().map(|before| if *before == '\t' { '\t' } else { ' ' }).collect();
    let room = SHOWN_CHARS_MAX - (before.len() - cut);
    let carets = "^".repeat(text[start..end].chars().count().clamp(1, room));
    format!("{what}\n\n  {shown}\n  {indent}{carets}")
}

/// Where the character begins that has this UTF-16 unit, or the end.
fn byte_at(text: &str, unit: usize) -> usize {
    let mut units = 0;
    for (at, character) in text.char_indices() {
        units += character.len_utf16();
        if units > unit {
            return at;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, at: Range<usize>, expected: &str) {
        assert_eq!(pointed(text, at, "!"), format!("!\n\n{expected}"));
    }

    #[test]
    fn carets_stand_under_the_place() {
        check("SELECT d.id FROM c", 7..8, "  SELECT d.id FROM c\n         ^");
        check("SELECT dd.id FROM c", 7..9, "  SELECT dd.id FROM c\n         ^^");
        check("SELECT", 6..6, "  SELECT\n        ^");
        check("SELECT *\n\tFROM c d e\nWHERE true", 19..20, "  \tFROM c d e\n  \t         ^");
        check("SELECT 'ü', x", 12..13, "  SELECT 'ü', x\n              ^");
        check("SELECT '🚀', x", 13..14, "  SELECT '🚀', x\n              ^");
    }

    #[test]
    fn a_place_over_several_lines_is_marked_on_its_first() {
        check("a\nbc\nd", 2..6, "  bc\n  ^^");
        check("a\r\nb", 0..4, "  a\n  ^^");
    }

    #[test]
    fn a_place_outside_the_text_or_inside_a_character_is_moved() {
        check("ab", 9..12, "  ab\n    ^");
        check("🚀", 1..2, "  🚀\n  ^");
        check("ab", Range { start: 1, end: 0 }, "  ab\n   ^");
        check("", 0..0, "  \n  ^");
    }

    #[test]
    fn of_a_long_line_the_part_around_the_place_is_shown() {
        let text = format!("{}x{}", "a".repeat(500), "b".repeat(500));
        let expected = format!("  {}x{}\n  {}^", "a".repeat(60), "b".repeat(39), " ".repeat(60));
        check(&text, 500..501, &expected);
        let expected = format!("  {}\n  {}", "a".repeat(100), "^".repeat(100));
        check(&text, 0..1000, &expected);
    }

    #[test]
    fn the_service_packs_places_into_its_message() {
        let body = br#"{"code":"BadRequest","message":"Message: {\"errors\":[{\"severity\":\"Error\",\"location\":{\"start\":7,\"end\":8},\"code\":\"SC2001\",\"message\":\"No d.\"}]}\r\nActivityId: 1-2"}"#;
        let shown = of_answer("SELECT d", StatusCode::BAD_REQUEST, body);
        assert_eq!(shown, "SC2001, No d.\n\n  SELECT d\n         ^");
    }

    #[test]
    fn other_answers_are_shown_as_they_are() {
        let check = |body: &str, expected: &str| {
            assert_eq!(of_answer("SELECT 1", StatusCode::NOT_FOUND, body.as_bytes()), expected, "{body}");
        };
        check(
            r#"{"code":"NotFound","message":"Gone.\r\nActivityId: 1"}"#,
            "the server answers 404 Not Found: Gone.",
        );
        check(
            r#"{"message":"Message: {\"errors\":[]}"}"#,
            "the server answers 404 Not Found: Message: {\"errors\":[]}",
        );
        check("<html>", "the server answers 404 Not Found");
        check("", "the server answers 404 Not Found");
    }
}
