//! Arcs, found by where they are.
//!
//! A tree of boxes in space: each node's box holds its arcs, halved at the middle of the longest side. It
//! answers which arcs come near a place and which one is nearest, so that two coast lines are compared in
//! about the time it takes to read them.
//!
//! Boxes are no help against shapes made to overlap everywhere. So every look is counted, and a shape that
//! takes more than [`LOOKS_MAX`] is given up as [`TooComplex`].

use super::vector3::{Arc, SAME, Vector};
use std::cell::Cell;

/// Where an edge belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Owner {
    pub polygon: usize,
    /// Counted through all polygons.
    pub ring: usize,
}

/// Which edges are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Among {
    All,
    /// Those of the same polygon's other rings.
    Siblings(Owner),
    /// Those of other polygons.
    Strangers(Owner),
}

impl Among {
    pub fn has(self, owner: Owner) -> bool {
        match self {
            Self::All => true,
            Self::Siblings(of) => owner.polygon == of.polygon && owner.ring != of.ring,
            Self::Strangers(of) => owner.polygon != of.polygon,
        }
    }
}

/// What one call of a spatial function may look at: well under a second, and enough for fifty thousand points.
const LOOKS_MAX: u64 = 16_000_000;
/// What it costs to compare two arcs, in looks at a box.
const ARC_LOOKS: u64 = 5;

/// The shapes of a call are beyond what it may take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct TooComplex;

/// The looks left to one call.
pub(super) struct Looks(Cell<u64>);

impl Looks {
    pub fn new() -> Self {
        Self(Cell::new(LOOKS_MAX))
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
        // An arc leaves its chord by at most this.
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

/// Arcs of a leaf.
const LEAF: usize = 6;

struct Node {
    bounds: Bounds,
    /// The one ring that all arcs are of, and the one polygon.
    ring: Option<Owner>,
    polygon: Option<Owner>,
    inside: Inside,
}

impl Node {
    fn may_have(&self, among: Among) -> bool {
        match among {
            Among::All => true,
            Among::Siblings(_) => self.ring.is_none_or(|owner| among.has(owner)),
            Among::Strangers(_) => self.polygon.is_none_or(|owner| among.has(owner)),
        }
    }
}

enum Inside {
    /// A stretch of `order`.
    Leaf(usize, usize),
    Halves(usize, usize),
}

/// The nearest place of an arc.
#[derive(Clone, Copy, Debug)]
pub(super) struct Nearest {
    pub arc: usize,
    /// Along the arc.
    pub angle: f64,
    /// In a straight line through the earth.
    pub chord: f64,
}

pub(super) struct Tree {
    pub arcs: Vec<Arc>,
    pub owners: Vec<Owner>,
    bounds: Vec<Bounds>,
    /// The root is the last.
    nodes: Vec<Node>,
    /// Numbers of arcs, those of a leaf together.
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

    /// The node of a stretch of `order`, after all nodes below it. As deep as the number of arcs has bits.
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

    /// The arcs that may come into a box.
    pub fn near(&self, place: &Bounds, looks: &Looks) -> Result<Vec<usize>, TooComplex> {
        let mut found = Vec::new();
        let mut open: Vec<usize> = self.nodes.len().checked_sub(1).into_iter().collect();
        while let Some(node) = open.pop() {
            looks.take(1)?;
            let node = &self.nodes[node];
            if !node.bounds.overlaps(place) {
                continue;
            }
            match node.inside {
                Inside::Halves(left, right) => open.extend([left, right]),
                Inside::Leaf(start, end) => {
                    for &arc in &self.order[start..end] {
                        looks.take(1)?;
                        if self.bounds[arc].overlaps(place) {
                            looks.take(ARC_LOOKS)?;
                            found.push(arc);
                        }
                    }
                }
            }
        }
        Ok(found)
    }

    /// The nearest to a direction of the arcs that are asked for, if it is nearer than `within`.
    pub fn nearest(
        &self,
        to: Vector,
        among: Among,
        within: f64,
        looks: &Looks,
    ) -> Result<Option<Nearest>, TooComplex> {
        let (mut best, mut within) = (None, within);
        let mut open: Vec<usize> = self.nodes.len().checked_sub(1).into_iter().collect();
        while let Some(node) = open.pop() {
            looks.take(1)?;
            let node = &self.nodes[node];
            if !node.may_have(among) || node.bounds.distance(to) >= within {
                continue;
            }
            match node.inside {
                Inside::Halves(left, right) => {
                    let far = |node: usize| self.nodes[node].bounds.distance(to);
                    // The last one is opened first.
                    open.extend(if far(left) < far(right) { [right, left] } else { [left, right] });
                }
                Inside::Leaf(start, end) => {
                    for &arc in self.order[start..end].iter().filter(|&&arc| among.has(self.owners[arc])) {
                        looks.take(ARC_LOOKS)?;
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
