//! A shape: its edges, and what it means to be inside.
//!
//! A point is an edge of no length, a line its edges in order, an area the edges of all its rings. Each ring
//! has its area on the left, so one rule finds whether a place is inside: look at the nearest edge.

use super::tree::{Among, Bounds, Looks, Nearest, Owner, TooComplex, Tree};
use super::vector3::{Arc, Meeting, SAME, Vector};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Point,
    Line,
    Area,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextSpan {
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

    /// The rings of each polygon, each with its first point again at its end.
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

    /// The edges, those of a ring together and in order.
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

    /// Each polygon that has holes, alone.
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
    pub fn near(&self, arc: &Arc, looks: &Looks) -> Result<Vec<usize>, TooComplex> {
        self.tree.near(&Bounds::of_arc(arc), looks)
    }

    /// The edges that go through a point.
    pub fn through(&self, point: Vector, looks: &Looks) -> Result<Vec<usize>, TooComplex> {
        let mut found = self.tree.near(&Bounds::of_point(point), looks)?;
        found.retain(|&arc| self.tree.arcs[arc].holds(point));
        Ok(found)
    }

    /// The nearest edge, if it is nearer than `within`.
    pub fn nearest(&self, to: Vector, within: f64, looks: &Looks) -> Result<Option<Nearest>, TooComplex> {
        self.tree.nearest(to, Among::All, within, looks)
    }

    /// Where a place is to an area.
    pub fn place(&self, of: Vector, looks: &Looks) -> Result<TextSpan, TooComplex> {
        Ok(self.place_among(of, Among::All, looks)?.unwrap_or(TextSpan::Outside))
    }

    /// Where a place is to the rings that are asked for, if there are any.
    pub fn place_among(
        &self,
        of: Vector,
        among: Among,
        looks: &Looks,
    ) -> Result<Option<TextSpan>, TooComplex> {
        let Some(nearest) = self.tree.nearest(of, among, f64::INFINITY, looks)? else {
            return Ok(None);
        };
        if nearest.chord < SAME {
            return Ok(Some(TextSpan::Boundary));
        }
        let foot = self.tree.arcs[nearest.arc].at(nearest.angle);
        let mut beside = self.through(foot, looks)?;
        beside.retain(|&arc| among.has(self.owner(arc)));
        Ok(Some(self.side(of, foot, &beside)))
    }

    /// The side of the edge at `foot` that turns away least from the direction to `of`. Nothing lies between
    /// the two, so this is the edge that bounds the sector the place is in, however many meet there.
    fn side(&self, of: Vector, foot: Vector, beside: &[usize]) -> TextSpan {
        let ahead = of - foot * foot.dot(of);
        let along = |to: Vector| (to - foot * foot.dot(to)).unit().dot(ahead);
        let nearness = |arc: &Arc| {
            let ends = [arc.start, arc.end].into_iter().filter(|end| !end.is(foot));
            ends.map(along).fold(f64::NEG_INFINITY, f64::max)
        };
        let arcs = beside.iter().map(|&arc| &self.tree.arcs[arc]);
        match arcs.max_by(|a, b| nearness(a).total_cmp(&nearness(b))) {
            Some(arc) if arc.normal.dot(ahead) > 0.0 => TextSpan::Inside,
            _ => TextSpan::Outside,
        }
    }

    /// The middles of the stretches into which a shape's edges cut an arc. A stretch is wholly inside,
    /// outside or on the edge of an area, and so is its middle.
    pub fn stretches(&self, arc: &Arc, looks: &Looks) -> Result<Vec<Vector>, TooComplex> {
        let mut cuts = vec![0.0, arc.length];
        for other in self.near(arc, looks)? {
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

/// The edges between points, without those that go nowhere.
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
