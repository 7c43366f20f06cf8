//! Expressions that are mostly arrays or objects.

use super::{Kind, Maker, tree};
use orrery_query::parse::{Expr, ExprKind};

impl Maker {
    pub fn list(&mut self, depth: usize) -> Expr {
        match self.random.below(100) {
            0..25 => {
                let count = self.random.below(4);
                tree::array((0..count).map(|_| self.any(depth)).collect())
            }
            25..40 => {
                tree::call("ARRAY_CONCAT", vec![self.expr(Kind::List, depth), self.expr(Kind::List, depth)])
            }
            40..60 => self.slice(depth),
            60..85 => self.array_subquery(depth),
            _ => self.choice(Kind::List, depth),
        }
    }

    fn slice(&mut self, depth: usize) -> Expr {
        let start = self.random.below(6) as i64 - 2;
        let mut args = vec![self.expr(Kind::List, depth), tree::literal(&start.into())];
        if self.random.chance(50) {
            args.push(tree::number(self.random.below(4) as i64));
        }
        tree::call("ARRAY_SLICE", args)
    }

    pub fn object(&mut self, depth: usize) -> Expr {
        match self.random.below(10) {
            0..2 => return self.choice(Kind::Object, depth),
            2 => return self.object_subquery(depth),
            _ => {}
        }
        let mut members: Vec<(String, Expr)> = Vec::new();
        for name in ["x", "y", "a"] {
            if self.random.chance(55) {
                members.push((name.to_owned(), self.any(depth)));
            }
        }
        tree::expr(ExprKind::Object(members))
    }
}
