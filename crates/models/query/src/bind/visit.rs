//! Traversal of bound trees.

use super::bound::{Block, Expr, Score, SourceOf};

impl Expr {
    /// Visits the direct children of this expression, including those in subqueries.
    pub fn for_each_child(&mut self, visit: &mut dyn FnMut(&mut Expr)) {
        match self {
            Self::Constant(_) | Self::Slot(_) => {}
            Self::Member(of, _) | Self::Unary(_, of) => visit(of),
            Self::InSet { value, .. } => visit(value),
            Self::Index(a, b) | Self::Binary(_, a, b) => {
                visit(a);
                visit(b);
            }
            Self::All(list)
            | Self::Any(list)
            | Self::Array(list)
            | Self::Call(_, list)
            | Self::Udf(_, list) => {
                list.iter_mut().for_each(visit);
            }
            Self::Object(members) => members.iter_mut().for_each(|(_, value)| visit(value)),
            Self::Conditional(a, b, c) => {
                visit(a);
                visit(b);
                visit(c);
            }
            Self::In { value, list, .. } => {
                visit(value);
                list.iter_mut().for_each(visit);
            }
            Self::Between { value, low, high, .. } => {
                visit(value);
                visit(low);
                visit(high);
            }
            Self::Like { value, pattern, escape, .. } => {
                visit(value);
                visit(pattern);
                if let Some(escape) = escape {
                    visit(escape);
                }
            }
            Self::Subquery(block) | Self::Exists(block) | Self::ArrayOf(block) => block.for_each_expr(visit),
        }
    }

    /// Whether the predicate holds for this expression or any below it. It takes `&mut self` only
    /// because it shares the one traversal that knows every node's children; nothing is changed.
    pub fn any(&mut self, is: &mut dyn FnMut(&Expr) -> bool) -> bool {
        let mut found = is(self);
        if !found {
            self.for_each_child(&mut |child| found = found || child.any(is));
        }
        found
    }
}

impl Block {
    /// Visits the expressions of every clause, including those of subqueries in FROM.
    pub fn for_each_expr(&mut self, visit: &mut dyn FnMut(&mut Expr)) {
        for source in &mut self.from {
            match &mut source.of {
                SourceOf::Collection => {}
                SourceOf::Value(expr) | SourceOf::Each(expr) => visit(expr),
                SourceOf::Rows(block) | SourceOf::EachOfRows(block) => block.for_each_expr(visit),
            }
        }
        if let Some(filter) = &mut self.filter {
            visit(filter);
        }
        if let Some(grouping) = &mut self.grouping {
            grouping.keys.iter_mut().for_each(|(_, key)| visit(key));
            grouping.aggregates.iter_mut().for_each(|aggregate| visit(&mut aggregate.arg));
        }
        visit(&mut self.select);
        self.order.iter_mut().for_each(|key| visit(&mut key.expr));
        for score in self.rank.iter_mut().flat_map(|rank| &mut rank.scores) {
            match score {
                Score::FullText { text, .. } => visit(text),
                Score::Own { expr, .. } => visit(expr),
            }
        }
    }
}
