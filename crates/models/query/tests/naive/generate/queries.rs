//! Whole queries, as a client sends them.

use super::scope::Shape;
use super::{Maker, tree};
use orrery_query::parse::{
    Collection, Direction, Expr, OrderBy, OrderKey, Query, Select, Source, Step, Window,
};

/// How deep expressions go.
const DEPTH: usize = 3;
const JOINS_MAX: usize = 2;

impl Maker {
    pub fn top_query(&mut self) -> Query {
        if self.random.chance(4) {
            return tree::select_value(self.any(DEPTH));
        }
        let mut from = vec![self.root_source(2)];
        for _ in 0..self.random.below(JOINS_MAX + 3).saturating_sub(2) {
            from.extend(self.join(2));
        }
        let filter = self.filter(60, DEPTH);
        let mut query = self.selection(from.len());
        query.from = from;
        query.filter = filter;
        self.window(&mut query);
        query
    }

    /// The root collection, something inside each document, or a subquery over it.
    fn root_source(&mut self, depth: usize) -> Source {
        let root = self.random.pick(&["c", "c", "root", "Families"]);
        let alias = self.name();
        let (source, bound, shape) = match self.random.below(100) {
            0..45 => (tree::whole(root, &[], None), root.to_owned(), Shape::Document),
            45..65 => (tree::whole(root, &[], Some(&alias)), alias, Shape::Document),
            65..73 => (tree::each(&alias, root, &["tags"]), alias, Shape::Simple),
            73..81 => (tree::each(&alias, root, &["kids"]), alias, Shape::Kid),
            81..84 => (tree::whole(root, &["n"], Some(&alias)), alias, Shape::Inner),
            84..87 => (tree::whole(root, &["n"], None), "n".to_owned(), Shape::Inner),
            87..89 => (first_kid(root, &alias), alias, Shape::Kid),
            _ => {
                let (query, shape) = self.root_query(depth);
                (tree::nested(query, &alias), alias, shape)
            }
        };
        self.scope.push(&bound, shape);
        source
    }

    /// A subquery over the root collection, which sees no names of the query around it.
    fn root_query(&mut self, depth: usize) -> (Query, Shape) {
        let outside = self.scope.take();
        let from = vec![self.root_source(0)].into_iter().chain(self.chance_of_join()).collect();
        let filter = self.filter(40, depth);
        let (mut query, shape) = if self.random.chance(25) { self.groups(depth) } else { self.rows(depth) };
        query.from = from;
        query.filter = filter;
        query.distinct = query.group_by.is_empty() && self.random.chance(25);
        self.scope = outside;
        (query, shape)
    }

    fn chance_of_join(&mut self) -> Option<Source> {
        if self.random.chance(20) { self.join(0) } else { None }
    }

    fn selection(&mut self, sources: usize) -> Query {
        if self.random.chance(25) {
            return self.groups(2).0;
        }
        let mut query = match self.random.below(10) {
            0..2 if sources == 1 => tree::query(Select::All),
            0..6 => tree::select_value(self.any(DEPTH)),
            _ => self.select_list(),
        };
        query.distinct = self.random.chance(15);
        if self.random.chance(45) {
            query.order_by = self.order_by();
        }
        query
    }

    fn select_list(&mut self) -> Query {
        let mut items = Vec::new();
        for i in 0..1 + self.random.below(3) {
            let name = format!("v{i}");
            let item = match self.random.below(10) {
                // A path with its own name, once, so that it is the only one.
                0..4 if i == 0 => tree::item(self.any(0), None),
                0..2 => tree::item(self.arithmetic(1), None),
                _ => tree::item(self.any(DEPTH - 1), Some(&name)),
            };
            items.push(item);
        }
        tree::query(Select::List(items))
    }

    fn order_by(&mut self) -> OrderBy {
        let mut keys: Vec<OrderKey> = Vec::new();
        for _ in 0..1 + self.random.below(5) / 3 {
            let known = |expr: &Expr| keys.iter().any(|key| key.expr == *expr);
            let expr = self.scope.key(&mut self.random).filter(|expr| !known(expr));
            let direction = self.random.chance(45).then_some(Direction::Descending);
            keys.extend(expr.map(|expr| OrderKey { expr, direction }));
        }
        OrderBy::Keys(keys)
    }

    fn window(&mut self, query: &mut Query) {
        match self.random.below(100) {
            0..12 => query.top = Some(self.count(1, 5)),
            12..30 => query.window = Some(Window { offset: self.count(0, 3), limit: self.count(1, 6) }),
            _ => {}
        }
    }

    /// Mostly in these bounds, seldom zero.
    fn count(&mut self, least: usize, most: usize) -> Expr {
        let count =
            if self.random.chance(3) { 0 } else { least + self.random.below(most + 1 - least) } as i64;
        if self.random.chance(25) { self.bind(count.into()) } else { tree::number(count) }
    }
}

fn first_kid(root: &str, alias: &str) -> Source {
    let steps = vec![Step::Member("kids".to_owned()), Step::Index(0)];
    Source { of: Collection::Path(tree::name(root), steps), ..tree::whole(root, &[], Some(alias)) }
}

#[test]
fn every_clause_is_generated() {
    let queries: Vec<Query> = (0..2_000).map(|seed| super::case(seed).query).collect();
    let share = |what: &str, is: fn(&Query) -> bool| {
        let count = queries.iter().filter(|query| is(query)).count();
        assert!(count > 40, "{what}: {count} of {}", queries.len());
    };
    share("DISTINCT", |query| query.distinct);
    share("TOP", |query| query.top.is_some());
    share("OFFSET", |query| query.window.is_some());
    share("WHERE", |query| query.filter.is_some());
    share("GROUP BY", |query| !query.group_by.is_empty());
    share("ORDER BY", |query| matches!(&query.order_by, OrderBy::Keys(keys) if !keys.is_empty()));
    share("two keys", |query| matches!(&query.order_by, OrderBy::Keys(keys) if keys.len() > 1));
    share("JOIN", |query| query.from.len() > 1);
    share("FROM (SELECT)", |query| matches!(query.from.first().map(|it| &it.of), Some(Collection::Query(_))));
    share("SELECT *", |query| matches!(query.select, Select::All));
    share("SELECT VALUE", |query| matches!(query.select, Select::Value(_)));
    share("a list", |query| matches!(query.select, Select::List(_)));
    share("no FROM", |query| query.from.is_empty());
}
