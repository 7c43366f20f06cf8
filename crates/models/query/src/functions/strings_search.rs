//! Strings looked for in strings: whether one is there, and where.
//!
//! Functions that take a flag for ignoring case compare as [`casing`] maps. Positions are UTF-16 code units.

use super::args::{all, any, defined, flag, integer, text};
use super::{Function, casing, function, utf16};
use crate::datum::Datum;

pub(super) const TABLE: &[Function] = &[
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

/// A comparison of two strings, and the same without regard to case.
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

/// For each string after the first, whether the first contains it.
fn contained(args: &[Datum<'_>], test: Test) -> impl Iterator<Item = Option<bool>> {
    let whole = text(args, 0);
    args.iter().skip(1).map(move |needle| Some(test(whole?, needle.as_str()?)))
}

/// The search begins at the third argument; a negative one is the beginning.
fn index_of(args: &[Datum<'_>]) -> Option<i64> {
    let start = if args.len() > 2 { integer(args, 2)?.max(0) } else { 0 };
    let start = usize::try_from(start).unwrap_or(usize::MAX);
    Some(place(utf16::find(text(args, 0)?, text(args, 1)?, start)))
}

/// The search goes backwards from the third argument, the last unit that may be part of what is found.
fn last_index_of(args: &[Datum<'_>]) -> Option<i64> {
    let last = if args.len() > 2 { integer(args, 2)? } else { i64::MAX };
    let (whole, needle) = (text(args, 0)?, text(args, 1)?);
    let Ok(last) = usize::try_from(last) else { return Some(-1) };
    Some(place(utf16::find_last(whole, needle, last.saturating_add(1))))
}

fn place(found: Option<usize>) -> i64 {
    found.map_or(-1, |units| units as i64)
}
