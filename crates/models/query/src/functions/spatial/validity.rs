//! What is wrong with the rings of an area, if something is.
//!
//! Every ring has the area on its left, the outer one and the holes alike. That can only be true of all rings
//! when none meets itself, two meet at most in single points, each ring of a polygon lies on the left of the
//! others, and no polygon reaches into another.

use super::shape::{Shape, TextSpan};
use super::tree::{Among, Looks, Owner, TooComplex};
use super::vector3::{Arc, Meeting};

/// A sentence about the first fault that is found.
pub(super) fn fault(area: &Shape, looks: &Looks) -> Result<Option<String>, TooComplex> {
    for (number, arc) in area.arcs().iter().enumerate() {
        for other in area.near(arc, looks)? {
            if other > number
                && let Some(fault) = meeting_fault(area, number, other)
            {
                return Ok(Some(fault));
            }
        }
    }
    for polygon in area.with_holes() {
        if let Some(ring) = misplaced(&polygon, Among::Siblings, TextSpan::Outside, looks)? {
            return Ok(Some(format!(
                "Not valid because ring ({ring}) lies outside another ring of its polygon."
            )));
        }
    }
    let fault = "lies in the interior of a polygon.";
    let misplaced = misplaced(area, Among::Strangers, TextSpan::Inside, looks)?;
    Ok(misplaced.map(|ring| format!("Not valid because some portion of polygon ring ({ring}) {fault}")))
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

/// Whether one edge goes on where the other ends. Two edges of a ring that share a point otherwise are a
/// place where the ring meets itself, and there a third edge touches both.
fn follow(a: &Arc, b: &Arc) -> bool {
    a.end.is(b.start) || b.end.is(a.start)
}

/// The number of a ring that has an edge on the wrong side of the others. Nothing crosses any more, so the
/// middle of an edge tells.
fn misplaced(
    area: &Shape,
    among: fn(Owner) -> Among,
    wrong: TextSpan,
    looks: &Looks,
) -> Result<Option<usize>, TooComplex> {
    for (number, arc) in area.arcs().iter().enumerate() {
        let owner = area.owner(number);
        if place(area, arc, among(owner), looks)? == Some(wrong) {
            return Ok(Some(owner.ring + 1));
        }
    }
    Ok(None)
}

/// Where an edge is to some rings: by its middle, or a place beside it if one of them touches just there.
fn place(area: &Shape, arc: &Arc, among: Among, looks: &Looks) -> Result<Option<TextSpan>, TooComplex> {
    for part in [0.5, 0.37, 0.71] {
        let place = area.place_among(arc.at(arc.length * part), among, looks)?;
        if place != Some(TextSpan::Boundary) {
            return Ok(place);
        }
    }
    Ok(Some(TextSpan::Boundary))
}
