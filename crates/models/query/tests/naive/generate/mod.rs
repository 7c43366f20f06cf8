//! Random cases: documents, parameters and a query, all from one seed.
//!
//! Few names and few values, so that rows tie, groups collide and filters hit. Expressions are mostly of the
//! type their place wants, now and then of another. What the service refuses is not made (ORDER BY and
//! OFFSET in a subquery, the root collection in a scalar subquery, two sorts of window at once).

mod booleans;
mod documents;
mod grouped;
mod lists;
mod numbers;
mod queries;
mod scope;
mod strings;
mod subqueries;
mod tree;

use super::random::Random;
use super::write::write;
use orrery_query::parse::{Expr, Query};
use orrery_value::Value;
use scope::{Kind, Scope};

pub struct Case {
    pub documents: Vec<Value>,
    pub parameters: Vec<(String, Value)>,
    pub query: Query,
    pub text: String,
}

/// The case of a seed.
pub fn case(seed: u64) -> Case {
    let mut random = Random::new(seed);
    let documents = documents::some(&mut random);
    let mut maker = Maker { random, scope: Scope::default(), names: 0, parameters: Vec::new() };
    let query = maker.top_query();
    let text = write(&query, seed);
    Case { documents, parameters: maker.parameters, query, text }
}

struct Maker {
    random: Random,
    scope: Scope,
    /// How many names were given; each is used once, so none hides another.
    names: usize,
    parameters: Vec<(String, Value)>,
}

impl Maker {
    fn name(&mut self) -> String {
        self.names += 1;
        format!("{}{}", self.random.pick(&["x", "t", "row_", "K"]), self.names)
    }

    /// An expression that is mostly of this kind.
    fn expr(&mut self, kind: Kind, depth: usize) -> Expr {
        let kind = if self.random.chance(4) { self.kind() } else { kind };
        if depth == 0 || self.random.chance(15) {
            return self.leaf(kind);
        }
        match kind {
            Kind::Number => self.number(depth - 1),
            Kind::Text => self.text(depth - 1),
            Kind::Truth => self.truth(depth - 1),
            Kind::List => self.list(depth - 1),
            Kind::Object => self.object(depth - 1),
        }
    }

    fn any(&mut self, depth: usize) -> Expr {
        let kind = self.kind();
        self.expr(kind, depth)
    }

    fn kind(&mut self) -> Kind {
        self.random.pick(&[
            Kind::Number,
            Kind::Number,
            Kind::Text,
            Kind::Text,
            Kind::Truth,
            Kind::List,
            Kind::Object,
        ])
    }

    fn leaf(&mut self, kind: Kind) -> Expr {
        match self.random.below(100) {
            0..68 => self.path(kind).unwrap_or_else(|| self.literal(kind)),
            68..70 => self.pointed(kind),
            70..78 => self.parameter(kind),
            78..80 => tree::undefined(),
            80..82 => tree::null(),
            _ => self.literal(kind),
        }
    }

    /// A path whose last step is a parameter.
    fn pointed(&mut self, kind: Kind) -> Expr {
        let (of, step) = match kind {
            Kind::Number | Kind::Text => (Kind::List, Value::from(self.random.below(3) as i64)),
            _ => (Kind::Object, Value::from(self.random.pick(&["x", "y", "n", "tags"]))),
        };
        let step = self.bind(step);
        self.path(of).map_or_else(|| self.literal(kind), |of| tree::index(of, step))
    }

    fn path(&mut self, kind: Kind) -> Option<Expr> {
        self.scope.path(kind, &mut self.random)
    }

    fn parameter(&mut self, kind: Kind) -> Expr {
        let value =
            if self.random.chance(4) { Value::Undefined } else { documents::of_kind(kind, &mut self.random) };
        self.bind(value)
    }

    fn bind(&mut self, value: Value) -> Expr {
        let name = format!("@p{}", self.parameters.len());
        self.parameters.push((name.clone(), value));
        tree::parameter(&name)
    }

    fn literal(&mut self, kind: Kind) -> Expr {
        tree::literal(&documents::of_kind(kind, &mut self.random))
    }

    /// What any kind of expression may be: a choice between two of it.
    fn choice(&mut self, kind: Kind, depth: usize) -> Expr {
        let (yes, no) = (self.expr(kind, depth), self.expr(kind, depth));
        match self.random.below(3) {
            0 => tree::coalesce(yes, no),
            1 => tree::conditional(self.expr(Kind::Truth, depth), yes, no),
            _ => tree::call("IIF", vec![self.expr(Kind::Truth, depth), yes, no]),
        }
    }
}
