//! Intersection and containment of shapes.
//!
//! "Within" is that of the simple-features standard: no part is outside, and the interiors intersect. So a
//! point on the boundary of an area, or at the end of a line, is not within it.

use super::shape::{Kind, Location, Shape};
use super::tree::{TooComplex, VisitBudget};
use super::vector3::{Arc, Meeting, Vector};

pub(super) fn intersects(a: &Shape, b: &Shape, visits: &VisitBudget) -> Result<bool, TooComplex> {
    for arc in a.arcs() {
        for other in b.near(arc, visits)? {
            if arc.meet(&b.arcs()[other]) != Meeting::Apart {
                return Ok(true);
            }
        }
    }
    // No edges meet, so either a whole part of one lies inside the other or they are disjoint.
    Ok(reaches_into(a, b, visits)? || reaches_into(b, a, visits)?)
}

fn reaches_into(a: &Shape, area: &Shape, visits: &VisitBudget) -> Result<bool, TooComplex> {
    if area.kind != Kind::Area {
        return Ok(false);
    }
    for start in a.rings().filter_map(|ring| ring.first()).map(|arc| arc.start) {
        if area.place(start, visits)? == Location::Inside {
            return Ok(true);
        }
    }
    Ok(false)
}

pub(super) fn within(a: &Shape, b: &Shape, visits: &VisitBudget) -> Result<bool, TooComplex> {
    if a.arcs().is_empty() || b.arcs().is_empty() {
        return Ok(false);
    }
    match (a.kind, b.kind) {
        (Kind::Point, Kind::Point) => {
            Ok(start(a).is_some_and(|point| start(b).is_some_and(|other| other.is(point))))
        }
        (Kind::Point, Kind::Line) => point_in_line(a, b, visits),
        (Kind::Point, Kind::Area) => match start(a) {
            Some(point) => Ok(b.place(point, visits)? == Location::Inside),
            None => Ok(false),
        },
        (Kind::Line, Kind::Line) => line_in_line(a, b, visits),
        (Kind::Line, Kind::Area) => line_in_area(a, b, visits),
        (Kind::Area, Kind::Area) => area_in_area(a, b, visits),
        (Kind::Line, Kind::Point) | (Kind::Area, Kind::Point | Kind::Line) => Ok(false),
    }
}

fn start(shape: &Shape) -> Option<Vector> {
    shape.arcs().first().map(|arc| arc.start)
}

fn point_in_line(point: &Shape, line: &Shape, visits: &VisitBudget) -> Result<bool, TooComplex> {
    let (Some(point), Some(first), Some(last)) = (start(point), line.arcs().first(), line.arcs().last())
    else {
        return Ok(false);
    };
    let is_closed = first.start.is(last.end);
    let is_end = !is_closed && (first.start.is(point) || last.end.is(point));
    Ok(!is_end && !line.through(point, visits)?.is_empty())
}

fn line_in_line(a: &Shape, b: &Shape, visits: &VisitBudget) -> Result<bool, TooComplex> {
    for arc in a.arcs() {
        for middle in b.segment_midpoints(arc, visits)? {
            if b.through(middle, visits)?.is_empty() {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

fn line_in_area(line: &Shape, area: &Shape, visits: &VisitBudget) -> Result<bool, TooComplex> {
    let mut is_inside = false;
    for arc in line.arcs() {
        for middle in area.segment_midpoints(arc, visits)? {
            match area.place(middle, visits)? {
                Location::Outside => return Ok(false),
                Location::Boundary => {}
                Location::Inside => is_inside = true,
            }
        }
    }
    Ok(is_inside)
}

fn area_in_area(a: &Shape, b: &Shape, visits: &VisitBudget) -> Result<bool, TooComplex> {
    for arc in a.arcs() {
        for middle in b.segment_midpoints(arc, visits)? {
            let place = b.place(middle, visits)?;
            if place == Location::Outside
                || (place == Location::Boundary && !runs_along(arc, b, middle, visits)?)
            {
                return Ok(false);
            }
        }
    }
    // No edge leaves `b`; what remains is a hole of `b` in the middle of `a`.
    for arc in b.arcs() {
        for middle in a.segment_midpoints(arc, visits)? {
            if a.place(middle, visits)? == Location::Inside {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// Whether an edge on an area's boundary runs in the same direction, so that both have the inside on the same
/// side.
fn runs_along(arc: &Arc, area: &Shape, at: Vector, visits: &VisitBudget) -> Result<bool, TooComplex> {
    let beside = area.through(at, visits)?;
    Ok(beside.into_iter().any(|other| area.arcs()[other].normal.dot(arc.normal) > 0.0))
}
