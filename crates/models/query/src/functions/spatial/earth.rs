//! The earth: the WGS-84 ellipsoid, its distances and its areas.
//!
//! Two positions are joined by the cut of the ellipsoid with the plane through both and the centre (a great
//! elliptic arc), and edges of shapes are such cuts too. That gives the reference's published distances to a
//! tenth of a millimetre and its area to ten digits; the geodesic is a few centimetres shorter on 1900 km.
//!
//! A position is kept as the direction it has once the ellipsoid is stretched to a unit sphere. Planes stay
//! planes in that, so cuts become great circles.

use super::vector3::{Arc, Vector};

/// Half the width at the equator, in metres.
const EQUATOR: f64 = 6_378_137.0;
const FLATTENING: f64 = 1.0 / 298.257_223_563;
/// Half the height, in metres.
const POLE: f64 = EQUATOR * (1.0 - FLATTENING);
const ECCENTRICITY_SQUARED: f64 = FLATTENING * (2.0 - FLATTENING);

pub(super) fn position(longitude: f64, latitude: f64) -> Vector {
    let ((sin_lon, cos_lon), (sin_lat, cos_lat)) = (sin_cos(longitude), sin_cos(latitude));
    Vector { x: cos_lat * cos_lon, y: cos_lat * sin_lon, z: sin_lat * (1.0 - FLATTENING) }.unit()
}

/// Exact at the right angles, where the poles and the antimeridian are.
fn sin_cos(degrees: f64) -> (f64, f64) {
    match degrees {
        d if d.abs() == 180.0 => (0.0, -1.0),
        d if d.abs() == 90.0 => (d.signum(), 0.0),
        d => d.to_radians().sin_cos(),
    }
}

/// The length of the way between two positions.
pub(super) fn metres(from: Vector, to: Vector) -> f64 {
    let arc = Arc::over_pole(from, to);
    // A step of the stretched arc is shorter on the ground by what it climbs.
    EQUATOR * integral(arc.length, |angle| (1.0 - ECCENTRICITY_SQUARED * arc.heading(angle).z.powi(2)).sqrt())
}

/// The area to the left of some rings of arcs, each ring in order; a ring that runs clockwise takes the rest
/// of the earth.
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

/// How the ground's area grows with `z` against the unit sphere's: `EQUATOR * POLE * sqrt(1 + e z²)`, as the
/// coefficients of that root's series. Six terms leave less than doubles can tell.
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

/// An edge's share of what the area differs from the mean density: Stokes' theorem turns the sum over the
/// inside into one along the edges. Having taken the mean away, nothing is singular at the poles.
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

/// The solid angle to the left of a ring, give or take the whole sphere.
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

/// The solid angle of a triangle, negative when it runs clockwise.
fn triangle(a: Vector, b: Vector, c: Vector) -> f64 {
    let volume = a.dot((b - a).cross(c - a));
    2.0 * volume.atan2(1.0 + a.dot(b) + b.dot(c) + c.dot(a))
}

/// How far the way bends to the left between two edges.
fn turn(arc: &Arc, next: &Arc) -> f64 {
    let bend = arc.normal.cross(next.normal).dot(arc.end);
    bend.atan2(arc.normal.dot(next.normal))
}

/// Gauss and Legendre's ten points: exact to the last digits for what is this smooth.
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
    fn a_quarter_of_the_equator_and_of_a_meridian_have_their_published_lengths() {
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
    fn an_octant_is_an_eighth_of_the_earth_and_the_other_way_round_the_rest() {
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
