//! How functions read their arguments and give their answers.
//!
//! A function is written with `Option`: an argument that is missing from the list, undefined or of another
//! type is `None`, `?` leaves the function with it, and [`defined`] turns `None` into undefined.

use crate::datum::Datum;
use orrery_core::limits::PAGE_BYTES_MAX;
use std::borrow::Cow;

/// The longest string a function builds. A longer one would fit no page; it is undefined instead, so that
/// strings doubled again and again by nested queries cost bounded memory.
pub(super) const STRING_BYTES_MAX: usize = PAGE_BYTES_MAX;
/// The most elements an array gets from a function, for the same reason.
pub(super) const ARRAY_ELEMENTS_MAX: usize = 1_000_000;

/// The answer, or undefined if there is none.
pub(super) fn defined<'a, T: Into<Datum<'a>>>(answer: Option<T>) -> Datum<'a> {
    answer.map_or(Datum::Undefined, Into::into)
}

pub(super) fn text<'x>(args: &'x [Datum<'_>], index: usize) -> Option<&'x str> {
    args.get(index)?.as_str()
}

/// An integral number that 64 bits hold; any other number is no integer.
pub(super) fn integer(args: &[Datum<'_>], index: usize) -> Option<i64> {
    args.get(index)?.as_i64()
}

/// A boolean that may be left out, which means false. Undefined is not left out.
pub(super) fn flag(args: &[Datum<'_>], index: usize) -> Option<bool> {
    args.get(index).map_or(Some(false), Datum::as_bool)
}

/// A string that may be left out.
pub(super) fn text_or<'x>(args: &'x [Datum<'_>], index: usize, otherwise: &'x str) -> Option<&'x str> {
    args.get(index).map_or(Some(otherwise), Datum::as_str)
}

pub(super) fn elements<'a>(args: &[Datum<'a>], index: usize) -> Option<Vec<Datum<'a>>> {
    args.get(index)?.elements()
}

/// OR of answers: one that is true decides, whatever is undefined beside it.
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

/// AND of answers: one that is false decides.
pub(super) fn all(answers: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    any(answers.map(|answer| answer.map(|it| !it))).map(|one_is_false| !one_is_false)
}

/// What is cut out of a string: borrowed from the document where the string is.
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

/// The string, unless it grew too long.
pub(super) fn short_enough(text: String) -> Option<String> {
    (text.len() <= STRING_BYTES_MAX).then_some(text)
}
