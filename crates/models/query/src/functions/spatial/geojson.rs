//! Parses GeoJSON: a value becomes a shape, or a sentence that explains why it is invalid.
//!
//! The kinds are those of the reference: Point, LineString, Polygon and MultiPolygon. A position is
//! longitude, then latitude, in degrees; anything after them (an altitude) is ignored.

use super::shape::Shape;
use super::tree::VisitBudget;
use super::vector3::{Vector, is_opposite};
use super::{earth, validity};
use crate::datum::{Datum, Kind};

/// The shape of a valid value, or the reason why it is invalid.
pub(super) fn read(value: &Datum<'_>, visits: &VisitBudget) -> Result<Shape, String> {
    if value.kind() != Kind::Object {
        return Err("The value is not a GeoJSON object.".to_owned());
    }
    let coordinates = value.member("coordinates");
    match value.member("type").as_str() {
        Some("Point") => Ok(Shape::point(vector(position(&coordinates)?))),
        Some("LineString") => line(&coordinates),
        Some("Polygon") => area(&[polygon(&coordinates)?], visits),
        Some("MultiPolygon") => {
            let polygons: Result<Vec<_>, _> =
                list(&coordinates, "MultiPolygon")?.iter().map(polygon).collect();
            area(&polygons?, visits)
        }
        Some(other) => Err(format!("The GeoJSON type '{other}' is not supported.")),
        None => Err("The GeoJSON object has no type.".to_owned()),
    }
}

type Position = (f64, f64);

fn position(value: &Datum<'_>) -> Result<Position, String> {
    let (Some(longitude), Some(latitude)) = (value.element(0).as_f64(), value.element(1).as_f64()) else {
        return Err("A position must be an array of at least two numbers.".to_owned());
    };
    if latitude.abs() > 90.0 {
        return Err("Latitude values must be between -90 and 90 degrees.".to_owned());
    }
    if longitude.abs() > 180.0 {
        return Err("Longitude values must be between -180 and 180 degrees.".to_owned());
    }
    Ok((longitude, latitude))
}

fn vector((longitude, latitude): Position) -> Vector {
    earth::position(longitude, latitude)
}

fn list<'a>(value: &Datum<'a>, of: &str) -> Result<Vec<Datum<'a>>, String> {
    value.elements().ok_or_else(|| format!("The coordinates of a {of} must be an array."))
}

fn positions(value: &Datum<'_>, of: &str) -> Result<Vec<Position>, String> {
    list(value, of)?.iter().map(position).collect()
}

fn line(coordinates: &Datum<'_>) -> Result<Shape, String> {
    let points: Vec<Vector> = positions(coordinates, "LineString")?.into_iter().map(vector).collect();
    check_antipodal(&points, 1)?;
    let line = Shape::line(&points);
    if line.arcs().is_empty() {
        let wrong = "The LineString input is not valid because it does not have enough distinct points.";
        return Err(format!("{wrong} A LineString must have at least two distinct points."));
    }
    Ok(line)
}

/// The rings of a polygon.
fn polygon(coordinates: &Datum<'_>) -> Result<Vec<Vec<Vector>>, String> {
    let rings = list(coordinates, "Polygon")?;
    if rings.is_empty() {
        return Err("The Polygon input is not valid because it does not have an exterior ring.".to_owned());
    }
    rings.iter().enumerate().map(|(index, points)| ring(points, index + 1)).collect()
}

fn ring(coordinates: &Datum<'_>, number: usize) -> Result<Vec<Vector>, String> {
    let positions = positions(coordinates, "Polygon")?;
    let wrong = "The Polygon input is not valid because the";
    if positions.first() != positions.last() {
        return Err(format!(
            "{wrong} start and end points of the ring number {number} are not the same. \
             Each ring of a polygon must have the same start and end points."
        ));
    }
    if positions.len() < 4 {
        return Err(format!(
            "{wrong} ring number {number} does not have enough points. \
             Each ring of a polygon must contain at least four points."
        ));
    }
    let points: Vec<Vector> = positions.into_iter().map(vector).collect();
    check_antipodal(&points, number)?;
    Ok(points)
}

/// Antipodal points have no unique shortest path, so they cannot be an edge.
fn check_antipodal(points: &[Vector], curve: usize) -> Result<(), String> {
    match points.windows(2).position(|pair| is_opposite(pair[0], pair[1])) {
        None => Ok(()),
        Some(at) => Err(format!(
            "Not valid because in curve ({curve}) the edge that starts at point ({}) is either a line or a \
             degenerate arc with antipodal endpoints.",
            at + 1
        )),
    }
}

fn area(polygons: &[Vec<Vec<Vector>>], visits: &VisitBudget) -> Result<Shape, String> {
    let area = Shape::area(polygons);
    if let Some(index) = polygons.iter().flatten().position(|ring| is_collapsed(ring)) {
        let number = index + 1;
        return Err(format!(
            "The Polygon input is not valid because the ring number {number} does not have enough distinct \
             points. Each ring of a polygon must contain at least three distinct points."
        ));
    }
    match validity::fault(&area, visits) {
        Ok(None) => Ok(area),
        Ok(Some(fault)) => Err(fault),
        Err(_) => Err("Not valid because it has too many edges that are close to each other.".to_owned()),
    }
}

/// Whether a ring has fewer than three distinct points.
fn is_collapsed(ring: &[Vector]) -> bool {
    let Some(&first) = ring.first() else { return true };
    let Some(&second) = ring.iter().find(|point| !point.is(first)) else { return true };
    ring.iter().all(|point| point.is(first) || point.is(second))
}
