//! Document paths of expressions, and the paths that a query reads.
//!
//! A chain of members that starts at the collection is a path, and so is one that starts at an alias bound to
//! a path: `x IN c.tags` is each element of `/tags`. An element selected by index has no exact path, but its
//! value is among those at `/tags/[]`; [`SlotPaths::path_containing`] returns that looser path.

use super::indexes::{Path, Step};
use crate::bind::bound::{Block, Expr, Score, Source, SourceOf};
use orrery_value::Value;

/// The exact path of an expression: the expression equals its value, or, if the path passes an array, one of
/// its values.
pub fn path_of(expr: &Expr, sources: &SlotPaths<'_>) -> Option<Path> {
    sources
        .origin(expr)
        .filter(|origin| origin.is_exact && !origin.steps.is_empty())
        .map(|it| it.steps.into())
}

/// Every path that a block and its subqueries read, sorted and without duplicates; `None` if they read a
/// whole document or the elements of an array. A function may still receive an array found at a path.
pub fn paths_read(block: &Block) -> Option<Vec<Path>> {
    let mut paths = Vec::new();
    read_block(block, &SlotPaths::of(block), &mut paths)?;
    paths.sort();
    paths.dedup();
    Some(paths)
}

/// The paths of the aliases in scope in a block.
pub struct SlotPaths<'a> {
    outer: Option<&'a SlotPaths<'a>>,
    own: Vec<(usize, Origin)>,
}

/// The origin of a value: the steps from the document to it; empty for the document itself.
#[derive(Clone)]
struct Origin {
    steps: Vec<Step>,
    /// False if an element was selected by index, which the steps do not record.
    is_exact: bool,
}

impl SlotPaths<'static> {
    /// The paths of an outermost block.
    pub fn of(block: &Block) -> Self {
        let mut slots = Self { outer: None, own: Vec::new() };
        slots.declare(&block.from);
        slots
    }
}

impl<'a> SlotPaths<'a> {
    /// The paths of a subquery, which also sees the enclosing blocks.
    pub fn inside(&'a self, block: &Block) -> Self {
        let mut slots = Self { outer: Some(self), own: Vec::new() };
        slots.declare(&block.from);
        slots
    }

    /// A path that contains the expression's value, if it has one. Nothing is implied if the expression
    /// is undefined.
    pub(super) fn path_containing(&self, expr: &Expr) -> Option<Path> {
        self.origin(expr).filter(|origin| !origin.steps.is_empty()).map(|origin| origin.steps.into())
    }

    /// A source sees those before it.
    fn declare(&mut self, from: &[Source]) {
        for source in from {
            if let Some(origin) = self.origin_of_rows(&source.of) {
                self.own.push((source.slot, origin));
            }
        }
    }

    fn origin_of_rows(&self, of: &SourceOf) -> Option<Origin> {
        match of {
            SourceOf::Collection => Some(Origin { steps: Vec::new(), is_exact: true }),
            SourceOf::Value(expr) => self.origin(expr),
            SourceOf::Each(expr) => self.origin(expr).map(|origin| origin.then(Step::Each)),
            SourceOf::Rows(block) => self.origin_of_select(block),
            SourceOf::EachOfRows(block) => self.origin_of_select(block).map(|origin| origin.then(Step::Each)),
        }
    }

    /// After grouping, a row no longer contains document values.
    fn origin_of_select(&self, block: &Block) -> Option<Origin> {
        if block.grouping.is_some() { None } else { self.inside(block).origin(&block.select) }
    }

    fn origin(&self, expr: &Expr) -> Option<Origin> {
        match expr {
            Expr::Slot(slot) => self.origin_of_slot(*slot),
            Expr::Member(of, name) => Some(self.origin(of)?.then(Step::Member(name.clone()))),
            Expr::Index(of, index) => match index.as_constant()? {
                Value::String(name) => Some(self.origin(of)?.then(Step::Member(name.clone()))),
                Value::Number(_) => Some(Origin { is_exact: false, ..self.origin(of)?.then(Step::Each) }),
                _ => None,
            },
            _ => None,
        }
    }

    fn origin_of_slot(&self, slot: usize) -> Option<Origin> {
        match self.own.iter().find(|(own, _)| *own == slot) {
            Some((_, origin)) => Some(origin.clone()),
            None => self.outer?.origin_of_slot(slot),
        }
    }
}

impl Origin {
    fn then(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }
}

/// `None` if the expression is not a path.
type Readable = Option<()>;

fn read_block(block: &Block, slots: &SlotPaths<'_>, paths: &mut Vec<Path>) -> Readable {
    for source in &block.from {
        match &source.of {
            SourceOf::Collection => {}
            SourceOf::Each(expr) if slots.origin(expr).is_some() => return None,
            SourceOf::Value(expr) | SourceOf::Each(expr) => read(expr, slots, paths)?,
            SourceOf::Rows(inner) | SourceOf::EachOfRows(inner) => {
                read_block(inner, &slots.inside(inner), paths)?;
            }
        }
    }
    expressions(block).into_iter().try_for_each(|expr| read(expr, slots, paths))
}

/// Visits the expressions of every clause except FROM.
fn expressions(block: &Block) -> Vec<&Expr> {
    let mut all: Vec<&Expr> = block.filter.iter().collect();
    if let Some(grouping) = &block.grouping {
        all.extend(grouping.keys.iter().map(|(_, key)| key));
        all.extend(grouping.aggregates.iter().map(|aggregate| &aggregate.arg));
    }
    all.push(&block.select);
    all.extend(block.order.iter().map(|key| &key.expr));
    all.extend(block.rank.iter().flat_map(|rank| &rank.scores).map(|score| match score {
        Score::FullText { text: expr, .. } | Score::Own { expr, .. } => expr,
    }));
    all
}

fn read(expr: &Expr, slots: &SlotPaths<'_>, paths: &mut Vec<Path>) -> Readable {
    match slots.origin(expr) {
        Some(origin) if origin.steps.is_empty() || origin.steps.contains(&Step::Each) => None,
        Some(origin) => {
            paths.push(origin.steps.into());
            Some(())
        }
        None => match expr {
            Expr::Subquery(block) | Expr::Exists(block) | Expr::ArrayOf(block) => {
                read_block(block, &slots.inside(block), paths)
            }
            other => subexpressions(other).into_iter().try_for_each(|child| read(child, slots, paths)),
        },
    }
}

/// The direct children of an expression, without those inside subqueries.
pub fn subexpressions(expr: &Expr) -> Vec<&Expr> {
    match expr {
        Expr::Constant(_) | Expr::Slot(_) => Vec::new(),
        Expr::Subquery(_) | Expr::Exists(_) | Expr::ArrayOf(_) => Vec::new(),
        Expr::Member(of, _) | Expr::Unary(_, of) => vec![of],
        Expr::InSet { value, .. } => vec![value],
        Expr::Index(a, b) | Expr::Binary(_, a, b) => vec![a, b],
        Expr::Conditional(a, b, c) => vec![a, b, c],
        Expr::All(list) | Expr::Any(list) => list.iter().collect(),
        Expr::Array(list) | Expr::Call(_, list) | Expr::Udf(_, list) => list.iter().collect(),
        Expr::Object(members) => members.iter().map(|(_, value)| value).collect(),
        Expr::In { value, list, .. } => list.iter().chain([&**value]).collect(),
        Expr::Between { value, low, high, .. } => vec![value, low, high],
        Expr::Like { value, pattern, escape, .. } => {
            [value, pattern].into_iter().chain(escape).map(|expr| &**expr).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::PathDisplay;
    use crate::plan::Rules;
    use crate::prepare;

    fn block(text: &str) -> Block {
        prepare(text, &[], Rules::On).unwrap().plan.query.block
    }

    /// The SELECT expression as a path.
    fn check_path(text: &str, expected: &str) {
        let block = block(text);
        let path = path_of(&block.select, &SlotPaths::of(&block));
        assert_eq!(path.map_or("none".to_owned(), |path| PathDisplay(&path).to_string()), expected, "{text}");
    }

    fn check_read(text: &str, expected: &str) {
        let paths = paths_read(&block(text));
        let shown =
            |paths: Vec<Path>| paths.iter().map(|path| PathDisplay(path).to_string()).collect::<Vec<_>>();
        assert_eq!(paths.map_or("all".to_owned(), |paths| shown(paths).join(" ")), expected, "{text}");
    }

    #[test]
    fn members_from_the_document_are_a_path() {
        check_path("SELECT VALUE c.a FROM c", "/a");
        check_path("SELECT VALUE x.a['b c'].d FROM c AS x", "/a/\"b c\"/d");
        check_path("SELECT VALUE c['a' || 'b'] FROM c", "/ab");
        check_path("SELECT VALUE c FROM c", "none");
        check_path("SELECT VALUE c.tags[0] FROM c", "none");
        check_path("SELECT VALUE c[c.a] FROM c", "none");
        check_path("SELECT VALUE c.a + 1 FROM c", "none");
        check_path("SELECT VALUE {'a': c.a}.a FROM c", "none");
    }

    #[test]
    fn aliases_stand_for_what_they_are_bound_to() {
        check_path("SELECT VALUE t FROM c JOIN t IN c.tags", "/tags/[]");
        check_path("SELECT VALUE g.name FROM c JOIN k IN c.kids JOIN g IN k.pets", "/kids/[]/pets/[]/name");
        check_path("SELECT VALUE t.x FROM t IN c.tags", "/tags/[]/x");
        check_path("SELECT VALUE a.city FROM c.address AS a", "/address/city");
        check_path("SELECT VALUE t.x FROM c JOIN t IN c.rows[0].tags", "none");
        check_path("SELECT VALUE t.y FROM c JOIN (SELECT VALUE x.k FROM x IN c.tags) AS t", "/tags/[]/k/y");
        check_path("SELECT VALUE t.y FROM c JOIN t IN (SELECT VALUE c.tags)", "/tags/[]/y");
        check_path("SELECT VALUE t FROM c JOIN (SELECT VALUE MAX(x) FROM x IN c.tags) AS t", "none");
        check_path("SELECT VALUE t.k FROM c JOIN (SELECT x.k FROM x IN c.tags) AS t", "none");
    }

    #[test]
    fn an_indexed_element_is_contained_in_the_array_path() {
        let block = block("SELECT VALUE t.x FROM c JOIN t IN c.rows[0].tags");
        let path = SlotPaths::of(&block).path_containing(&block.select).unwrap();
        assert_eq!(PathDisplay(&path).to_string(), "/rows/[]/tags/[]/x");
    }

    #[test]
    fn every_clause_is_read() {
        check_read("SELECT VALUE 1 FROM c", "");
        check_read("SELECT c.b, c.a.x FROM c WHERE c.d > 1 ORDER BY c.e", "/a/x /b /d /e");
        check_read("SELECT COUNT(1) AS n, c.a FROM c WHERE c.b IN (1, c.d) GROUP BY c.a", "/a /b /d");
        check_read("SELECT SUM(c.a + c.b) FROM c", "/a /b");
        check_read("SELECT VALUE c.a LIKE c.b ESCAPE '!' FROM c", "/a /b");
        check_read("SELECT VALUE c.a BETWEEN c.b AND c.d ? [c.e] : {'f': c.f} FROM c", "/a /b /d /e /f");
        check_read("SELECT VALUE udf.f(c.a) FROM c WHERE NOT c.b AND UPPER(c.d) = 'X'", "/a /b /d");
        check_read("SELECT VALUE (SELECT VALUE c.a) FROM c WHERE EXISTS(SELECT VALUE c.b)", "/a /b");
        check_read("SELECT VALUE a.city FROM c.address AS a", "/address /address/city");
        check_read("SELECT VALUE c.a[c.b] FROM c", "/a /b");
        check_read("SELECT VALUE x.p FROM (SELECT c.a AS p FROM c WHERE c.b) AS x", "/a /b");
        check_read("SELECT VALUE n FROM c JOIN n IN (SELECT VALUE [1, c.a])", "/a");
        check_read("SELECT c.a FROM c ORDER BY RANK FullTextScore(c.text, 'x')", "/a /text");
    }

    #[test]
    fn whole_documents_and_arrays_are_not_read_by_path() {
        for text in [
            "SELECT * FROM c",
            "SELECT VALUE c FROM c",
            "SELECT VALUE {'it': c} FROM c",
            "SELECT VALUE c[c.a] FROM c",
            "SELECT VALUE DOCUMENTID(c) FROM c",
            "SELECT VALUE c.tags[0] FROM c",
            "SELECT VALUE t FROM c JOIN t IN c.tags",
            "SELECT VALUE 1 FROM c JOIN t IN c.tags",
            "SELECT VALUE 1 FROM t IN c.tags",
            "SELECT VALUE 1 FROM c WHERE EXISTS(SELECT VALUE t FROM t IN c.tags)",
            "SELECT VALUE ARRAY(SELECT VALUE t FROM t IN c.tags) FROM c",
            "SELECT COUNT(c) FROM c",
            "SELECT VALUE x.a FROM (SELECT VALUE c FROM c) AS x",
        ] {
            check_read(text, "all");
        }
    }
}
