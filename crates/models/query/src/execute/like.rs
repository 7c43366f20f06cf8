//! LIKE: `%` any text, `_` one character, `[a-z]` and `[^a-z]` one of a set, and an escape.

use super::exec_context::ExecContext;
use crate::datum::Datum;

/// Characters compared that count as one step.
const LOOKS_PER_STEP: usize = 256;

enum Part {
    AnyText,
    AnyOne,
    One(char),
    Set { negated: bool, ranges: Vec<(char, char)> },
}

pub(crate) fn like<'d>(
    value: &Datum<'d>,
    pattern: &Datum<'d>,
    escape: Option<&Datum<'d>>,
    ctx: &ExecContext<'_>,
) -> Datum<'d> {
    let escape = match escape {
        None => None,
        Some(escape) => match escape.as_str().map(|text| text.chars().collect::<Vec<_>>()).as_deref() {
            Some([one]) => Some(*one),
            _ => return Datum::Undefined,
        },
    };
    match (value.as_str(), pattern.as_str()) {
        (Some(text), Some(pattern)) => Datum::Bool(matches(text, &parts(pattern, escape), ctx)),
        _ => Datum::Undefined,
    }
}

fn parts(pattern: &str, escape: Option<char>) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut rest = pattern.chars();
    while let Some(character) = rest.next() {
        parts.push(match character {
            escaped if Some(escaped) == escape => Part::One(rest.next().unwrap_or(escaped)),
            '%' => Part::AnyText,
            '_' => Part::AnyOne,
            '[' => match set(rest.as_str()) {
                Some((part, length)) => {
                    rest = rest.as_str()[length..].chars();
                    part
                }
                None => Part::One('['),
            },
            other => Part::One(other),
        });
    }
    parts
}

/// The set that opens before `text`, and how many bytes it takes. One that never closes is no set.
fn set(text: &str) -> Option<(Part, usize)> {
    let (negated, body) = text.strip_prefix('^').map_or((false, text), |body| (true, body));
    // A bracket right after the opening one is a member of the set.
    let end = body.char_indices().skip(1).find(|(_, c)| *c == ']').map(|(at, _)| at)?;
    let members: Vec<char> = body[..end].chars().collect();
    let mut ranges = Vec::new();
    let mut at = 0;
    while let Some(&low) = members.get(at) {
        match members.get(at + 1..at + 3) {
            Some(['-', high]) => {
                ranges.push((low, *high));
                at += 3;
            }
            _ => {
                ranges.push((low, low));
                at += 1;
            }
        }
    }
    Some((Part::Set { negated, ranges }, text.len() - body.len() + end + 1))
}

/// Goes back only to the last `%`, so the time is bounded by the product of the lengths, and counted.
fn matches(text: &str, parts: &[Part], ctx: &ExecContext<'_>) -> bool {
    let mut rest = text.chars();
    let mut part = 0;
    let mut retry = None;
    let mut looks = 0usize;
    loop {
        looks += 1;
        if looks.is_multiple_of(LOOKS_PER_STEP) && !ctx.count_row() {
            return false;
        }
        if let Some(Part::AnyText) = parts.get(part) {
            part += 1;
            retry = Some((part, rest.clone()));
            continue;
        }
        let mut ahead = rest.clone();
        let fits = match (parts.get(part), ahead.next()) {
            (None, None) => return true,
            (Some(part), Some(character)) => is_one(part, character),
            _ => false,
        };
        if fits {
            rest = ahead;
            part += 1;
            continue;
        }
        let Some((after, from)) = &mut retry else { return false };
        if from.next().is_none() {
            return false;
        }
        part = *after;
        rest = from.clone();
    }
}

fn is_one(part: &Part, character: char) -> bool {
    match part {
        Part::AnyText => false,
        Part::AnyOne => true,
        Part::One(wanted) => *wanted == character,
        Part::Set { negated, ranges } => {
            ranges.iter().any(|(low, high)| (*low..=*high).contains(&character)) != *negated
        }
    }
}
