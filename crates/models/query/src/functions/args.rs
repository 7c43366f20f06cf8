//! Helpers with which functions read arguments and return results.
//!
//! Functions are written with `Option`: a missing or undefined argument, or one of the wrong type, is `None`;
//! `?` propagates it, and [`defined`] turns it into undefined.

use crate::datum::Datum;
use orrery_core::limits::PAGE_BYTES_MAX;
use std::borrow::Cow;

/// The longest string a function returns. A longer one would fit no page, so the result is undefined instead;
/// strings doubled repeatedly by nested queries thus cost bounded memory.
pub(super) const STRING_BYTES_MAX: usize = PAGE_BYTES_MAX;
/// The most elements of an array that a function returns, for the same reason.
pub(super) const ARRAY_ELEMENTS_MAX: usize = 1_000_000;

/// The result, or undefined if there is none.
pub(super) fn defined<'a, T: Into<Datum<'a>>>(answer: Option<T>) -> Datum<'a> {
    answer.map_or(Datum::Undefined, Into::into)
}

pub(super) fn text<'x>(args: &'x [Datum<'_>], index: usize) -> Option<&'x str> {
    args.get(index)?.as_str()
}

/// An integral number that fits 64 bits; `None` for any other number.
pub(super) fn integer(args: &[Datum<'_>], index: usize) -> Option<i64> {
    args.get(index)?.as_i64()
}

/// An optional boolean, false by default. An undefined one does not count as missing.
pub(super) fn flag(args: &[Datum<'_>], index: usize) -> Option<bool> {
    args.get(index).map_or(Some(false), Datum::as_bool)
}

/// An optional string.
pub(super) fn text_or<'x>(args: &'x [Datum<'_>], index: usize, otherwise: &'x str) -> Option<&'x str> {
    args.get(index).map_or(Some(otherwise), Datum::as_str)
}

pub(super) fn elements<'a>(args: &[Datum<'a>], index: usize) -> Option<Vec<Datum<'a>>> {
    args.get(index)?.elements()
}

/// OR of results: one that is true decides, whatever is undefined beside it.
pub(super) fn any(answers: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let mut none_is = Some(false);
    for answer in answers {
        match answer {
            Some(true) => return Some(true),
            Some(false) => {}
            None => none_is = None,
        }
    }
    none_is
}

/// AND of results: one that is false decides.
pub(super) fn all(answers: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    any(answers.map(|answer| answer.map(|it| !it))).map(|one_is_false| !one_is_false)
}

/// A substring, borrowed from the document if the string is.
pub(super) fn part<'a>(
    args: &[Datum<'a>],
    index: usize,
    cut: impl for<'t> Fn(&'t str) -> Cow<'t, str>,
) -> Datum<'a> {
    match args.get(index) {
        Some(Datum::String(Cow::Borrowed(text))) => Datum::String(cut(text)),
        Some(Datum::String(Cow::Owned(text))) => Datum::String(Cow::Owned(cut(text).into_owned())),
        _ => Datum::Undefined,
    }
}

/// The string, unless it is too long.
pub(super) fn short_enough(text: String) -> Option<String> {
    (text.len() <= STRING_BYTES_MAX).then_some(text)
}
