//! Type checks. They never return undefined: an undefined value has none of the types.

use super::args::defined;
use super::datetime::is_date_time;
use super::{Function, function};
use crate::datum::{Datum, Kind};
use orrery_core::ItemRid;

pub(super) const TABLE: &[Function] = &[
    function("IS_ARRAY", 1, 1, |args, _| is(args, |it| it.kind() == Kind::Array)),
    function("IS_BOOL", 1, 1, |args, _| is(args, |it| it.kind() == Kind::Bool)),
    function("IS_BOOLEAN", 1, 1, |args, _| is(args, |it| it.kind() == Kind::Bool)),
    function("IS_DATETIME", 1, 1, |args, _| is(args, |it| it.as_str().is_some_and(is_date_time))),
    function("IS_DEFINED", 1, 1, |args, _| is(args, |it| !it.is_undefined())),
    function("IS_FINITE_NUMBER", 1, 1, |args, _| is(args, |it| it.as_f64().is_some_and(f64::is_finite))),
    function("IS_INTEGER", 1, 1, |args, _| is(args, |it| it.as_i64().is_some())),
    function("IS_NULL", 1, 1, |args, _| is(args, |it| it.kind() == Kind::Null)),
    function("IS_NUMBER", 1, 1, |args, _| is(args, |it| it.kind() == Kind::Number)),
    function("IS_OBJECT", 1, 1, |args, _| is(args, |it| it.kind() == Kind::Object)),
    function("IS_PRIMITIVE", 1, 1, |args, _| is(args, is_primitive)),
    function("IS_STRING", 1, 1, |args, _| is(args, |it| it.kind() == Kind::String)),
];

fn is<'a>(args: &[Datum<'_>], test: fn(&Datum<'_>) -> bool) -> Datum<'a> {
    args.first().is_some_and(test).into()
}

fn is_primitive(value: &Datum<'_>) -> bool {
    matches!(value.kind(), Kind::Null | Kind::Bool | Kind::Number | Kind::String)
}

// IIF: one of two values, like `a ? b : c`. Anything but true counts as false.

pub(super) const CONDITIONAL: &[Function] = &[function("IIF", 3, 3, |args, _| iif(args))];

fn iif<'a>(args: &[Datum<'a>]) -> Datum<'a> {
    let chosen = if args.first().is_some_and(Datum::is_true) { 1 } else { 2 };
    args.get(chosen).cloned().unwrap_or(Datum::Undefined)
}

// DocumentId: the number of an item in its container, the item's own part of `_rid`
// (`36ZyAPW+uN8NAAAAAAAAAA==` is item 13). A value without an item's `_rid` has no number.

pub(super) const ITEM: &[Function] = &[function("DOCUMENTID", 1, 1, |args, _| defined(number(args)))];

fn number(args: &[Datum<'_>]) -> Option<i64> {
    let rid = args.first()?.member("_rid");
    let rid = ItemRid::parse(rid.as_str()?).ok()?;
    i64::try_from(rid.ordinal()).ok()
}
