//! Directions from the centre of the earth, and arcs between them.
//!
//! An edge of a shape is the section of a plane through the centre. With the ellipsoid stretched to a unit
//! sphere (see [`super::earth`]) that section is an arc of a great circle, so relations between shapes need
//! only vectors: no poles, no antimeridian, no projection.

use std::ops::{Add, Mul, Neg, Sub};

/// Directions closer than this are equal: six micrometres on the ground, far above rounding errors.
pub(super) const SAME: f64 = 1e-12;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Vector {
    pub x: f64,
    pub y: f64,
    pub z: f64,
}

impl Vector {
    pub const ZERO: Self = Self { x: 0.0, y: 0.0, z: 0.0 };
    pub const X: Self = Self { x: 1.0, y: 0.0, z: 0.0 };
    pub const Z: Self = Self { x: 0.0, y: 0.0, z: 1.0 };

    pub fn dot(self, other: Self) -> f64 {
        self.x * other.x + self.y * other.y + self.z * other.z
    }

    pub fn cross(self, other: Self) -> Self {
        Self {
            x: self.y * other.z - self.z * other.y,
            y: self.z * other.x - self.x * other.z,
            z: self.x * other.y - self.y * other.x,
        }
    }

    pub fn length(self) -> f64 {
        self.dot(self).sqrt()
    }

    /// Normalizes to length one; zero stays zero.
    pub fn unit(self) -> Self {
        let length = self.length();
        if length == 0.0 { Self::ZERO } else { self * (1.0 / length) }
    }

    pub fn is(self, other: Self) -> bool {
        (self - other).length() < SAME
    }

    /// The normal of the meridian plane of this direction; a pole lies on every meridian.
    fn meridian(self) -> Self {
        let normal = self.cross(Self::Z);
        if normal.length() < SAME { self.cross(Self::X).unit() } else { normal.unit() }
    }
}

impl Add for Vector {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self { x: self.x + other.x, y: self.y + other.y, z: self.z + other.z }
    }
}

impl Sub for Vector {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Neg for Vector {
    type Output = Self;
    fn neg(self) -> Self {
        self * -1.0
    }
}

impl Mul<f64> for Vector {
    type Output = Self;
    fn mul(self, by: f64) -> Self {
        Self { x: self.x * by, y: self.y * by, z: self.z * by }
    }
}

/// The shortest path from `start` to `end`; a point if they are equal.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arc {
    pub start: Vector,
    pub end: Vector,
    /// Perpendicular to the plane of the arc, on its left; zero for a point.
    pub normal: Vector,
    /// The direction of travel at `start`; zero for a point.
    tangent: Vector,
    /// The angle between the ends, from zero to half a turn.
    pub length: f64,
}

/// The relation of two arcs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Meeting {
    Apart,
    /// They share one point, which is an end of at least one of them.
    Touch(Vector),
    /// They cross away from their ends.
    Cross(Vector),
    /// They share a segment.
    Overlap,
}

impl Arc {
    pub fn new(start: Vector, end: Vector) -> Self {
        if start.is(end) {
            return Self::point(start);
        }
        Self::along(start, end, plane(start, end))
    }

    pub fn point(at: Vector) -> Self {
        Self { start: at, end: at, normal: Vector::ZERO, tangent: Vector::ZERO, length: 0.0 }
    }

    /// Antipodal ends are joined over the pole, the shortest path on the ellipsoid.
    pub fn over_pole(start: Vector, end: Vector) -> Self {
        if !is_opposite(start, end) {
            return Self::new(start, end);
        }
        Self::along(start, end, start.meridian())
    }

    fn along(start: Vector, end: Vector, normal: Vector) -> Self {
        let tangent = normal.cross(start);
        let length = end.dot(tangent).atan2(end.dot(start));
        let length = if length < 0.0 { length + std::f64::consts::TAU } else { length };
        Self { start, end, normal, tangent, length }
    }

    pub fn is_point(&self) -> bool {
        self.length == 0.0
    }

    /// The direction at an angle from the start.
    pub fn at(&self, angle: f64) -> Vector {
        self.start * angle.cos() + self.tangent * angle.sin()
    }

    /// The direction of travel at an angle from the start.
    pub fn heading(&self, angle: f64) -> Vector {
        self.tangent * angle.cos() - self.start * angle.sin()
    }

    /// The signed distance of a direction from the whole circle; positive to the left.
    pub fn side(&self, of: Vector) -> f64 {
        // The start is on the circle: subtracting it now avoids the later cancellation of nearly equal
        // numbers.
        self.normal.dot(of - self.start)
    }

    /// The angle from the start of a direction on the circle, if it is within the arc.
    fn angle_of(&self, on_circle: Vector) -> Option<f64> {
        let angle = on_circle.dot(self.tangent).atan2(on_circle.dot(self.start));
        (angle >= 0.0 && angle <= self.length).then_some(angle)
    }

    pub fn holds(&self, point: Vector) -> bool {
        self.start.is(point)
            || self.end.is(point)
            || (!self.is_point() && self.side(point).abs() < SAME && self.angle_of(point).is_some())
    }

    /// The angle of the arc's nearest point to a direction.
    pub fn nearest(&self, to: Vector) -> f64 {
        let foot = to - self.normal * self.normal.dot(to);
        match self.angle_of(foot) {
            Some(angle) => angle,
            None if (to - self.start).length() <= (to - self.end).length() => 0.0,
            None => self.length,
        }
    }

    pub fn meet(&self, other: &Self) -> Meeting {
        let ends = [
            self.holds(other.start).then_some(other.start),
            self.holds(other.end).then_some(other.end),
            other.holds(self.start).then_some(self.start),
            other.holds(self.end).then_some(self.end),
        ];
        let mut touches = ends.into_iter().flatten();
        let Some(first) = touches.next() else {
            return self.crossing(other).map_or(Meeting::Apart, Meeting::Cross);
        };
        if touches.all(|touch| touch.is(first)) { Meeting::Touch(first) } else { Meeting::Overlap }
    }

    /// Where two arcs cross away from their ends: all four triangles have the same orientation.
    fn crossing(&self, other: &Self) -> Option<Vector> {
        let (c, d) = (self.side(other.start), self.side(other.end));
        let (a, b) = (other.side(self.start), other.side(self.end));
        let crosses =
            (c < 0.0 && d > 0.0 && a > 0.0 && b < 0.0) || (c > 0.0 && d < 0.0 && a < 0.0 && b > 0.0);
        if !crosses {
            return None;
        }
        let line = plane(self.normal, other.normal);
        let middle = self.at(self.length / 2.0);
        Some(if line.dot(middle) < 0.0 { -line } else { line })
    }
}

/// The left normal of the plane through two directions. Their sum and difference are exact if they are close,
/// and the product of those is twice the cross product.
fn plane(a: Vector, b: Vector) -> Vector {
    (a - b).cross(a + b).unit()
}

/// Whether two directions have no unique shortest path.
pub(super) fn is_opposite(a: Vector, b: Vector) -> bool {
    a.is(-b)
}
