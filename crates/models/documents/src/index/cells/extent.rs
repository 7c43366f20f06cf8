//! The rectangle around a shape.
//!
//! On the globe an edge is the shortest way between its ends, which bends towards the nearer pole, and an area is what
//! lies to the left of its rings, wherever the poles are. Along an edge the tangent of the latitude is a weighted sum
//! of those at its ends, with weights that depend on the longitude alone. Flattening the globe scales all tangents
//! alike, so nothing here depends on the ellipsoid.
//!
//! On a plane the rectangle is that of the positions. The spatial functions do not tell planes apart and measure there
//! as on the globe, so it is widened to what they may look at.

use super::shape::{Position, Shape};
use orrery_query::access::Rectangle;

/// `west` is never greater than `east`. On the globe both may lie beyond the 180th meridian.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Extent {
    pub west: f64,
    pub east: f64,
    pub south: f64,
    pub north: f64,
}

const EVERYWHERE: Extent = Extent { west: -180.0, east: 180.0, south: -90.0, north: 90.0 };

/// Degrees that a question reaches further than it says: the functions take places for one that are a tenth of this
/// apart, and what is computed here loses some digits.
const SLACK: f64 = 1e-9;
/// Nearer to a pole than this, all longitudes are one.
const POLE_DEGREES: f64 = 1e-6;
/// An edge that passes more longitudes than this goes over a pole, for all that doubles can tell.
const TURN_DEGREES_MAX: f64 = 179.9;
/// The cosine of the longest edge; between opposite places there is no shortest way.
const EDGE_COSINE_MIN: f64 = -0.999;

impl Extent {
    /// `None` if the shape is nowhere.
    pub fn of(shape: &Shape, is_flat: bool) -> Option<Self> {
        let round = on_globe(shape);
        if !is_flat {
            return round;
        }
        let flat = shape.positions().map(Self::at).reduce(Self::with)?;
        Some(round.map_or(flat, |round| flat.with(round.cut())))
    }

    /// What a question looks at; `None` if that is nothing.
    pub fn around(asked: &Rectangle, is_flat: bool) -> Option<Self> {
        let Rectangle { west, south, east, north } = *asked;
        if [west, south, east, north].iter().any(|side| side.is_nan()) || west > east + 360.0 {
            let (least, most) = (f64::NEG_INFINITY, f64::INFINITY);
            return Some(Self { west: least, east: most, south: least, north: most });
        }
        if south > north {
            return None;
        }
        let east = if west > east { east + 360.0 } else { east };
        let beside = slack_beside(south.abs().max(north.abs()));
        let extent =
            Self { west: west - beside, east: east + beside, south: south - SLACK, north: north + SLACK };
        Some(if is_flat { extent.cut() } else { extent })
    }

    /// The same between the 180th meridian and itself: in two parts if it passes it.
    pub fn parts(&self) -> Vec<Self> {
        if self.east - self.west >= 360.0 {
            return vec![Self { west: -180.0, east: 180.0, ..*self }];
        }
        let west = (self.west + 180.0).rem_euclid(360.0) - 180.0;
        let east = west + (self.east - self.west);
        if east <= 180.0 {
            return vec![Self { west, east, ..*self }];
        }
        vec![Self { west, east: 180.0, ..*self }, Self { west: -180.0, east: east - 360.0, ..*self }]
    }

    fn at(position: Position) -> Self {
        Self { west: position.x, east: position.x, south: position.y, north: position.y }
    }

    fn with(self, other: Self) -> Self {
        Self {
            west: self.west.min(other.west),
            east: self.east.max(other.east),
            south: self.south.min(other.south),
            north: self.north.max(other.north),
        }
    }

    /// As a plane has it: what passes the 180th meridian goes all the way around.
    fn cut(self) -> Self {
        let passes = self.west <= -180.0 || self.east >= 180.0;
        if passes { self.with(Self { west: -180.0, east: 180.0, ..self }) } else { self }
    }

    /// The narrowest extent around two on the globe.
    fn with_nearest(self, other: Self) -> Self {
        let turned = [-360.0, 0.0, 360.0]
            .map(|turn| self.with(Self { west: other.west + turn, east: other.east + turn, ..other }));
        let narrower = |a: Self, b: Self| if b.east - b.west < a.east - a.west { b } else { a };
        turned.into_iter().reduce(narrower).unwrap_or(EVERYWHERE)
    }
}

/// Places that are [`SLACK`] apart, at most so far from the equator, differ in longitude by this.
fn slack_beside(latitude: f64) -> f64 {
    if latitude + SLACK > 90.0 - POLE_DEGREES { 360.0 } else { SLACK / (latitude + SLACK).to_radians().cos() }
}

fn on_globe(shape: &Shape) -> Option<Extent> {
    if shape.positions().any(|position| position.x.abs() > 180.0 || position.y.abs() > 90.0) {
        return None;
    }
    match shape {
        Shape::Point(position) => Some(Extent::at(*position)),
        Shape::Line(line) => Some(Way::along(line).map_or(EVERYWHERE, |way| way.extent)),
        // A polygon is to the left of all its rings, so to the left of the first.
        Shape::EpkRange(polygons) => polygons
            .iter()
            .filter_map(|rings| rings.first())
            .map(|ring| left_of(ring))
            .reduce(Extent::with_nearest),
    }
}

fn left_of(ring: &[Position]) -> Extent {
    let Some(way) = Way::along(ring) else { return EVERYWHERE };
    match way.turns {
        0 if way.runs_left(ring.len()) => way.extent,
        // All around the earth, with a pole on its left.
        1 => Extent { south: way.extent.south, ..EVERYWHERE },
        -1 => Extent { north: way.extent.north, ..EVERYWHERE },
        _ => EVERYWHERE,
    }
}

/// The edges between positions, one after the other.
struct Way {
    extent: Extent,
    /// How often it passed the 180th meridian eastwards, less how often westwards.
    turns: i32,
    /// The area between it and the equator, less where it runs eastwards; and without regard to where it runs.
    area: f64,
    area_passed: f64,
}

impl Way {
    /// `None` if an edge comes too near to a pole, or is too long, to say where it runs.
    fn along(positions: &[Position]) -> Option<Self> {
        let first = Extent::at(*positions.first()?);
        let mut way = Self { extent: first, turns: 0, area: 0.0, area_passed: 0.0 };
        positions.windows(2).try_for_each(|edge| way.go(edge[0], edge[1]))?;
        Some(way)
    }

    fn go(&mut self, from: Position, to: Position) -> Option<()> {
        let turn = match to.x - from.x {
            across if across < -180.0 => 1,
            across if across > 180.0 => -1,
            _ => 0,
        };
        let across = to.x - from.x + 360.0 * f64::from(turn);
        if !is_clear(from, to, across) {
            return None;
        }
        self.turns += turn;
        let x = to.x + 360.0 * f64::from(self.turns);
        let (south, north) = (-northmost(-from.y, -to.y, across), northmost(from.y, to.y, across));
        self.extent = self.extent.with(Extent { west: x, east: x, south, north });
        let area = above_equator(from, to, across);
        self.area -= area;
        self.area_passed += area.abs();
        Some(())
    }

    /// Whether the smaller side of a ring is the left one; if rounding might have decided it, it is not.
    fn runs_left(&self, positions: usize) -> bool {
        self.area > 8.0 * f64::EPSILON * positions as f64 * self.area_passed
    }
}

fn is_clear(from: Position, to: Position, across: f64) -> bool {
    let is_pole = |position: Position| position.y.abs() > 90.0 - POLE_DEGREES;
    let ((sin_from, cos_from), (sin_to, cos_to)) =
        (from.y.to_radians().sin_cos(), to.y.to_radians().sin_cos());
    let cosine = sin_from * sin_to + cos_from * cos_to * across.to_radians().cos();
    !is_pole(from) && !is_pole(to) && across.abs() <= TURN_DEGREES_MAX && cosine >= EDGE_COSINE_MIN
}

/// No place of an edge is further north. With both ends at the higher latitude the edge would be nowhere lower, and
/// highest in its middle.
fn northmost(from: f64, to: f64, across: f64) -> f64 {
    let higher = from.max(to);
    if higher <= 0.0 {
        return higher;
    }
    let tangent = higher.to_radians().tan() / (across.to_radians() / 2.0).cos();
    tangent.atan().to_degrees().max(higher)
}

/// The area between an edge and the equator on the unit sphere; negative to the south, and where it runs westwards.
fn above_equator(from: Position, to: Position, across: f64) -> f64 {
    let half = |degrees: f64| (degrees.to_radians() / 2.0).tan();
    let (a, b) = (half(from.y), half(to.y));
    2.0 * (half(across) * (a + b) / (1.0 + a * b)).atan()
}

#[cfg(test)]
mod tests {
    use super::*;
    use orrery_value::Value;

    const ALL: [f64; 4] = [-180.0, -90.0, 180.0, 90.0];

    fn extent(kind: &str, coordinates: &str, is_flat: bool) -> Option<[f64; 4]> {
        let text = format!(r#"{{"type":"{kind}","coordinates":{coordinates}}}"#);
        let (_, shape) = super::super::shape::read(&Value::parse(&text).unwrap()).unwrap();
        Extent::of(&shape, is_flat).map(|extent| [extent.west, extent.south, extent.east, extent.north])
    }

    /// West, south, east and north, to a thousandth of a degree.
    fn check(kind: &str, coordinates: &str, expected: [f64; 4]) {
        let found = extent(kind, coordinates, false).unwrap();
        let near = found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-3);
        assert!(near, "{kind} {coordinates}: {found:?}");
    }

    #[test]
    fn lines_bend_towards_the_nearer_pole() {
        check("Point", "[5,6]", [5.0, 6.0, 5.0, 6.0]);
        check("LineString", "[[0,0],[90,0]]", [0.0, 0.0, 90.0, 0.0]);
        check("LineString", "[[0,45],[90,45]]", [0.0, 45.0, 90.0, 54.736]);
        check("LineString", "[[90,-45],[0,-45]]", [0.0, -54.736, 90.0, -45.0]);
        check("LineString", "[[10,-5],[10,80]]", [10.0, -5.0, 10.0, 80.0]);
    }

    #[test]
    fn the_shorter_way_may_pass_the_180th_meridian() {
        check("LineString", "[[170,0],[-170,0]]", [170.0, 0.0, 190.0, 0.0]);
        check("LineString", "[[-170,0],[170,0],[160,0]]", [-200.0, 0.0, -170.0, 0.0]);
        check("Polygon", "[[[179,0],[-179,0],[-179,1],[179,1],[179,0]]]", [179.0, 0.0, 181.0, 1.0]);
    }

    #[test]
    fn an_area_is_left_of_its_ring() {
        check("Polygon", "[[[0,0],[2,0],[2,1],[0,1],[0,0]]]", [0.0, 0.0, 2.0, 1.0]);
        check("Polygon", "[[[0,0],[0,1],[2,1],[2,0],[0,0]]]", ALL);
        // A square of a centimetre is still seen to run left.
        let tiny = "[[[10,60],[10.0000001,60],[10.0000001,60.0000001],[10,60.0000001],[10,60]]]";
        check("Polygon", tiny, [10.0, 60.0, 10.0, 60.0]);
        check("Polygon", "[[[0,0],[1,0],[2,0],[0,0]]]", ALL);
    }

    #[test]
    fn a_ring_around_a_pole_has_all_longitudes() {
        let around = "[[[0,70],[90,70],[180,70],[-90,70],[0,70]]]";
        check("Polygon", around, [-180.0, 70.0, 180.0, 90.0]);
        check("Polygon", "[[[0,70],[-90,70],[180,70],[90,70],[0,70]]]", [-180.0, -90.0, 180.0, 75.567]);
        check("Polygon", "[[[0,-70],[-90,-70],[180,-70],[90,-70],[0,-70]]]", [-180.0, -90.0, 180.0, -70.0]);
    }

    #[test]
    fn what_comes_to_a_pole_is_everywhere() {
        check("LineString", "[[0,80],[180,80]]", ALL);
        check("LineString", "[[0,80],[5,90]]", ALL);
        check("LineString", "[[0,0],[179.95,0.01]]", ALL);
        check("LineString", "[[0,89.9],[170,-89.9]]", ALL);
        check("Polygon", "[[[-180,-90],[180,-90],[180,-60],[-180,-60],[-180,-90]]]", ALL);
        check("Point", "[7,90]", [7.0, 90.0, 7.0, 90.0]);
    }

    #[test]
    fn polygons_are_joined_the_shorter_way_around() {
        let square = |x: i32| format!("[[[{x},0],[{0},0],[{0},1],[{x},1],[{x},0]]]", x + 1);
        let several =
            |all: &[i32]| format!("[{}]", all.iter().map(|x| square(*x)).collect::<Vec<_>>().join(","));
        check("MultiPolygon", &several(&[178, -180]), [178.0, 0.0, 181.0, 1.0]);
        check("MultiPolygon", &several(&[-180, 178]), [-182.0, 0.0, -179.0, 1.0]);
        check("MultiPolygon", &several(&[0, 20, 10]), [0.0, 0.0, 21.0, 1.0]);
        assert_eq!(extent("MultiPolygon", "[]", false), None);
    }

    #[test]
    fn a_plane_has_no_edge_at_180_but_the_functions_do() {
        let check = |kind, coordinates, expected| assert_eq!(extent(kind, coordinates, true), expected);
        check("LineString", "[[0,0],[500,1000]]", Some([0.0, 0.0, 500.0, 1000.0]));
        check("LineString", "[[170,0],[-170,0]]", Some([-180.0, 0.0, 190.0, 0.0]));
        check("Polygon", "[[[0,0],[0,1],[2,1],[2,0],[0,0]]]", Some(ALL));
        assert_eq!(extent("LineString", "[[0,0],[500,1000]]", false), None);
    }

    #[test]
    fn parts_lie_between_the_180th_meridian_and_itself() {
        let check = |west, east, expected: &[(f64, f64)]| {
            let parts = Extent { west, east, south: 0.0, north: 1.0 }.parts();
            let found: Vec<_> = parts.iter().map(|part| (part.west, part.east)).collect();
            assert_eq!(found, expected, "{west}..{east}");
        };
        check(-10.0, 10.0, &[(-10.0, 10.0)]);
        check(170.0, 190.0, &[(170.0, 180.0), (-180.0, -170.0)]);
        check(-190.0, -170.0, &[(170.0, 180.0), (-180.0, -170.0)]);
        check(350.0, 370.0, &[(-10.0, 10.0)]);
        check(180.0, 180.0, &[(-180.0, -180.0)]);
        check(-180.0, 180.0, &[(-180.0, 180.0)]);
        check(-600.0, 600.0, &[(-180.0, 180.0)]);
    }
}
