//! Reading GeoJSON as far as an index needs it: which type it says it is, and its positions.
//!
//! What the spatial functions refuse for more than its form is read all the same.

use orrery_catalog::definition::SpatialType;
use orrery_value::Value;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Position {
    pub x: f64,
    pub y: f64,
}

pub(super) enum Shape {
    Point(Position),
    /// Two positions at least.
    Line(Vec<Position>),
    /// The rings of each polygon. One ring at least, each with its first position again at its end.
    EpkRange(Vec<Vec<Vec<Position>>>),
}

/// `None` for what has not the form of a shape.
pub(super) fn read(value: &Value) -> Option<(SpatialType, Shape)> {
    let coordinates = value.member("coordinates");
    let Value::String(name) = value.member("type") else { return None };
    match name.as_str() {
        "Point" => Some((SpatialType::Point, Shape::Point(position(coordinates)?))),
        "LineString" => Some((SpatialType::LineString, Shape::Line(line(coordinates)?))),
        "Polygon" => Some((SpatialType::Polygon, Shape::EpkRange(vec![polygon(coordinates)?]))),
        "MultiPolygon" => {
            let polygons: Option<Vec<_>> = list(coordinates)?.iter().map(polygon).collect();
            Some((SpatialType::MultiPolygon, Shape::EpkRange(polygons?)))
        }
        _ => None,
    }
}

impl Shape {
    pub fn positions(&self) -> impl Iterator<Item = Position> {
        let (point, line, area) = match self {
            Self::Point(point) => (Some(*point), &[][..], &[][..]),
            Self::Line(line) => (None, &line[..], &[][..]),
            Self::EpkRange(area) => (None, &[][..], &area[..]),
        };
        let rings = area.iter().flatten().flatten();
        point.into_iter().chain(line.iter().chain(rings).copied())
    }
}

fn polygon(value: &Value) -> Option<Vec<Vec<Position>>> {
    let rings: Option<Vec<_>> = list(value)?.iter().map(ring).collect();
    rings.filter(|rings| !rings.is_empty())
}

fn ring(value: &Value) -> Option<Vec<Position>> {
    positions(value).filter(|ring| ring.len() >= 4 && ring.first() == ring.last())
}

fn line(value: &Value) -> Option<Vec<Position>> {
    positions(value).filter(|line| line.len() >= 2)
}

fn positions(value: &Value) -> Option<Vec<Position>> {
    list(value)?.iter().map(position).collect()
}

/// What follows the first two numbers is not looked at.
fn position(value: &Value) -> Option<Position> {
    match list(value)? {
        [Value::Number(x), Value::Number(y), ..] => Some(Position { x: x.as_f64(), y: y.as_f64() }),
        _ => None,
    }
}

fn list(value: &Value) -> Option<&[Value]> {
    if let Value::Array(items) = value { Some(items) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Option<(SpatialType, usize)>) {
        let found = read(&Value::parse(text).unwrap());
        assert_eq!(found.map(|(kind, shape)| (kind, shape.positions().count())), expected, "{text}");
    }

    #[test]
    fn shapes_are_told_by_their_type_and_form() {
        check(r#"{"type":"Point","coordinates":[1,2]}"#, Some((SpatialType::Point, 1)));
        check(r#"{"coordinates":[1,2,"high"],"more":0,"type":"Point"}"#, Some((SpatialType::Point, 1)));
        check(r#"{"type":"LineString","coordinates":[[1,2],[3,4]]}"#, Some((SpatialType::LineString, 2)));
        let square = "[[0,0],[1,0],[1,1],[0,0]]";
        let polygon = format!("[{square},{square}]");
        check(&format!(r#"{{"type":"Polygon","coordinates":{polygon}}}"#), Some((SpatialType::Polygon, 8)));
        let several = format!(r#"{{"type":"MultiPolygon","coordinates":[{polygon},{polygon}]}}"#);
        check(&several, Some((SpatialType::MultiPolygon, 16)));
        check(r#"{"type":"MultiPolygon","coordinates":[]}"#, Some((SpatialType::MultiPolygon, 0)));
    }

    #[test]
    fn what_is_no_shape_is_none() {
        for text in [
            "1",
            "[]",
            "{}",
            r#"{"type":"Point"}"#,
            r#"{"type":"point","coordinates":[1,2]}"#,
            r#"{"type":["Point"],"coordinates":[1,2]}"#,
            r#"{"type":"Circle","coordinates":[1,2]}"#,
            r#"{"type":"Point","coordinates":[1]}"#,
            r#"{"type":"Point","coordinates":["1","2"]}"#,
            r#"{"type":"Point","coordinates":[[1,2]]}"#,
            r#"{"type":"LineString","coordinates":[[1,2]]}"#,
            r#"{"type":"LineString","coordinates":[[1,2],null]}"#,
            r#"{"type":"Polygon","coordinates":[]}"#,
            r#"{"type":"Polygon","coordinates":[[[0,0],[1,0],[0,0]]]}"#,
            r#"{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,1]]]}"#,
            r#"{"type":"MultiPolygon","coordinates":[[]]}"#,
        ] {
            check(text, None);
        }
    }
}
