//! The paths of an indexing policy as a tree, walked in parallel with an item.
//!
//! Where two paths concern the same place the more precise one wins, in whichever list it is: a deeper path
//! over a shallower one, and `/?` over `/*` at the same place. `/*` includes its own place. So two marks per
//! node decide everything, and the walk only has to remember the last `/*` above:
//!
//! ```text
//! included /*, /a/b/c/*     item ──── a ──── b ──── c ──── d
//! excluded /a/b/*, /a/?     /* in   /? out  /* out  /* in
//!                                     out     out     in     in
//! ```

use orrery_query::access::Step;

#[derive(Debug, Default, PartialEq)]
pub struct Tree {
    /// The root comes first; a child comes after its parent.
    nodes: Vec<Node>,
}

#[derive(Debug, Default, PartialEq)]
pub struct Node {
    /// By name.
    members: Vec<(String, usize)>,
    each: Option<usize>,
    /// The mark of `/?` here.
    pub value: Option<bool>,
    /// The mark of `/*` here.
    pub subtree: Option<bool>,
    /// The number under which composite indexes need the value here.
    pub part: Option<usize>,
    /// The spatial indexes for a shape here, and for shapes here and below.
    pub shape: Option<usize>,
    pub shapes: Option<usize>,
    /// Whether any path names this node or one below.
    is_wanted: bool,
}

/// A place in an item, and the marks that apply to it.
#[derive(Clone, Copy, Debug)]
pub struct Spot {
    node: Option<usize>,
    /// Whether a value here is indexed.
    pub is_indexed: bool,
    /// Whether values below are indexed, unless a path says otherwise.
    is_open: bool,
    /// The spatial indexes for a shape here, and for shapes below.
    pub shape: Option<usize>,
    shapes: Option<usize>,
    /// Nothing to do here or below.
    pub is_closed: bool,
}

impl Tree {
    /// Finds or creates the node of a path.
    pub fn node(&mut self, path: &[Step]) -> &mut Node {
        if self.nodes.is_empty() {
            self.nodes.push(Node::default());
        }
        let at = path.iter().fold(0, |at, step| self.child(at, step));
        &mut self.nodes[at]
    }

    /// Called after the last node: records at each node what is needed below it.
    pub fn finish(mut self) -> Self {
        for at in (0..self.nodes.len()).rev() {
            let node = &self.nodes[at];
            let children = node.members.iter().map(|(_, child)| *child).chain(node.each);
            let is_wanted = node.wants() || children.into_iter().any(|child| self.nodes[child].is_wanted);
            self.nodes[at].is_wanted = is_wanted;
        }
        self
    }

    /// The root, which is not a value that a query can seek.
    pub fn root(&self) -> Spot {
        let outside = Spot {
            node: None,
            is_indexed: false,
            is_open: false,
            shape: None,
            shapes: None,
            is_closed: true,
        };
        Spot { is_indexed: false, shape: None, ..self.spot(self.nodes.first().map(|_| 0), outside) }
    }

    pub fn member(&self, from: Spot, name: &str) -> Spot {
        let node = from.node.and_then(|node| self.nodes[node].member(name));
        self.spot(node, from)
    }

    pub fn each(&self, from: Spot) -> Spot {
        self.spot(from.node.and_then(|node| self.nodes[node].each), from)
    }

    pub fn at(&self, path: &[Step]) -> Spot {
        path.iter().fold(self.root(), |spot, step| match step {
            Step::Member(name) => self.member(spot, name),
            Step::Each => self.each(spot),
        })
    }

    /// The number under which composite indexes need the value here.
    pub fn part(&self, at: Spot) -> Option<usize> {
        self.nodes[at.node?].part
    }

    fn spot(&self, node: Option<usize>, above: Spot) -> Spot {
        let Some(at) = node else {
            // Below a place without paths, everything inherits its marks.
            let is_closed = !above.is_open && above.shapes.is_none();
            return Spot { node, is_indexed: above.is_open, shape: above.shapes, is_closed, ..above };
        };
        let node = &self.nodes[at];
        let is_open = node.subtree.unwrap_or(above.is_open);
        let shapes = node.shapes.or(above.shapes);
        Spot {
            node: Some(at),
            is_indexed: node.value.unwrap_or(is_open),
            is_open,
            shape: node.shape.or(shapes),
            shapes,
            is_closed: !is_open && shapes.is_none() && !node.is_wanted,
        }
    }

    fn child(&mut self, at: usize, step: &Step) -> usize {
        let next = self.nodes.len();
        let node = &mut self.nodes[at];
        let child = match step {
            Step::Each => *node.each.get_or_insert(next),
            Step::Member(name) => match node.search(name) {
                Ok(place) => node.members[place].1,
                Err(place) => {
                    node.members.insert(place, (name.clone(), next));
                    next
                }
            },
        };
        if child == next {
            self.nodes.push(Node::default());
        }
        child
    }
}

impl Node {
    fn member(&self, name: &str) -> Option<usize> {
        self.search(name).ok().map(|place| self.members[place].1)
    }

    fn search(&self, name: &str) -> Result<usize, usize> {
        self.members.binary_search_by(|(known, _)| known.as_str().cmp(name))
    }

    fn wants(&self) -> bool {
        let is_asked_for = self.part.is_some() || self.shape.is_some() || self.shapes.is_some();
        self.value == Some(true) || self.subtree == Some(true) || is_asked_for
    }
}
