//! Whether shapes meet, and whether one is within the other.
//!
//! "Within" is the one of the simple-features standard: no part outside, and the insides have something in
//! common. So a point on the edge of an area, or at the end of a line, is not within it.

use super::shape::{Kind, Shape, TextSpan};
use super::tree::{Looks, TooComplex};
use super::vector3::{Arc, Meeting, Vector};

pub(super) fn intersects(a: &Shape, b: &Shape, looks: &Looks) -> Result<bool, TooComplex> {
    for arc in a.arcs() {
        for other in b.near(arc, looks)? {
            if arc.meet(&b.arcs()[other]) != Meeting::Apart {
                return Ok(true);
            }
        }
    }
    // No edges meet: then whole parts of one are inside the other, or they have nothing in common.
    Ok(reaches_into(a, b, looks)? || reaches_into(b, a, looks)?)
}

fn reaches_into(a: &Shape, area: &Shape, looks: &Looks) -> Result<bool, TooComplex> {
    if area.kind != Kind::Area {
        return Ok(false);
    }
    for start in a.rings().filter_map(|ring| ring.first()).map(|arc| arc.start) {
        if area.place(start, looks)? == TextSpan::Inside {
            return Ok(true);
        }
    }
    Ok(false)
}

pub(super) fn within(a: &Shape, b: &Shape, looks: &Looks) -> Result<bool, TooComplex> {
    if a.arcs().is_empty() || b.arcs().is_empty() {
        return Ok(false);
    }
    match (a.kind, b.kind) {
        (Kind::Point, Kind::Point) => {
            Ok(start(a).is_some_and(|point| start(b).is_some_and(|other| other.is(point))))
        }
        (Kind::Point, Kind::Line) => point_in_line(a, b, looks),
        (Kind::Point, Kind::Area) => match start(a) {
            Some(point) => Ok(b.place(point, looks)? == TextSpan::Inside),
            None => Ok(false),
        },
        (Kind::Line, Kind::Line) => line_in_line(a, b, looks),
        (Kind::Line, Kind::Area) => line_in_area(a, b, looks),
        (Kind::Area, Kind::Area) => area_in_area(a, b, looks),
        (Kind::Line, Kind::Point) | (Kind::Area, Kind::Point | Kind::Line) => Ok(false),
    }
}

fn start(shape: &Shape) -> Option<Vector> {
    shape.arcs().first().map(|arc| arc.start)
}

fn point_in_line(point: &Shape, line: &Shape, looks: &Looks) -> Result<bool, TooComplex> {
    let (Some(point), Some(first), Some(last)) = (start(point), line.arcs().first(), line.arcs().last())
    else {
        return Ok(false);
    };
    let is_closed = first.start.is(last.end);
    let is_end = !is_closed && (first.start.is(point) || last.end.is(point));
    Ok(!is_end && !line.through(point, looks)?.is_empty())
}

fn line_in_line(a: &Shape, b: &Shape, looks: &Looks) -> Result<bool, TooComplex> {
    for arc in a.arcs() {
        for middle in b.stretches(arc, looks)? {
            if b.through(middle, looks)?.is_empty() {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

fn line_in_area(line: &Shape, area: &Shape, looks: &Looks) -> Result<bool, TooComplex> {
    let mut is_inside = false;
    for arc in line.arcs() {
        for middle in area.stretches(arc, looks)? {
            match area.place(middle, looks)? {
                TextSpan::Outside => return Ok(false),
                TextSpan::Boundary => {}
                TextSpan::Inside => is_inside = true,
            }
        }
    }
    Ok(is_inside)
}

fn area_in_area(a: &Shape, b: &Shape, looks: &Looks) -> Result<bool, TooComplex> {
    for arc in a.arcs() {
        for middle in b.stretches(arc, looks)? {
            let place = b.place(middle, looks)?;
            if place == TextSpan::Outside
                || (place == TextSpan::Boundary && !runs_along(arc, b, middle, looks)?)
            {
                return Ok(false);
            }
        }
    }
    // No edge leaves `b`; what is left is a hole of `b` in the middle of `a`.
    for arc in b.arcs() {
        for middle in a.stretches(arc, looks)? {
            if a.place(middle, looks)? == TextSpan::Inside {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// Whether an edge on the edge of an area runs its way, so that both have the same side inside.
fn runs_along(arc: &Arc, area: &Shape, at: Vector, looks: &Looks) -> Result<bool, TooComplex> {
    let beside = area.through(at, looks)?;
    Ok(beside.into_iter().any(|other| area.arcs()[other].normal.dot(arc.normal) > 0.0))
}
