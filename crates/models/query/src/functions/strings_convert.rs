//! Strings read as JSON, and values written as strings.
//!
//! What is read has to be JSON and nothing beside it but the white space JSON allows: `NULL`, `+1` and
//! `{'a': 1}` are no JSON, and so undefined.

use super::args::{defined, short_enough, text};
use super::{Function, function};
use crate::datum::{Datum, Kind};
use orrery_value::Value;

pub(super) const TABLE: &[Function] = &[
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

/// A string is itself; anything else is its JSON, without white space.
fn write<'a>(args: &[Datum<'a>]) -> Datum<'a> {
    match args.first() {
        None | Some(Datum::Undefined) => Datum::Undefined,
        Some(Datum::String(text)) => Datum::String(text.clone()),
        Some(other) => defined(short_enough(other.to_value().to_json())),
    }
}
