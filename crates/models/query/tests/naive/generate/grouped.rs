//! GROUP BY and aggregates: every part of SELECT is a key, an aggregate, a constant, or made of these.

use super::scope::{Kind, Shape};
use super::{Maker, tree};
use orrery_query::parse::{BinaryOp, Expr, ExprKind, Query, Select};

impl Maker {
    /// The SELECT of a query whose rows are groups.
    pub fn groups(&mut self, depth: usize) -> (Query, Shape) {
        let mut keys = Vec::new();
        if self.random.chance(65) {
            keys.extend(self.group_key());
            if self.random.chance(30) {
                keys.extend(self.group_key().filter(|key| !keys.contains(key)));
            }
        }
        let (mut query, shape) = self.select_groups(&keys, depth);
        query.group_by = keys;
        (query, shape)
    }

    fn group_key(&mut self) -> Option<Expr> {
        let key = self.scope.key(&mut self.random)?;
        Some(match self.random.below(12) {
            0 => tree::call("LOWER", vec![key]),
            1 => tree::call("IS_DEFINED", vec![key]),
            2 => tree::binary(BinaryOp::Add, key, tree::number(1)),
            _ => key,
        })
    }

    fn select_groups(&mut self, keys: &[Expr], depth: usize) -> (Query, Shape) {
        if self.random.chance(30) {
            return (tree::select_value(self.of_group(keys, depth)), Shape::Simple);
        }
        let (mut items, mut members) = (Vec::new(), Vec::new());
        for (i, key) in keys.iter().enumerate() {
            let name = format!("k{i}");
            items.push(tree::item(key.clone(), Some(&name)));
            members.push((name, Kind::Number));
        }
        for i in 0..1 + self.random.below(2) {
            let name = self.random.chance(75).then(|| format!("m{i}"));
            items.push(tree::item(self.of_group_nameless(keys, depth), name.as_deref()));
            members.extend(name.map(|name| (name, Kind::Number)));
        }
        (tree::query(Select::List(items)), Shape::Row(members))
    }

    /// Anything of a group that has no name of its own, so that names never clash.
    fn of_group_nameless(&mut self, keys: &[Expr], depth: usize) -> Expr {
        if self.random.chance(70) {
            return self.aggregate(Kind::Number, depth);
        }
        let of_group = self.of_group(keys, depth);
        tree::array(vec![of_group])
    }

    fn of_group(&mut self, keys: &[Expr], depth: usize) -> Expr {
        match self.random.below(10) {
            0..3 if !keys.is_empty() => self.random.pick(keys),
            3 => {
                let (a, b) = (self.aggregate(Kind::Number, depth), self.aggregate(Kind::Number, depth));
                let op = self.random.pick(&[BinaryOp::Add, BinaryOp::Divide, BinaryOp::Coalesce]);
                tree::binary(op, a, b)
            }
            4 => {
                let members = vec![
                    ("x".to_owned(), self.aggregate(Kind::Number, depth)),
                    ("y".to_owned(), keys.first().cloned().unwrap_or_else(tree::null)),
                ];
                tree::expr(ExprKind::Object(members))
            }
            _ => self.aggregate(Kind::Number, depth),
        }
    }

    pub fn aggregate(&mut self, kind: Kind, depth: usize) -> Expr {
        let name = self.random.pick(&["COUNT", "COUNT", "SUM", "SUM", "AVG", "MIN", "MAX", "COUNTIF"]);
        let argument = match (name, self.random.below(10)) {
            ("COUNT", 0..4) => tree::number(1),
            ("COUNTIF", _) => self.expr(Kind::Truth, depth.min(2)),
            (_, 0..6) => self.leaf(kind),
            ("COUNT" | "MIN" | "MAX", _) => self.any(depth.min(1)),
            _ => self.expr(kind, depth.min(2)),
        };
        tree::call(name, vec![argument])
    }
}
