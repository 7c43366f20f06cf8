//! Functions from strings to strings: concatenation, replication, replacement, reversal, trimming and case.

use super::args::{STRING_BYTES_MAX, all, any, defined, elements, flag, integer, part, short_enough, text};
use super::casing;
use super::{Function, function, utf16};
use crate::datum::{Datum, Kind};
use orrery_value::Value;
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

/// The empty string cannot be replaced: the service returns undefined.
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

/// A fractional count is rounded down; a negative or too large one gives undefined.
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

/// Trims white space, or any of the characters in the second argument.
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

// Searching in strings.
//
// Functions with a flag for ignoring case compare as [`casing`] maps. Positions are UTF-16 code units.

pub(super) const SEARCH: &[Function] = &[
    function("CONTAINS", 2, 3, |args, _| defined(compare(args, CONTAINS))),
    function("CONTAINS_ALL_CI", 2, usize::MAX, |args, _| defined(all(contained(args, casing::contains)))),
    function("CONTAINS_ALL_CS", 2, usize::MAX, |args, _| defined(all(contained(args, contains)))),
    function("CONTAINS_ANY_CI", 2, usize::MAX, |args, _| defined(any(contained(args, casing::contains)))),
    function("CONTAINS_ANY_CS", 2, usize::MAX, |args, _| defined(any(contained(args, contains)))),
    function("ENDSWITH", 2, 3, |args, _| defined(compare(args, ENDS_WITH))),
    function("INDEX_OF", 2, 3, |args, _| defined(index_of(args))),
    function("LASTINDEXOF", 2, 3, |args, _| defined(last_index_of(args))),
    function("STARTSWITH", 2, 3, |args, _| defined(compare(args, STARTS_WITH))),
    function("STRINGEQUALS", 2, 3, |args, _| defined(compare(args, EQUALS))),
    function("STRING_EQUALS", 2, 3, |args, _| defined(compare(args, EQUALS))),
];

type Test = fn(&str, &str) -> bool;

/// A comparison of two strings, and its case-insensitive variant.
struct Comparison {
    exact: Test,
    ignoring_case: Test,
}

const CONTAINS: Comparison = Comparison { exact: contains, ignoring_case: casing::contains };
const STARTS_WITH: Comparison =
    Comparison { exact: |a, b| a.starts_with(b), ignoring_case: casing::starts_with };
const ENDS_WITH: Comparison = Comparison { exact: |a, b| a.ends_with(b), ignoring_case: casing::ends_with };
const EQUALS: Comparison = Comparison { exact: |a, b| a == b, ignoring_case: casing::same };

fn contains(text: &str, needle: &str) -> bool {
    text.contains(needle)
}

fn compare(args: &[Datum<'_>], how: Comparison) -> Option<bool> {
    let test = if flag(args, 2)? { how.ignoring_case } else { how.exact };
    Some(test(text(args, 0)?, text(args, 1)?))
}

/// Whether the first string contains each of the others.
fn contained(args: &[Datum<'_>], test: Test) -> impl Iterator<Item = Option<bool>> {
    let whole = text(args, 0);
    args.iter().skip(1).map(move |needle| Some(test(whole?, needle.as_str()?)))
}

/// The search begins at the third argument; a negative one means the beginning.
fn index_of(args: &[Datum<'_>]) -> Option<i64> {
    let start = if args.len() > 2 { integer(args, 2)?.max(0) } else { 0 };
    let start = usize::try_from(start).unwrap_or(usize::MAX);
    Some(place(utf16::find(text(args, 0)?, text(args, 1)?, start)))
}

/// The search goes backwards from the third argument, the last code unit that may belong to the match.
fn last_index_of(args: &[Datum<'_>]) -> Option<i64> {
    let last = if args.len() > 2 { integer(args, 2)? } else { i64::MAX };
    let (whole, needle) = (text(args, 0)?, text(args, 1)?);
    let Ok(last) = usize::try_from(last) else { return Some(-1) };
    Some(place(utf16::find_last(whole, needle, last.saturating_add(1))))
}

fn place(found: Option<usize>) -> i64 {
    found.map_or(-1, |units| units as i64)
}

// Parts of strings: by position, by delimiter, and joined again.

pub(super) const PARTS: &[Function] = &[
    function("LASTSUBSTRINGAFTER", 2, 2, |args, _| piece(args, |whole, by| Some(whole.rsplit_once(by)?.1))),
    function("LASTSUBSTRINGBEFORE", 2, 2, |args, _| piece(args, |whole, by| Some(whole.rsplit_once(by)?.0))),
    function("LEFT", 2, 2, |args, _| substring(args, Some(0), integer(args, 1))),
    function("RIGHT", 2, 2, |args, _| right(args)),
    function("STRINGJOIN", 2, 2, |args, _| defined(join(args))),
    function("STRING_JOIN", 2, 2, |args, _| defined(join(args))),
    function("STRINGSPLIT", 2, 2, |args, _| defined(split(args))),
    function("STRING_SPLIT", 2, 2, |args, _| defined(split(args))),
    function("SUBSTRING", 3, 3, |args, _| substring(args, integer(args, 1), integer(args, 2))),
    function("SUBSTRINGAFTER", 2, 2, |args, _| piece(args, |whole, by| Some(whole.split_once(by)?.1))),
    function("SUBSTRINGBEFORE", 2, 2, |args, _| piece(args, |whole, by| Some(whole.split_once(by)?.0))),
];

/// Anything outside the string is empty: a negative start, one beyond the end, a negative count.
fn substring<'a>(args: &[Datum<'a>], start: Option<i64>, count: Option<i64>) -> Datum<'a> {
    let (Some(start), Some(count)) = (start, count) else { return Datum::Undefined };
    match (usize::try_from(start), usize::try_from(count)) {
        (Ok(start), Ok(count)) => part(args, 0, |whole| utf16::slice(whole, start, count)),
        _ => part(args, 0, |_| Cow::Borrowed("")),
    }
}

fn right<'a>(args: &[Datum<'a>]) -> Datum<'a> {
    let Some(count) = integer(args, 1) else { return Datum::Undefined };
    let count = usize::try_from(count).unwrap_or(0);
    part(args, 0, |whole| {
        let length = utf16::length(whole);
        utf16::slice(whole, length.saturating_sub(count), count)
    })
}

/// The text on one side of a delimiter; undefined if the delimiter is absent.
fn piece<'a>(args: &[Datum<'a>], cut: for<'t> fn(&'t str, &str) -> Option<&'t str>) -> Datum<'a> {
    let Some(by) = text(args, 1) else { return Datum::Undefined };
    match text(args, 0).and_then(|whole| cut(whole, by)) {
        Some(_) => part(args, 0, |whole| Cow::Borrowed(cut(whole, by).unwrap_or_default())),
        None => Datum::Undefined,
    }
}

/// Every element must be a string.
fn join(args: &[Datum<'_>]) -> Option<String> {
    let (elements, separator) = (elements(args, 0)?, text(args, 1)?);
    let parts: Vec<&str> = elements.iter().map(Datum::as_str).collect::<Option<_>>()?;
    let bytes = parts.iter().map(|part| part.len() + separator.len()).sum::<usize>();
    (bytes <= STRING_BYTES_MAX + separator.len()).then(|| parts.join(separator))
}

/// The empty separator does not split.
fn split(args: &[Datum<'_>]) -> Option<Vec<Value>> {
    let (whole, separator) = (text(args, 0)?, text(args, 1)?);
    if separator.is_empty() {
        return Some(vec![Value::from(whole)]);
    }
    Some(whole.split(separator).map(Value::from).collect())
}

// Parsing strings as JSON, and writing values as strings.
//
// The input must be a JSON value with nothing around it but JSON's white space: `NULL`, `+1` and `{'a': 1}`
// are not JSON and give undefined.

pub(super) const CONVERSIONS: &[Function] = &[
    function("StringToArray", 1, 1, |args, _| read(args, Kind::Array)),
    function("STRING_TO_ARRAY", 1, 1, |args, _| read(args, Kind::Array)),
    function("StringToBoolean", 1, 1, |args, _| read(args, Kind::Bool)),
    function("STRING_TO_BOOLEAN", 1, 1, |args, _| read(args, Kind::Bool)),
    function("StringToNull", 1, 1, |args, _| read(args, Kind::Null)),
    function("STRING_TO_NULL", 1, 1, |args, _| read(args, Kind::Null)),
    function("StringToNumber", 1, 1, |args, _| read(args, Kind::Number)),
    function("STRING_TO_NUMBER", 1, 1, |args, _| read(args, Kind::Number)),
    function("StringToObject", 1, 1, |args, _| read(args, Kind::Object)),
    function("STRING_TO_OBJECT", 1, 1, |args, _| read(args, Kind::Object)),
    function("ToString", 1, 1, |args, _| write(args)),
    function("TO_STRING", 1, 1, |args, _| write(args)),
];

fn read<'a>(args: &[Datum<'a>], wanted: Kind) -> Datum<'a> {
    let value = text(args, 0).and_then(|text| Value::parse(text).ok());
    Some(defined(value)).filter(|datum: &Datum<'a>| datum.kind() == wanted).unwrap_or(Datum::Undefined)
}

/// A string is returned unchanged; anything else becomes its JSON without white space.
fn write<'a>(args: &[Datum<'a>]) -> Datum<'a> {
    match args.first() {
        None | Some(Datum::Undefined) => Datum::Undefined,
        Some(Datum::String(text)) => Datum::String(text.clone()),
        Some(other) => defined(short_enough(other.to_value().to_json())),
    }
}
