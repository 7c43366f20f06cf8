//! ST_WITHIN, ST_INTERSECTS and ST_DISTANCE between a document's shape and a constant one.
//!
//! Intersecting shapes share a point, and a near shape has a point in the other's bounding rectangle grown by
//! the distance. A rectangle that covers the whole earth implies only that there is an object.

mod bounds;
mod longitudes;

use super::SlotPaths;
use super::compare::is_of;
use crate::access::indexes::Rectangle;
use crate::access::predicate::IndexPredicate;
use crate::bind::bound::Expr;
use crate::datum::{Datum, Kind};
use crate::functions::{Context, find};
use crate::parse::BinaryOp;
use bounds::{Bounds, read};
use orrery_value::{Number, Value};

/// A rectangle that contains a GeoJSON value; `None` if the value is not a valid shape.
pub fn rectangle_of(value: &Value) -> Option<Rectangle> {
    is_valid(value).then(|| bounds_of(value).unwrap_or(Bounds::EARTH).rectangle())
}

/// ST_WITHIN and ST_INTERSECTS. For invalid shapes they are neither true nor false.
pub(super) fn meets(args: &[Expr], wanted: bool, slots: &SlotPaths<'_>) -> IndexPredicate {
    let Some((of_document, of_query)) = sides(args) else { return IndexPredicate::True };
    if wanted { within(of_document, of_query, 0.0, slots) } else { is_of(of_document, Kind::Object, slots) }
}

/// Recognizes `ST_DISTANCE(…) op value`.
pub(super) fn distance(
    op: BinaryOp,
    expr: &Expr,
    value: &Value,
    slots: &SlotPaths<'_>,
) -> Option<IndexPredicate> {
    let args = match expr {
        Expr::Call(function, args) if function.0.name == "ST_DISTANCE" => args,
        _ => return None,
    };
    let (of_document, of_query) = sides(args)?;
    Some(match (op, value) {
        (BinaryOp::Less | BinaryOp::LessOrEqual | BinaryOp::Equal, Value::Number(metres)) => {
            nearer(of_document, of_query, *metres, slots)
        }
        _ => is_of(of_document, Kind::Object, slots),
    })
}

fn nearer(of_document: &Expr, of_query: &Value, metres: Number, slots: &SlotPaths<'_>) -> IndexPredicate {
    let metres = metres.as_f64();
    if metres < 0.0 { IndexPredicate::False } else { within(of_document, of_query, metres, slots) }
}

/// The constant argument of the two, and the other one.
fn sides(args: &[Expr]) -> Option<(&Expr, &Value)> {
    match args {
        [Expr::Constant(_), Expr::Constant(_)] => None,
        [of_document, Expr::Constant(of_query)] | [Expr::Constant(of_query), of_document] => {
            Some((of_document, of_query))
        }
        _ => None,
    }
}

/// A shape of the document has a point within this distance of the other shape.
fn within(of_document: &Expr, of_query: &Value, metres: f64, slots: &SlotPaths<'_>) -> IndexPredicate {
    if !is_valid(of_query) {
        return IndexPredicate::False;
    }
    let bounds = bounds_of(of_query).map(|bounds| bounds.grown(metres)).filter(|it| *it != Bounds::EARTH);
    match (slots.path_containing(of_document), bounds) {
        (Some(path), Some(bounds)) => IndexPredicate::Shape { path, rectangle: bounds.rectangle() },
        _ => is_of(of_document, Kind::Object, slots),
    }
}

/// The bounds of a valid shape; `None` if they cannot be determined.
fn bounds_of(value: &Value) -> Option<Bounds> {
    let lines = read(value)?;
    let around = Bounds::of_lines(&lines)?;
    if !matches!(value.member("type"), Value::String(kind) if kind.ends_with("Polygon")) {
        return Some(around);
    }
    // Only the spatial functions decide on which side of its rings an area lies.
    Some(around.with_poles(has_pole(value, -90.0)?, has_pole(value, 90.0)?))
}

fn is_valid(value: &Value) -> bool {
    ask("ST_ISVALID", &[Datum::of(value)]) == Some(true)
}

fn has_pole(area: &Value, latitude: f64) -> Option<bool> {
    let coordinates = Value::Array(vec![Value::from(0.0), Value::from(latitude)]);
    let pole = vec![("type".to_owned(), Value::from("Point")), ("coordinates".to_owned(), coordinates)];
    ask("ST_INTERSECTS", &[Datum::owned(Value::Object(pole)), Datum::of(area)])
}

/// Calls a function by name, as filters do, and so gets the same result.
fn ask(function: &str, args: &[Datum<'_>]) -> Option<bool> {
    (find(function)?.eval)(args, &Context::frozen()).as_bool()
}
