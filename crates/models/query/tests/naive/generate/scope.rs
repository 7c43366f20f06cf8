//! The names an expression may use, and what is likely to be found under each.

use super::super::random::Random;
use super::tree;
use orrery_query::parse::Expr;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    Number,
    Text,
    Truth,
    List,
    Object,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    Document,
    /// An element of `kids`.
    Kid,
    /// `n`
    Inner,
    /// An element of `tags`, or another simple value.
    Simple,
    /// `tags` or `kids` as a whole.
    List,
    /// A row of a subquery with a list.
    Row(Vec<(String, Kind)>),
}

#[derive(Default)]
pub struct Scope {
    names: Vec<(String, Shape)>,
}

impl Scope {
    pub fn push(&mut self, name: &str, shape: Shape) {
        self.names.push((name.to_owned(), shape));
    }

    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Forgets all but the first names.
    pub fn truncate(&mut self, len: usize) {
        self.names.truncate(len);
    }

    /// Takes the first names away, for a query that cannot see them.
    pub fn take(&mut self) -> Self {
        std::mem::take(self)
    }

    /// A path to what is likely of this kind; seldom to nothing.
    pub fn path(&self, kind: Kind, random: &mut Random) -> Option<Expr> {
        let (name, shape) = self.near(random)?;
        let paths = paths(shape, kind);
        if random.chance(3) {
            return Some(tree::member(tree::variable(name), "none"));
        }
        if paths.is_empty() {
            return None;
        }
        Some(follow(name, &random.pick(&paths)))
    }

    /// Any path that makes sense to sort or to group by.
    pub fn key(&self, random: &mut Random) -> Option<Expr> {
        let kind = random.pick(&[Kind::Number, Kind::Number, Kind::Text, Kind::Truth, Kind::Object]);
        self.path(kind, random)
    }

    /// A list of some name, as the name, the steps, and the shape of its elements.
    pub fn list(&self, random: &mut Random) -> Option<(String, &'static str, Shape)> {
        let (name, shape) = self.near(random)?;
        match shape {
            Shape::Document if random.chance(45) => Some((name.clone(), "kids", Shape::Kid)),
            Shape::Document | Shape::Kid => Some((name.clone(), "tags", Shape::Simple)),
            _ => None,
        }
    }

    /// The names bound last are asked for most.
    fn near(&self, random: &mut Random) -> Option<&(String, Shape)> {
        if self.names.is_empty() {
            return None;
        }
        let at = random.below(self.names.len()).max(random.below(self.names.len()));
        self.names.get(at)
    }
}

fn follow(name: &str, path: &[String]) -> Expr {
    path.iter().fold(tree::variable(name), |of, step| match step.parse::<i64>() {
        Ok(at) => tree::index(of, tree::number(at)),
        Err(_) => tree::member(of, step),
    })
}

fn paths(shape: &Shape, kind: Kind) -> Vec<Vec<String>> {
    let fixed: &[&str] = match (shape, kind) {
        (Shape::Document, Kind::Number) => &["a", "a", "b", "n.x", "order", "tags.0", "kids.0.a"],
        (Shape::Document, Kind::Text) => &["s", "s", "t", "id", "n.y", "tags.1"],
        (Shape::Document, Kind::Truth) => &["flag"],
        (Shape::Document, Kind::List) => &["tags", "tags", "kids", "kids.0.tags"],
        (Shape::Document, Kind::Object) => &["n", "n", "kids.0", ""],
        (Shape::Kid, Kind::Number) => &["a"],
        (Shape::Kid, Kind::Text) => &["s"],
        (Shape::Kid, Kind::List) => &["tags"],
        (Shape::Inner, Kind::Number) => &["x"],
        (Shape::Inner, Kind::Text) => &["y"],
        (Shape::Kid | Shape::Inner, Kind::Object) => &[""],
        (Shape::Simple, Kind::Number | Kind::Text | Kind::Truth) => &[""],
        (Shape::List, Kind::List) => &[""],
        (Shape::List, Kind::Number | Kind::Text) => &["0"],
        (Shape::Row(members), _) => return of_row(members, kind),
        _ => &[],
    };
    fixed
        .iter()
        .map(|path| path.split('.').filter(|step| !step.is_empty()).map(str::to_owned).collect())
        .collect()
}

fn of_row(members: &[(String, Kind)], kind: Kind) -> Vec<Vec<String>> {
    let whole = (kind == Kind::Object).then(Vec::new);
    let named = members.iter().filter(|(_, of)| *of == kind).map(|(name, _)| vec![name.clone()]);
    named.chain(whole).collect()
}
