//! The shortest distance between two shapes, in metres.
//!
//! Disjoint shapes are nearest at an end of some edge. That pair is found on the unit sphere; the point on
//! the edge is then adjusted to minimise the distance on the ellipsoid.

use super::earth;
use super::relate::intersects;
use super::shape::Shape;
use super::tree::{TooComplex, VisitBudget};
use super::vector3::{Arc, Vector};

pub(super) fn metres(a: &Shape, b: &Shape, visits: &VisitBudget) -> Result<f64, TooComplex> {
    if intersects(a, b, visits)? {
        return Ok(0.0);
    }
    let there = closest(a, b, f64::INFINITY, visits)?;
    let within = there.as_ref().map_or(f64::INFINITY, |pair| pair.chord);
    let back = closest(b, a, within, visits)?;
    // An empty MultiPolygon has no position; NaN is undefined in a query.
    Ok(back.or(there).map_or(f64::NAN, |pair| pair.metres()))
}

/// A point of one shape and the nearest point of the other's edge.
struct Pair {
    point: Vector,
    arc: Arc,
    angle: f64,
    chord: f64,
}

/// The closest pair of a point of `a` and an edge of `b`, if closer than `within`.
fn closest(a: &Shape, b: &Shape, within: f64, visits: &VisitBudget) -> Result<Option<Pair>, TooComplex> {
    let (mut best, mut within) = (None, within);
    for point in a.arcs().iter().flat_map(|arc| [arc.start, arc.end]) {
        if let Some(nearest) = b.nearest(point, within, visits)? {
            within = nearest.chord;
            best =
                Some(Pair { point, arc: b.arcs()[nearest.arc], angle: nearest.angle, chord: nearest.chord });
        }
    }
    Ok(best)
}

impl Pair {
    /// Golden-section search around the nearest point on the sphere; the flattening cannot move it far.
    fn metres(&self) -> f64 {
        const GOLDEN: f64 = 0.618_033_988_749_894_9;
        const STEPS: usize = 40;
        let way = |angle: f64| earth::metres(self.point, self.arc.at(angle));
        let reach = self.chord * 0.02;
        let (mut low, mut high) = ((self.angle - reach).max(0.0), (self.angle + reach).min(self.arc.length));
        for _ in 0..STEPS {
            let step = (high - low) * GOLDEN;
            if way(high - step) <= way(low + step) { high = low + step } else { low = high - step }
        }
        let ends = way(low).min(way(high));
        way(self.angle).min(ends)
    }
}
