//! ST_WITHIN, ST_INTERSECTS and ST_DISTANCE between a shape of the document and one of the query.
//!
//! Two shapes that meet have a point in common, and one that is near has a point in a rectangle around the other
//! which is grown by the distance. What covers the whole earth says only that there is an object.

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

/// A rectangle that has all of a GeoJSON value in it; `None` if the value is no valid shape.
pub fn rectangle_of(value: &Value) -> Option<Rectangle> {
    is_valid(value).then(|| bounds_of(value).unwrap_or(Bounds::EARTH).rectangle())
}

/// ST_WITHIN and ST_INTERSECTS. Of shapes that are not valid neither is true or false.
pub(super) fn meets(args: &[Expr], wanted: bool, slots: &SlotPaths<'_>) -> IndexPredicate {
    let Some((of_document, of_query)) = sides(args) else { return IndexPredicate::True };
    if wanted { within(of_document, of_query, 0.0, slots) } else { is_of(of_document, Kind::Object, slots) }
}

/// `ST_DISTANCE(…) op value`, if it is that.
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

/// The one of two arguments that the query gives, and the other.
fn sides(args: &[Expr]) -> Option<(&Expr, &Value)> {
    match args {
        [Expr::Constant(_), Expr::Constant(_)] => None,
        [of_document, Expr::Constant(of_query)] | [Expr::Constant(of_query), of_document] => {
            Some((of_document, of_query))
        }
        _ => None,
    }
}

/// A shape of the document has a point that is not further than this from the other.
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

/// The bounds of a valid shape; `None` if they cannot be told.
fn bounds_of(value: &Value) -> Option<Bounds> {
    let lines = read(value)?;
    let around = Bounds::of_lines(&lines)?;
    if !matches!(value.member("type"), Value::String(kind) if kind.ends_with("Polygon")) {
        return Some(around);
    }
    // Which side of its rings an area is on, is for those to say who have to know.
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

/// What a function says; they are asked by name because filters ask them so, and must get the same answer.
fn ask(function: &str, args: &[Datum<'_>]) -> Option<bool> {
    (find(function)?.eval)(args, &Context::still()).as_bool()
}
