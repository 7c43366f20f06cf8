//! Queries within queries: EXISTS, ARRAY, one value, and rows for FROM and JOIN.
//!
//! All of them look at a list that is in scope, or at nothing but the names in scope.

use super::scope::{Kind, Shape};
use super::{Maker, tree};
use orrery_query::parse::{Expr, ExprKind, Query, Select, Source};

impl Maker {
    pub fn exists(&mut self, depth: usize) -> Expr {
        let query = self.within(|maker| {
            let from = maker.inner_sources(depth);
            let select = if maker.random.chance(60) { tree::number(1) } else { maker.any(depth.min(1)) };
            let mut query = tree::select_value(select);
            if maker.random.chance(25) {
                query.select = Select::List(vec![tree::item(maker.any(0), Some("one"))]);
            }
            query.filter = maker.inner_filter(&from, 80, depth);
            query.from = from;
            query
        });
        tree::expr(ExprKind::Exists(Box::new(query)))
    }

    pub fn array_subquery(&mut self, depth: usize) -> Expr {
        let (query, _) = self.row_query(depth);
        let array = tree::expr(ExprKind::ArrayOf(Box::new(query)));
        if self.random.chance(10) { tree::index(array, tree::number(0)) } else { array }
    }

    /// A subquery of one row at most: an aggregate, or no FROM.
    pub fn scalar_subquery(&mut self, depth: usize) -> Expr {
        let query = self.within(|maker| {
            let from = maker.inner_sources(depth);
            if from.is_empty() {
                return tree::select_value(maker.expr(Kind::Number, depth));
            }
            let filter = maker.filter(50, depth);
            let mut query = tree::select_value(maker.aggregate(Kind::Number, depth));
            query.from = from;
            query.filter = filter;
            query
        });
        tree::expr(ExprKind::Subquery(Box::new(query)))
    }

    /// A subquery of one row with several aggregates.
    pub fn object_subquery(&mut self, depth: usize) -> Expr {
        let query = self.within(|maker| {
            let from = maker.inner_sources(depth);
            if from.is_empty() {
                return tree::select_value(maker.literal(Kind::Object));
            }
            let filter = maker.filter(40, depth);
            let items = ["x", "y"].map(|name| tree::item(maker.aggregate(Kind::Number, depth), Some(name)));
            Query { from, filter, ..tree::query(Select::List(items.to_vec())) }
        });
        tree::expr(ExprKind::Subquery(Box::new(query)))
    }

    /// A subquery of any number of rows, and what its rows are like.
    pub fn row_query(&mut self, depth: usize) -> (Query, Shape) {
        let mut shape = Shape::Simple;
        let query = self.within(|maker| {
            let from = maker.inner_sources(depth);
            let filter = maker.inner_filter(&from, 40, depth);
            let grouped = !from.is_empty() && maker.random.chance(12);
            let (mut query, its_shape) = if grouped { maker.groups(depth) } else { maker.rows(depth) };
            shape = its_shape;
            query.from = from;
            query.filter = filter;
            query.distinct = !grouped && maker.random.chance(15);
            query
        });
        (query, shape)
    }

    /// A SELECT whose rows have a shape that is known.
    pub fn rows(&mut self, depth: usize) -> (Query, Shape) {
        if self.random.chance(50) {
            let kind = self.random.pick(&[Kind::Number, Kind::Text]);
            return (tree::select_value(self.expr(kind, depth)), Shape::Simple);
        }
        let (mut items, mut members) = (Vec::new(), Vec::new());
        for name in ["p", "q"] {
            let kind = self.kind();
            items.push(tree::item(self.expr(kind, depth), Some(name)));
            members.push((name.to_owned(), kind));
        }
        (tree::query(Select::List(items)), Shape::Row(members))
    }

    /// One or two lists in scope, bound to new names; nothing when there is none.
    fn inner_sources(&mut self, depth: usize) -> Vec<Source> {
        let mut sources = Vec::new();
        for percent in [90, 12] {
            if self.random.chance(percent) {
                sources.extend(self.join(depth));
            }
        }
        sources
    }

    /// A source that hangs on a name in scope, bound from here on.
    pub fn join(&mut self, depth: usize) -> Option<Source> {
        let alias = self.name();
        let (source, shape) = match self.random.below(100) {
            0..10 if depth > 0 => {
                let (query, shape) = self.row_query(depth - 1);
                (tree::nested(query, &alias), shape)
            }
            10..16 => {
                let items = (0..3).map(|_| self.leaf(Kind::Number)).collect();
                let query = tree::select_value(tree::array(items));
                (Source { each: true, ..tree::nested(query, &alias) }, Shape::Simple)
            }
            16..22 if depth > 0 => {
                let query = self.within(|maker| tree::select_value(maker.expr(Kind::List, depth - 1)));
                (Source { each: true, ..tree::nested(query, &alias) }, Shape::Simple)
            }
            22..26 => {
                let (name, member, _) = self.scope.list(&mut self.random)?;
                (tree::whole(&name, &[member], Some(&alias)), Shape::List)
            }
            _ => {
                let (name, member, shape) = self.scope.list(&mut self.random)?;
                (tree::each(&alias, &name, &[member]), shape)
            }
        };
        self.scope.push(&alias, shape);
        Some(source)
    }

    /// A subquery without FROM has no WHERE.
    fn inner_filter(&mut self, from: &[Source], percent: usize, depth: usize) -> Option<Expr> {
        if from.is_empty() { None } else { self.filter(percent, depth) }
    }

    /// What is bound inside is forgotten outside.
    pub fn within<T>(&mut self, generate: impl FnOnce(&mut Self) -> T) -> T {
        let outside = self.scope.len();
        let made = generate(self);
        self.scope.truncate(outside);
        made
    }
}
