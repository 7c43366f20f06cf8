//! Parts of strings: by position, by a delimiter, and put together again.

use super::args::{STRING_BYTES_MAX, defined, elements, integer, part, text};
use super::{Function, function, utf16};
use crate::datum::Datum;
use orrery_value::Value;
use std::borrow::Cow;

pub(super) const TABLE: &[Function] = &[
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

/// What lies outside the string is empty: a negative start, one beyond the end, a negative count.
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

/// What is on one side of a delimiter; undefined if the delimiter is not there.
fn piece<'a>(args: &[Datum<'a>], cut: for<'t> fn(&'t str, &str) -> Option<&'t str>) -> Datum<'a> {
    let Some(by) = text(args, 1) else { return Datum::Undefined };
    match text(args, 0).and_then(|whole| cut(whole, by)) {
        Some(_) => part(args, 0, |whole| Cow::Borrowed(cut(whole, by).unwrap_or_default())),
        None => Datum::Undefined,
    }
}

/// Every element has to be a string.
fn join(args: &[Datum<'_>]) -> Option<String> {
    let (elements, separator) = (elements(args, 0)?, text(args, 1)?);
    let parts: Vec<&str> = elements.iter().map(Datum::as_str).collect::<Option<_>>()?;
    let bytes = parts.iter().map(|part| part.len() + separator.len()).sum::<usize>();
    (bytes <= STRING_BYTES_MAX + separator.len()).then(|| parts.join(separator))
}

/// The empty separator separates nothing.
fn split(args: &[Datum<'_>]) -> Option<Vec<Value>> {
    let (whole, separator) = (text(args, 0)?, text(args, 1)?);
    if separator.is_empty() {
        return Some(vec![Value::from(whole)]);
    }
    Some(whole.split(separator).map(Value::from).collect())
}
