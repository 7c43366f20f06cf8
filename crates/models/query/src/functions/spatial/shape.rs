//! A shape: its edges, and the definition of its inside.
//!
//! A point is an edge of zero length, a line its edges in order, an area the edges of all its rings. Each
//! ring has its area on the left, so one rule decides whether a position is inside: look at the nearest edge.

use super::tree::{Bounds, EdgeFilter, Nearest, Owner, TooComplex, Tree, VisitBudget};
use super::vector3::{Arc, Meeting, SAME, Vector};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Point,
    Line,
    Area,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Location {
    Inside,
    Boundary,
    Outside,
}

pub(super) struct Shape {
    pub kind: Kind,
    tree: Tree,
}

impl Shape {
    pub fn point(at: Vector) -> Self {
        Self::new(Kind::Point, vec![Arc::point(at)], vec![Owner { polygon: 0, ring: 0 }])
    }

    pub fn line(points: &[Vector]) -> Self {
        let arcs = edges(points);
        let owners = vec![Owner { polygon: 0, ring: 0 }; arcs.len()];
        Self::new(Kind::Line, arcs, owners)
    }

    /// The rings of each polygon, each closed by repeating its first point.
    pub fn area(polygons: &[Vec<Vec<Vector>>]) -> Self {
        let (mut arcs, mut owners, mut ring) = (Vec::new(), Vec::new(), 0);
        for (polygon, rings) in polygons.iter().enumerate() {
            for points in rings {
                arcs.extend(edges(points));
                owners.resize(arcs.len(), Owner { polygon, ring });
                ring += 1;
            }
        }
        Self::new(Kind::Area, arcs, owners)
    }

    fn new(kind: Kind, arcs: Vec<Arc>, owners: Vec<Owner>) -> Self {
        Self { kind, tree: Tree::new(arcs, owners) }
    }

    /// The edges, grouped by ring and in order.
    pub fn arcs(&self) -> &[Arc] {
        &self.tree.arcs
    }

    pub fn owner(&self, arc: usize) -> Owner {
        self.tree.owners[arc]
    }

    /// The edges of each ring, in order.
    pub fn rings(&self) -> impl Iterator<Item = &[Arc]> {
        let mut start = 0;
        self.tree.owners.chunk_by(|a, b| a.ring == b.ring).map(move |ring| {
            start += ring.len();
            &self.tree.arcs[start - ring.len()..start]
        })
    }

    /// Each polygon that has holes, as a shape of its own.
    pub fn with_holes(&self) -> impl Iterator<Item = Self> {
        let mut start = 0;
        self.tree.owners.chunk_by(|a, b| a.polygon == b.polygon).filter_map(move |owners| {
            start += owners.len();
            let has_holes = owners.first() != owners.last();
            let arcs = &self.tree.arcs[start - owners.len()..start];
            has_holes.then(|| Self::new(Kind::Area, arcs.to_vec(), owners.to_vec()))
        })
    }

    /// The edges that may meet an arc.
    pub fn near(&self, arc: &Arc, visits: &VisitBudget) -> Result<Vec<usize>, TooComplex> {
        self.tree.near(&Bounds::of_arc(arc), visits)
    }

    /// The edges through a point.
    pub fn through(&self, point: Vector, visits: &VisitBudget) -> Result<Vec<usize>, TooComplex> {
        let mut found = self.tree.near(&Bounds::of_point(point), visits)?;
        found.retain(|&arc| self.tree.arcs[arc].holds(point));
        Ok(found)
    }

    /// The nearest edge, if it is nearer than `within`.
    pub fn nearest(
        &self,
        to: Vector,
        within: f64,
        visits: &VisitBudget,
    ) -> Result<Option<Nearest>, TooComplex> {
        self.tree.nearest(to, EdgeFilter::All, within, visits)
    }

    /// Whether a position is inside, on the boundary or outside.
    pub fn place(&self, of: Vector, visits: &VisitBudget) -> Result<Location, TooComplex> {
        Ok(self.locate_relative_to(of, EdgeFilter::All, visits)?.unwrap_or(Location::Outside))
    }

    /// The location relative to the selected rings; `None` if there are none.
    pub fn locate_relative_to(
        &self,
        of: Vector,
        among: EdgeFilter,
        visits: &VisitBudget,
    ) -> Result<Option<Location>, TooComplex> {
        let Some(nearest) = self.tree.nearest(of, among, f64::INFINITY, visits)? else {
            return Ok(None);
        };
        if nearest.chord < SAME {
            return Ok(Some(Location::Boundary));
        }
        let foot = self.tree.arcs[nearest.arc].at(nearest.angle);
        let mut beside = self.through(foot, visits)?;
        beside.retain(|&arc| among.has(self.owner(arc)));
        Ok(Some(self.side(of, foot, &beside)))
    }

    /// The side of the edge at `foot` whose direction is closest to the direction to `of`. Nothing lies
    /// between the two, so this edge bounds the sector that contains the position, however many edges
    /// meet there.
    fn side(&self, of: Vector, foot: Vector, beside: &[usize]) -> Location {
        let ahead = of - foot * foot.dot(of);
        let along = |to: Vector| (to - foot * foot.dot(to)).unit().dot(ahead);
        let nearness = |arc: &Arc| {
            let ends = [arc.start, arc.end].into_iter().filter(|end| !end.is(foot));
            ends.map(along).fold(f64::NEG_INFINITY, f64::max)
        };
        let arcs = beside.iter().map(|&arc| &self.tree.arcs[arc]);
        match arcs.max_by(|a, b| nearness(a).total_cmp(&nearness(b))) {
            Some(arc) if arc.normal.dot(ahead) > 0.0 => Location::Inside,
            _ => Location::Outside,
        }
    }

    /// The midpoints of the segments into which a shape's edges cut an arc. A segment lies entirely
    /// inside, outside or on the boundary of an area, and so does its midpoint.
    pub fn segment_midpoints(&self, arc: &Arc, visits: &VisitBudget) -> Result<Vec<Vector>, TooComplex> {
        let mut cuts = vec![0.0, arc.length];
        for other in self.near(arc, visits)? {
            let other = &self.tree.arcs[other];
            match arc.meet(other) {
                Meeting::Apart => {}
                Meeting::Cross(at) | Meeting::Touch(at) => cuts.push(arc.nearest(at)),
                Meeting::Overlap => cuts.extend([arc.nearest(other.start), arc.nearest(other.end)]),
            }
        }
        cuts.sort_by(f64::total_cmp);
        let long_enough = |pair: &&[f64]| pair[1] - pair[0] > 4.0 * SAME;
        Ok(cuts.windows(2).filter(long_enough).map(|pair| arc.at((pair[0] + pair[1]) / 2.0)).collect())
    }
}

/// The edges between points, without those of zero length.
fn edges(points: &[Vector]) -> Vec<Arc> {
    let mut arcs: Vec<Arc> = Vec::with_capacity(points.len());
    let mut last = None;
    for &point in points {
        match last {
            Some(last) if point.is(last) => continue,
            Some(last) => arcs.push(Arc::new(last, point)),
            None => {}
        }
        last = Some(point);
    }
    arcs
}
