//! A bounding volume hierarchy over arcs.
//!
//! Each node's box contains its arcs, split at the middle of the longest side. The tree finds the arcs near a
//! position and the nearest one, so that comparing two coastlines takes about as long as reading them.
//!
//! Boxes do not help against shapes made to overlap everywhere. So every visit is counted, and a shape that
//! needs more than [`VISITS_MAX`] is refused as [`TooComplex`].

use super::vector3::{Arc, SAME, Vector};
use std::cell::Cell;

/// The polygon and ring of an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Owner {
    pub polygon: usize,
    /// Numbered across all polygons.
    pub ring: usize,
}

/// Selects edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EdgeFilter {
    All,
    /// Edges of the same polygon's other rings.
    OtherRings(Owner),
    /// Edges of other polygons.
    OtherPolygons(Owner),
}

impl EdgeFilter {
    pub fn has(self, owner: Owner) -> bool {
        match self {
            Self::All => true,
            Self::OtherRings(of) => owner.polygon == of.polygon && owner.ring != of.ring,
            Self::OtherPolygons(of) => owner.polygon != of.polygon,
        }
    }
}

/// Box visits that one call of a spatial function may take: well under a second, and enough for fifty
/// thousand points.
const VISITS_MAX: u64 = 16_000_000;
/// The cost of comparing two arcs, in box visits.
const ARC_VISITS: u64 = 5;

/// The call exceeded its visits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct TooComplex;

/// The visits that a call has left.
pub(super) struct VisitBudget(Cell<u64>);

impl VisitBudget {
    pub fn new() -> Self {
        Self(Cell::new(VISITS_MAX))
    }

    fn take(&self, many: u64) -> Result<(), TooComplex> {
        let left = self.0.get().checked_sub(many).ok_or(TooComplex)?;
        self.0.set(left);
        Ok(())
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    low: Vector,
    high: Vector,
}

impl Bounds {
    pub fn of_point(at: Vector) -> Self {
        Self { low: at, high: at }.grown(2.0 * SAME)
    }

    pub fn of_arc(arc: &Arc) -> Self {
        // An arc departs from its chord by at most this.
        let bulge = 1.0 - (arc.length / 2.0).cos();
        Self { low: arc.start, high: arc.start }
            .with(Self { low: arc.end, high: arc.end })
            .grown(bulge + 2.0 * SAME)
    }

    fn grown(self, by: f64) -> Self {
        let by = Vector { x: by, y: by, z: by };
        Self { low: self.low - by, high: self.high + by }
    }

    fn with(self, other: Self) -> Self {
        Self { low: each(self.low, other.low, f64::min), high: each(self.high, other.high, f64::max) }
    }

    fn overlaps(&self, other: &Self) -> bool {
        let apart = |low: f64, high: f64| low > high;
        !(apart(self.low.x, other.high.x)
            || apart(other.low.x, self.high.x)
            || apart(self.low.y, other.high.y)
            || apart(other.low.y, self.high.y)
            || apart(self.low.z, other.high.z)
            || apart(other.low.z, self.high.z))
    }

    fn distance(&self, to: Vector) -> f64 {
        (to - each(each(to, self.low, f64::max), self.high, f64::min)).length()
    }

    fn middle(&self) -> Vector {
        (self.low + self.high) * 0.5
    }
}

fn each(a: Vector, b: Vector, of: fn(f64, f64) -> f64) -> Vector {
    Vector { x: of(a.x, b.x), y: of(a.y, b.y), z: of(a.z, b.z) }
}

/// Arcs per leaf.
const LEAF: usize = 6;

struct Node {
    bounds: Bounds,
    /// The ring and the polygon of all arcs, if they have only one.
    ring: Option<Owner>,
    polygon: Option<Owner>,
    inside: Inside,
}

impl Node {
    fn may_contain(&self, among: EdgeFilter) -> bool {
        match among {
            EdgeFilter::All => true,
            EdgeFilter::OtherRings(_) => self.ring.is_none_or(|owner| among.has(owner)),
            EdgeFilter::OtherPolygons(_) => self.polygon.is_none_or(|owner| among.has(owner)),
        }
    }
}

enum Inside {
    /// A range of `order`.
    Leaf(usize, usize),
    Halves(usize, usize),
}

/// The nearest point of an arc.
#[derive(Clone, Copy, Debug)]
pub(super) struct Nearest {
    pub arc: usize,
    /// Angle along the arc.
    pub angle: f64,
    /// Straight-line distance through the earth.
    pub chord: f64,
}

pub(super) struct Tree {
    pub arcs: Vec<Arc>,
    pub owners: Vec<Owner>,
    bounds: Vec<Bounds>,
    /// The root is last.
    nodes: Vec<Node>,
    /// Arc indexes, those of a leaf adjacent.
    order: Vec<usize>,
}

impl Tree {
    pub fn new(arcs: Vec<Arc>, owners: Vec<Owner>) -> Self {
        let (bounds, order) = (arcs.iter().map(Bounds::of_arc).collect(), (0..arcs.len()).collect());
        let mut tree = Self { arcs, owners, bounds, nodes: Vec::new(), order };
        if !tree.arcs.is_empty() {
            tree.build(0, tree.arcs.len());
        }
        tree
    }

    /// Builds the node of a range of `order`, after all nodes below it. The recursion is as deep as the
    /// number of arcs has bits.
    fn build(&mut self, start: usize, end: usize) -> usize {
        let stretch = &self.order[start..end];
        let bounds = stretch.iter().map(|&arc| self.bounds[arc]).reduce(Bounds::with);
        let bounds = bounds.unwrap_or(Bounds::of_point(Vector::ZERO));
        let first = self.owners[self.order[start]];
        let one = |same: fn(Owner, Owner) -> bool| {
            stretch.iter().all(|&arc| same(self.owners[arc], first)).then_some(first)
        };
        let (ring, polygon) = (one(|a, b| a.ring == b.ring), one(|a, b| a.polygon == b.polygon));
        let inside = if end - start <= LEAF {
            Inside::Leaf(start, end)
        } else {
            let half = self.halve(&bounds, start, end);
            Inside::Halves(self.build(start, half), self.build(half, end))
        };
        self.nodes.push(Node { bounds, ring, polygon, inside });
        self.nodes.len() - 1
    }

    fn halve(&mut self, all: &Bounds, start: usize, end: usize) -> usize {
        let size = all.high - all.low;
        let key: fn(Vector) -> f64 = if size.x >= size.y && size.x >= size.z {
            |v| v.x
        } else if size.y >= size.z {
            |v| v.y
        } else {
            |v| v.z
        };
        let (half, bounds) = ((end - start) / 2, &self.bounds);
        let by = |a: &usize, b: &usize| key(bounds[*a].middle()).total_cmp(&key(bounds[*b].middle()));
        self.order[start..end].select_nth_unstable_by(half, by);
        start + half
    }

    /// The arcs that may enter a box.
    pub fn near(&self, place: &Bounds, visits: &VisitBudget) -> Result<Vec<usize>, TooComplex> {
        let mut found = Vec::new();
        let mut open: Vec<usize> = self.nodes.len().checked_sub(1).into_iter().collect();
        while let Some(node) = open.pop() {
            visits.take(1)?;
            let node = &self.nodes[node];
            if !node.bounds.overlaps(place) {
                continue;
            }
            match node.inside {
                Inside::Halves(left, right) => open.extend([left, right]),
                Inside::Leaf(start, end) => {
                    for &arc in &self.order[start..end] {
                        visits.take(1)?;
                        if self.bounds[arc].overlaps(place) {
                            visits.take(ARC_VISITS)?;
                            found.push(arc);
                        }
                    }
                }
            }
        }
        Ok(found)
    }

    /// The nearest of the selected arcs to a direction, if nearer than `within`.
    pub fn nearest(
        &self,
        to: Vector,
        among: EdgeFilter,
        within: f64,
        visits: &VisitBudget,
    ) -> Result<Option<Nearest>, TooComplex> {
        let (mut best, mut within) = (None, within);
        let mut open: Vec<usize> = self.nodes.len().checked_sub(1).into_iter().collect();
        while let Some(node) = open.pop() {
            visits.take(1)?;
            let node = &self.nodes[node];
            if !node.may_contain(among) || node.bounds.distance(to) >= within {
                continue;
            }
            match node.inside {
                Inside::Halves(left, right) => {
                    let far = |node: usize| self.nodes[node].bounds.distance(to);
                    // The last one pushed is visited first.
                    open.extend(if far(left) < far(right) { [right, left] } else { [left, right] });
                }
                Inside::Leaf(start, end) => {
                    for &arc in self.order[start..end].iter().filter(|&&arc| among.has(self.owners[arc])) {
                        visits.take(ARC_VISITS)?;
                        let nearest = self.nearest_of(arc, to);
                        if nearest.chord < within {
                            within = nearest.chord;
                            best = Some(nearest);
                        }
                    }
                }
            }
        }
        Ok(best)
    }

    fn nearest_of(&self, arc: usize, to: Vector) -> Nearest {
        let angle = self.arcs[arc].nearest(to);
        Nearest { arc, angle, chord: (self.arcs[arc].at(angle) - to).length() }
    }
}
