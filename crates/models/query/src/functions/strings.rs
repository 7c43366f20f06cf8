//! Strings made from strings: joined, repeated, replaced, reversed, trimmed, in another case.

use super::args::{STRING_BYTES_MAX, defined, part, short_enough, text};
use super::{Function, casing, function, utf16};
use crate::datum::Datum;
use std::borrow::Cow;
use std::collections::HashSet;

pub(super) const TABLE: &[Function] = &[
    function("CONCAT", 2, usize::MAX, |args, _| defined(concat(args))),
    function("LENGTH", 1, 1, |args, _| defined(text(args, 0).map(|it| utf16::length(it) as i64))),
    function("LOWER", 1, 1, |args, _| defined(text(args, 0).map(casing::lower))),
    function("LTRIM", 1, 2, |args, _| trim(args, Ends::Start)),
    function("REPLACE", 3, 3, |args, _| defined(replace(args))),
    function("REPLICATE", 2, 2, |args, _| defined(replicate(args))),
    function("REVERSE", 1, 1, |args, _| {
        defined(text(args, 0).map(|it| it.chars().rev().collect::<String>()))
    }),
    function("RTRIM", 1, 2, |args, _| trim(args, Ends::End)),
    function("TRIM", 1, 2, |args, _| trim(args, Ends::Both)),
    function("UPPER", 1, 1, |args, _| defined(text(args, 0).map(casing::upper))),
];

/// The longest result of REPLICATE, in UTF-16 code units.
const REPLICATE_UNITS_MAX: usize = 10_000;

fn concat(args: &[Datum<'_>]) -> Option<String> {
    let parts: Option<Vec<&str>> = args.iter().map(Datum::as_str).collect();
    let parts = parts?;
    let bytes: usize = parts.iter().map(|part| part.len()).sum();
    (bytes <= STRING_BYTES_MAX).then(|| parts.concat())
}

/// Nothing can be replaced by looking for the empty string: the service answers undefined.
fn replace(args: &[Datum<'_>]) -> Option<String> {
    let (whole, old, new) = (text(args, 0)?, text(args, 1)?, text(args, 2)?);
    if old.is_empty() {
        return None;
    }
    let mut out = String::new();
    let mut rest = whole;
    while let Some((before, after)) = rest.split_once(old) {
        out.push_str(before);
        out.push_str(new);
        out = short_enough(out)?;
        rest = after;
    }
    out.push_str(rest);
    short_enough(out)
}

/// A fractional count is cut to the integer below it; one that is negative or too large has no answer.
fn replicate(args: &[Datum<'_>]) -> Option<String> {
    let unit = text(args, 0)?;
    let count = args.get(1)?.as_f64().filter(|count| *count >= 0.0)?;
    if unit.is_empty() {
        return Some(String::new());
    }
    let units = utf16::length(unit) as f64 * count.trunc();
    (units <= REPLICATE_UNITS_MAX as f64).then(|| unit.repeat(count as usize))
}

#[derive(Clone, Copy)]
enum Ends {
    Start,
    End,
    Both,
}

/// Without a second argument white space is trimmed, with it any of its characters.
fn trim<'a>(args: &[Datum<'a>], ends: Ends) -> Datum<'a> {
    match args.get(1) {
        None => part(args, 0, |whole| trim_where(whole, ends, char::is_whitespace)),
        Some(Datum::String(set)) => {
            let set: HashSet<char> = set.chars().collect();
            part(args, 0, |whole| trim_where(whole, ends, |it| set.contains(&it)))
        }
        Some(_) => Datum::Undefined,
    }
}

fn trim_where(whole: &str, ends: Ends, unwanted: impl Fn(char) -> bool) -> Cow<'_, str> {
    let mut kept = whole;
    if matches!(ends, Ends::Start | Ends::Both) {
        kept = kept.trim_start_matches(&unwanted);
    }
    if matches!(ends, Ends::End | Ends::Both) {
        kept = kept.trim_end_matches(&unwanted);
    }
    Cow::Borrowed(kept)
}
