//! The bounding rectangle of a shape on the earth.
//!
//! As in the functions, the ellipsoid is stretched to a unit sphere, where edges are arcs of great circles.
//! That keeps longitudes and moves latitudes a little; bounds are stored in moved latitudes, in radians.
//! Between two points of equal latitude an arc comes nearer to the pole, so the extreme latitude of each edge
//! is computed. Everything is rounded outwards by [`SLACK`].

use super::longitudes::{Turn, joined};
use crate::access::indexes::Rectangle;
use orrery_value::Value;
use std::f64::consts::FRAC_PI_2;

/// WGS-84, as in [`crate::functions`].
const FLATTENING: f64 = 1.0 / 298.257_223_563;
/// The semi-minor axis of the earth, in metres. No distance is shorter than its angle times this.
const POLE_METRES: f64 = 6_356_752.314;
/// Radians, about six millimetres: a thousand times the tolerance of the functions.
const SLACK: f64 = 1e-9;
/// This close to a pole longitudes restrict little, so the bounds include all of them.
const POLAR: f64 = FRAC_PI_2 - 1e-3;

/// Longitude and latitude of a position, in degrees.
type Position = (f64, f64);
/// Positions joined by edges; a ring repeats its first position at the end.
type Line = Vec<Position>;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bounds {
    /// Moved latitudes, in radians.
    south: f64,
    north: f64,
    /// Longitudes.
    turn: Turn,
}

/// The positions of a valid shape. An area has a line per ring.
pub(super) fn read(shape: &Value) -> Option<Vec<Line>> {
    let coordinates = shape.member("coordinates");
    match shape.member("type") {
        Value::String(kind) if kind == "Point" => Some(vec![vec![position(coordinates)?]]),
        Value::String(kind) if kind == "LineString" => Some(vec![line(coordinates)?]),
        Value::String(kind) if kind == "Polygon" => items(coordinates)?.iter().map(line).collect(),
        Value::String(kind) if kind == "MultiPolygon" => {
            let rings = items(coordinates)?.iter().map(items).collect::<Option<Vec<_>>>()?;
            rings.into_iter().flatten().map(line).collect()
        }
        _ => None,
    }
}

fn items(value: &Value) -> Option<&[Value]> {
    if let Value::Array(items) = value { Some(items) } else { None }
}

fn line(value: &Value) -> Option<Line> {
    items(value)?.iter().map(position).collect()
}

fn position(value: &Value) -> Option<Position> {
    match items(value)? {
        [Value::Number(longitude), Value::Number(latitude), ..] => {
            Some((longitude.as_f64(), latitude.as_f64()))
        }
        _ => None,
    }
}

impl Bounds {
    pub(super) const EARTH: Self = Self { south: -FRAC_PI_2, north: FRAC_PI_2, turn: Turn::FULL };

    /// The bounds of the edges of all lines; `None` without positions.
    pub(super) fn of_lines(lines: &[Line]) -> Option<Self> {
        let (mut south, mut north) = (f64::INFINITY, f64::NEG_INFINITY);
        for latitude in lines.iter().flat_map(|line| latitudes(line)) {
            south = south.min(latitude);
            north = north.max(latitude);
        }
        let longitudes = lines.iter().map(|line| Turn::along(line.iter().map(|(longitude, _)| *longitude)));
        let turn = joined(longitudes.collect::<Option<Vec<Turn>>>()?)?;
        Some(Self { south, north, turn }.widened(SLACK))
    }

    /// An area that contains a pole includes all longitudes.
    pub(super) fn with_poles(self, has_south: bool, has_north: bool) -> Self {
        Self {
            south: if has_south { -FRAC_PI_2 } else { self.south },
            north: if has_north { FRAC_PI_2 } else { self.north },
            turn: if has_south || has_north { Turn::FULL } else { self.turn },
        }
    }

    /// Grown by a distance.
    pub(super) fn grown(self, metres: f64) -> Self {
        if metres == 0.0 { self } else { self.widened(metres / POLE_METRES * (1.0 + SLACK) + SLACK) }
    }

    /// Grown by an angle. A circle spans the most longitudes at its tangent meridians, where the pole,
    /// the centre and the tangent point form a right-angled triangle.
    fn widened(self, angle: f64) -> Self {
        let (south, north) = ((self.south - angle).max(-FRAC_PI_2), (self.north + angle).min(FRAC_PI_2));
        let is_polar = north > POLAR || south < -POLAR;
        let sideways = angle.sin() / self.north.max(-self.south).cos();
        // Close to one, the angle loses precision.
        let turn = if is_polar || sideways > 0.99 {
            Turn::FULL
        } else {
            self.turn.grown(sideways.asin().to_degrees() + SLACK)
        };
        Self { south, north, turn }
    }

    /// In degrees, with the earth's latitudes.
    pub(super) fn rectangle(self) -> Rectangle {
        let (west, east) = self.turn.ends();
        Rectangle { west, south: latitude(self.south), east, north: latitude(self.north) }
    }
}

/// The extreme latitudes of a line; other latitudes may be included.
fn latitudes(line: &[Position]) -> impl Iterator<Item = f64> {
    let points = line.iter().map(|(_, latitude)| moved(*latitude));
    points.chain(line.windows(2).filter_map(|edge| turning(edge[0], edge[1])))
}

/// The extreme latitude of an edge, if it is not at an end.
fn turning(from: Position, to: Position) -> Option<f64> {
    let (a, b) = (direction(from), direction(to));
    let dot = a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    // Whether the edge climbs as it leaves each end towards the other.
    let (leaving, returning) = (b[2] - dot * a[2], a[2] - dot * b[2]);
    if leaving * returning <= 0.0 {
        return None;
    }
    let normal = [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
    let level = normal[0].hypot(normal[1]);
    Some(level.atan2(normal[2].abs()).copysign(leaving))
}

fn direction((longitude, latitude): Position) -> [f64; 3] {
    let ((sin, cos), (up, out)) = (longitude.to_radians().sin_cos(), moved(latitude).sin_cos());
    [out * cos, out * sin, up]
}

/// Converts a latitude of the earth, in degrees, to one of the sphere.
fn moved(latitude: f64) -> f64 {
    ((1.0 - FLATTENING) * latitude.to_radians().tan()).atan().clamp(-FRAC_PI_2, FRAC_PI_2)
}

/// The inverse. At the poles both are right angles.
fn latitude(moved: f64) -> f64 {
    if moved.abs() >= FRAC_PI_2 {
        return 90f64.copysign(moved);
    }
    (moved.tan() / (1.0 - FLATTENING)).atan().to_degrees()
}
