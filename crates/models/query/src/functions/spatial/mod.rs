//! The spatial functions: `ST_AREA`, `ST_DISTANCE`, `ST_WITHIN`, `ST_INTERSECTS`, `ST_ISVALID` and
//! `ST_ISVALIDDETAILED`, over GeoJSON on the WGS-84 ellipsoid.
//!
//! ```text
//! geojson ─ reads ─> shape (edges in a tree) ─ asked by ─> relate, distance, earth (areas)
//!                      └─ validity: only shapes without fault are handed on
//! ```
//!
//! An invalid shape is undefined to all but the last two functions. Containers with flat geometry instead of
//! geography are not distinguished here.

mod distance;
mod earth;
mod geojson;
mod relate;
mod shape;
mod tree;
mod validity;
mod vector3;

#[cfg(test)]
mod tests;

use super::{Context, Function, function};
use crate::datum::Datum;
use orrery_value::Value;
use shape::{Kind, Shape};
use tree::{TooComplex, VisitBudget};

pub(super) const TABLE: &[Function] = &[
    function("ST_AREA", 1, 1, area),
    function("ST_DISTANCE", 2, 2, distance),
    function("ST_INTERSECTS", 2, 2, intersects),
    function("ST_ISVALID", 1, 1, is_valid),
    function("ST_ISVALIDDETAILED", 1, 1, is_valid_detailed),
    function("ST_WITHIN", 2, 2, within),
];

fn area<'a>(args: &[Datum<'a>], _: &Context<'_>) -> Datum<'a> {
    match geojson::read(&args[0], &VisitBudget::new()) {
        Ok(shape) if shape.kind == Kind::Area => earth::square_metres(shape.rings()).into(),
        Ok(_) => 0i64.into(),
        Err(_) => Datum::Undefined,
    }
}

fn distance<'a>(args: &[Datum<'a>], _: &Context<'_>) -> Datum<'a> {
    of_two(args, distance::metres)
}

fn intersects<'a>(args: &[Datum<'a>], _: &Context<'_>) -> Datum<'a> {
    of_two(args, relate::intersects)
}

fn within<'a>(args: &[Datum<'a>], _: &Context<'_>) -> Datum<'a> {
    of_two(args, relate::within)
}

/// Applies a function to two valid shapes.
fn of_two<'a, T: Into<Datum<'a>>>(
    args: &[Datum<'a>],
    say: fn(&Shape, &Shape, &VisitBudget) -> Result<T, TooComplex>,
) -> Datum<'a> {
    let visits = VisitBudget::new();
    let read = |value| geojson::read(value, &visits);
    match (read(&args[0]), read(&args[1])) {
        (Ok(a), Ok(b)) => say(&a, &b, &visits).map_or(Datum::Undefined, Into::into),
        _ => Datum::Undefined,
    }
}

fn is_valid<'a>(args: &[Datum<'a>], _: &Context<'_>) -> Datum<'a> {
    if args[0].is_undefined() {
        return Datum::Undefined;
    }
    geojson::read(&args[0], &VisitBudget::new()).is_ok().into()
}

fn is_valid_detailed<'a>(args: &[Datum<'a>], _: &Context<'_>) -> Datum<'a> {
    if args[0].is_undefined() {
        return Datum::Undefined;
    }
    let fault = geojson::read(&args[0], &VisitBudget::new()).err();
    let mut members = vec![("valid".to_owned(), Value::Bool(fault.is_none()))];
    members.extend(fault.map(|fault| ("reason".to_owned(), Value::String(fault))));
    Value::Object(members).into()
}
