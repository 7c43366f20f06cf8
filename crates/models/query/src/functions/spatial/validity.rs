//! Finds what is wrong with the rings of an area.
//!
//! Every ring, outer or hole, has the area on its left. That is possible for all rings only if no ring meets
//! itself, two rings meet at most in single points, each ring of a polygon lies to the left of the others,
//! and no polygon overlaps another.

use super::shape::{Location, Shape};
use super::tree::{EdgeFilter, Owner, TooComplex, VisitBudget};
use super::vector3::{Arc, Meeting};

/// Describes the first fault found.
pub(super) fn fault(area: &Shape, visits: &VisitBudget) -> Result<Option<String>, TooComplex> {
    for (number, arc) in area.arcs().iter().enumerate() {
        for other in area.near(arc, visits)? {
            if other > number
                && let Some(fault) = meeting_fault(area, number, other)
            {
                return Ok(Some(fault));
            }
        }
    }
    for polygon in area.with_holes() {
        if let Some(ring) = misplaced_ring(&polygon, EdgeFilter::OtherRings, Location::Outside, visits)? {
            return Ok(Some(format!(
                "Not valid because ring ({ring}) lies outside another ring of its polygon."
            )));
        }
    }
    let fault = "lies in the interior of a polygon.";
    let misplaced_ring = misplaced_ring(area, EdgeFilter::OtherPolygons, Location::Inside, visits)?;
    Ok(misplaced_ring.map(|ring| format!("Not valid because some portion of polygon ring ({ring}) {fault}")))
}

fn meeting_fault(area: &Shape, a: usize, b: usize) -> Option<String> {
    let (arc, next) = (&area.arcs()[a], &area.arcs()[b]);
    let (ring, other) = (area.owner(a).ring, area.owner(b).ring);
    let crossed = || {
        Some(format!("Not valid because polygon ring ({}) intersects itself or some other ring.", ring + 1))
    };
    match arc.meet(next) {
        Meeting::Apart => None,
        Meeting::Touch(_) if ring != other || follow(arc, next) => None,
        Meeting::Touch(_) | Meeting::Cross(_) => crossed(),
        Meeting::Overlap if ring == other => {
            Some(format!("Not valid because of two overlapping edges in curve ({}).", ring + 1))
        }
        Meeting::Overlap => Some(format!(
            "Not valid because an edge of curve ({}) overlaps an edge of curve ({}).",
            ring + 1,
            other + 1
        )),
    }
}

/// Whether one edge continues where the other ends. If two edges of a ring share a point in any other way,
/// the ring meets itself there, and a third edge touches both.
fn follow(a: &Arc, b: &Arc) -> bool {
    a.end.is(b.start) || b.end.is(a.start)
}

/// A ring with an edge on the wrong side of the others. Since no edges cross by now, the midpoint of an edge
/// decides.
fn misplaced_ring(
    area: &Shape,
    among: fn(Owner) -> EdgeFilter,
    wrong: Location,
    visits: &VisitBudget,
) -> Result<Option<usize>, TooComplex> {
    for (number, arc) in area.arcs().iter().enumerate() {
        let owner = area.owner(number);
        if place(area, arc, among(owner), visits)? == Some(wrong) {
            return Ok(Some(owner.ring + 1));
        }
    }
    Ok(None)
}

/// The location of an edge relative to some rings: that of its midpoint, or of a point beside it if a ring
/// touches the midpoint.
fn place(
    area: &Shape,
    arc: &Arc,
    among: EdgeFilter,
    visits: &VisitBudget,
) -> Result<Option<Location>, TooComplex> {
    for part in [0.5, 0.37, 0.71] {
        let place = area.locate_relative_to(arc.at(arc.length * part), among, visits)?;
        if place != Some(Location::Boundary) {
            return Ok(place);
        }
    }
    Ok(Some(Location::Boundary))
}
