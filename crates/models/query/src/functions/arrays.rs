//! Arrays: what they contain, how long they are, and arrays made from them and from objects.

use super::args::{ARRAY_ELEMENTS_MAX, all, any, defined, elements, flag, integer, text_or};
use super::{Function, function};
use crate::datum::{Datum, Kind};
use orrery_value::Value;

pub(super) const TABLE: &[Function] = &[
    function("ARRAY_CONCAT", 2, usize::MAX, |args, _| defined(concat(args))),
    function("ARRAY_CONTAINS", 2, 3, |args, _| defined(contains(args))),
    function("ARRAY_CONTAINS_ALL", 2, usize::MAX, |args, _| defined(all(contained(args)))),
    function("ARRAY_CONTAINS_ANY", 2, usize::MAX, |args, _| defined(any(contained(args)))),
    function("ARRAY_LENGTH", 1, 1, |args, _| defined(elements(args, 0).map(|it| it.len() as i64))),
    function("ARRAY_SLICE", 2, 3, |args, _| defined(slice(args))),
    function("_TRY_ARRAY_CONTAINS", 2, 3, |args, _| defined(contains(args))),
    function("CHOOSE", 2, usize::MAX, |args, _| choose(args)),
    function("ObjectToArray", 1, 3, |args, _| defined(object_to_array(args))),
    function("OBJECT_TO_ARRAY", 1, 3, |args, _| defined(object_to_array(args))),
];

fn concat(args: &[Datum<'_>]) -> Option<Vec<Value>> {
    let mut joined = Vec::new();
    for arg in args {
        joined.extend(arg.elements()?.into_iter().map(Datum::into_value));
        if joined.len() > ARRAY_ELEMENTS_MAX {
            return None;
        }
    }
    Some(joined)
}

/// An undefined third argument is as good as none.
fn contains(args: &[Datum<'_>]) -> Option<bool> {
    let partial = match args.get(2) {
        Some(Datum::Undefined) => false,
        _ => flag(args, 2)?,
    };
    let wanted = args.get(1).filter(|wanted| !wanted.is_undefined())?;
    let is_wanted =
        |element: &Datum<'_>| if partial { has_members_of(element, wanted) } else { element.same(wanted) };
    Some(elements(args, 0)?.iter().any(is_wanted))
}

/// Whether every member of `wanted` is one of the element; what is no object has to be the same.
fn has_members_of(element: &Datum<'_>, wanted: &Datum<'_>) -> bool {
    match wanted.members() {
        Some(members) if element.kind() == Kind::Object => {
            members.iter().all(|(name, value)| element.member(name).same(value))
        }
        _ => element.same(wanted),
    }
}

/// For each value after the array, whether it is an element.
fn contained<'x>(args: &'x [Datum<'_>]) -> impl Iterator<Item = Option<bool>> + 'x {
    let elements = elements(args, 0);
    args.iter().skip(1).map(move |wanted| {
        let elements = elements.as_ref().filter(|_| !wanted.is_undefined())?;
        Some(elements.iter().any(|element| element.same(wanted)))
    })
}

/// A negative start counts from the end; one before the beginning is the beginning.
fn slice(args: &[Datum<'_>]) -> Option<Vec<Value>> {
    let elements = elements(args, 0)?;
    let start = integer(args, 1)?;
    let count = if args.len() > 2 { integer(args, 2)? } else { i64::MAX };
    let start = if start < 0 { start.saturating_add(elements.len() as i64).max(0) } else { start };
    let skip = usize::try_from(start).unwrap_or(usize::MAX);
    let take = usize::try_from(count.max(0)).unwrap_or(usize::MAX);
    Some(elements.into_iter().skip(skip).take(take).map(Datum::into_value).collect())
}

/// The first of the others is number 1.
fn choose<'a>(args: &[Datum<'a>]) -> Datum<'a> {
    let index = integer(args, 0).filter(|index| *index > 0).and_then(|index| usize::try_from(index).ok());
    index.and_then(|index| args.get(index)).cloned().unwrap_or(Datum::Undefined)
}

fn object_to_array(args: &[Datum<'_>]) -> Option<Vec<Value>> {
    let (key, value) = (text_or(args, 1, "k")?, text_or(args, 2, "v")?);
    let members = args.first()?.members()?;
    let pair = |(name, member): (String, Datum<'_>)| {
        Value::Object(vec![(key.to_owned(), Value::String(name)), (value.to_owned(), member.into_value())])
    };
    Some(members.into_iter().map(pair).collect())
}
