//! The WGS-84 ellipsoid: distances and areas.
//!
//! Two positions are joined by the section of the ellipsoid with the plane through both and the centre (a
//! great elliptic arc); edges of shapes are such sections too. That reproduces the reference's published
//! distances to a tenth of a millimetre and its area to ten digits; the geodesic is a few centimetres shorter
//! over 1900 km.
//!
//! A position is stored as its direction after the ellipsoid is stretched to a unit sphere. Planes stay
//! planes, so sections become great circles.

use super::vector3::{Arc, Vector};

/// Semi-major axis, in metres.
const EQUATOR: f64 = 6_378_137.0;
const FLATTENING: f64 = 1.0 / 298.257_223_563;
/// Semi-minor axis, in metres.
const POLE: f64 = EQUATOR * (1.0 - FLATTENING);
const ECCENTRICITY_SQUARED: f64 = FLATTENING * (2.0 - FLATTENING);

pub(super) fn position(longitude: f64, latitude: f64) -> Vector {
    let ((sin_lon, cos_lon), (sin_lat, cos_lat)) = (sin_cos(longitude), sin_cos(latitude));
    Vector { x: cos_lat * cos_lon, y: cos_lat * sin_lon, z: sin_lat * (1.0 - FLATTENING) }.unit()
}

/// Exact at right angles, where the poles and the antimeridian are.
fn sin_cos(degrees: f64) -> (f64, f64) {
    match degrees {
        d if d.abs() == 180.0 => (0.0, -1.0),
        d if d.abs() == 90.0 => (d.signum(), 0.0),
        d => d.to_radians().sin_cos(),
    }
}

/// The distance between two positions.
pub(super) fn metres(from: Vector, to: Vector) -> f64 {
    let arc = Arc::over_pole(from, to);
    // A step along the stretched arc is shorter on the ground by the factor for its climb.
    EQUATOR * integral(arc.length, |angle| (1.0 - ECCENTRICITY_SQUARED * arc.heading(angle).z.powi(2)).sqrt())
}

/// The area to the left of the rings, whose arcs are in order; a clockwise ring encloses the rest of the
/// earth.
pub(super) fn square_metres<'a>(rings: impl Iterator<Item = &'a [Arc]>) -> f64 {
    let (mut turned, mut bulge) = (0.0, 0.0);
    for ring in rings {
        turned += steradians(ring);
        bulge += ring.iter().map(edge_bulge).sum::<f64>();
    }
    let sphere = 4.0 * std::f64::consts::PI;
    let turned = if turned < 0.0 { turned + sphere } else { turned };
    EQUATOR * POLE * (turned * mean_density() + bulge)
}

/// The ratio of ground area to unit-sphere area as a function of `z`: `EQUATOR * POLE * sqrt(1 + e z²)`, as
/// the coefficients of the root's series. Six terms reach the precision of doubles.
fn density() -> [f64; 6] {
    let e = (EQUATOR * EQUATOR - POLE * POLE) / (POLE * POLE);
    let mut terms = [1.0; 6];
    for k in 1..terms.len() {
        terms[k] = terms[k - 1] * e * (1.5 - k as f64) / k as f64;
    }
    terms
}

fn mean_density() -> f64 {
    density().iter().enumerate().map(|(k, term)| term / (2 * k + 1) as f64).sum()
}

/// An edge's contribution to the deviation from the mean density: Stokes' theorem turns the integral over the
/// inside into one along the edges. With the mean removed, nothing is singular at the poles.
fn edge_bulge(arc: &Arc) -> f64 {
    let density = density();
    let along = integral(arc.length, |angle| {
        let z = arc.at(angle).z;
        let (mut powers, mut sum) = (0.0, 0.0);
        for (k, term) in density.iter().enumerate().skip(1) {
            powers += z.powi(2 * (k as i32 - 1));
            sum += term / (2 * k + 1) as f64 * powers;
        }
        z * sum
    });
    arc.normal.z * along
}

/// The solid angle to the left of a ring, modulo the whole sphere.
fn steradians(ring: &[Arc]) -> f64 {
    let Some(first) = ring.first() else { return 0.0 };
    let apex = first.start;
    if ring.iter().all(|arc| arc.start.dot(apex) > 0.0) {
        return ring.iter().map(|arc| triangle(apex, arc.start, arc.end)).sum();
    }
    let next = ring.iter().cycle().skip(1);
    let turns: f64 = ring.iter().zip(next).map(|(arc, next)| turn(arc, next)).sum();
    std::f64::consts::TAU - turns
}

/// The solid angle of a triangle, negative if clockwise.
fn triangle(a: Vector, b: Vector, c: Vector) -> f64 {
    let volume = a.dot((b - a).cross(c - a));
    2.0 * volume.atan2(1.0 + a.dot(b) + b.dot(c) + c.dot(a))
}

/// The left turn between two edges.
fn turn(arc: &Arc, next: &Arc) -> f64 {
    let bend = arc.normal.cross(next.normal).dot(arc.end);
    bend.atan2(arc.normal.dot(next.normal))
}

/// Ten-point Gauss-Legendre quadrature: exact to the last digits for a function this smooth.
fn integral(to: f64, of: impl Fn(f64) -> f64) -> f64 {
    const POINTS: [(f64, f64); 5] = [
        (0.148_874_338_981_631_22, 0.295_524_224_714_752_87),
        (0.433_395_394_129_247_2, 0.269_266_719_309_996_35),
        (0.679_409_568_299_024_4, 0.219_086_362_515_982_04),
        (0.865_063_366_688_984_5, 0.149_451_349_150_580_6),
        (0.973_906_528_517_171_7, 0.066_671_344_308_688_14),
    ];
    let half = to / 2.0;
    half * POINTS.iter().map(|(x, weight)| weight * (of(half - half * x) + of(half + half * x))).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn between(from: (f64, f64), to: (f64, f64)) -> f64 {
        metres(position(from.0, from.1), position(to.0, to.1))
    }

    #[test]
    fn the_equator_and_a_meridian_have_their_published_lengths() {
        assert!((between((0.0, 0.0), (90.0, 0.0)) - 10_018_754.171_394_6).abs() < 1e-6);
        assert!((between((0.0, 0.0), (0.0, 90.0)) - 10_001_965.729_312_7).abs() < 1e-6);
    }

    #[test]
    fn opposite_positions_are_joined_over_a_pole() {
        let pairs =
            [((0.0, 0.0), (180.0, 0.0)), ((10.0, 90.0), (0.0, -90.0)), ((30.0, 80.0), (-150.0, -80.0))];
        for (from, to) in pairs {
            assert!((between(from, to) - 20_003_931.458_625_4).abs() < 1e-6, "{from:?} {to:?}");
        }
    }

    fn area(ring: &[(f64, f64)]) -> f64 {
        let at = |&(lon, lat): &(f64, f64)| position(lon, lat);
        let arcs: Vec<Arc> = ring.windows(2).map(|pair| Arc::new(at(&pair[0]), at(&pair[1]))).collect();
        square_metres(std::iter::once(arcs.as_slice()))
    }

    const EARTH: f64 = 510_065_621_724_088.44;

    #[test]
    fn an_octant_is_an_eighth_of_the_earth_and_reversed_the_rest() {
        let octant = area(&[(0.0, 0.0), (90.0, 0.0), (0.0, 90.0), (0.0, 0.0)]);
        assert!((octant - EARTH / 8.0).abs() < 1.0, "{octant}");
        let rest = area(&[(0.0, 0.0), (0.0, 90.0), (90.0, 0.0), (0.0, 0.0)]);
        assert!((rest - EARTH * 7.0 / 8.0).abs() < 1.0, "{rest}");
    }

    #[test]
    fn the_northern_half_is_half_the_earth() {
        let half = area(&[(0.0, 0.0), (90.0, 0.0), (180.0, 0.0), (-90.0, 0.0), (0.0, 0.0)]);
        assert!((half - EARTH / 2.0).abs() < 1.0, "{half}");
    }

    #[test]
    fn a_cap_around_the_pole_has_no_seam() {
        let cap = area(&[(0.0, 60.0), (90.0, 60.0), (180.0, 60.0), (-90.0, 60.0), (0.0, 60.0)]);
        let quarters = 4.0 * area(&[(0.0, 60.0), (90.0, 60.0), (0.0, 90.0), (0.0, 60.0)]);
        assert!((cap - quarters).abs() < 1.0, "{cap} {quarters}");
    }
}
