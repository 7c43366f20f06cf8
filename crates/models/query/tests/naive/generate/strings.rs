//! Expressions that are mostly strings.

use super::{Kind, Maker, tree};
use orrery_query::parse::{BinaryOp, Expr};

const OF_ONE: [&str; 6] = ["LOWER", "UPPER", "REVERSE", "TRIM", "LTRIM", "RTRIM"];

impl Maker {
    pub fn text(&mut self, depth: usize) -> Expr {
        let of = |maker: &mut Self| maker.expr(Kind::Text, depth);
        match self.random.below(100) {
            0..20 => tree::binary(BinaryOp::Concat, of(self), of(self)),
            20..32 => {
                let parts = 2 + self.random.below(2);
                tree::call("CONCAT", (0..parts).map(|_| of(self)).collect())
            }
            32..50 => {
                let function = self.random.pick(&OF_ONE);
                tree::call(function, vec![of(self)])
            }
            50..60 => tree::call("SUBSTRING", vec![of(self), self.small(), self.small()]),
            60..68 => {
                let function = self.random.pick(&["LEFT", "RIGHT"]);
                tree::call(function, vec![of(self), self.small()])
            }
            68..74 => {
                let sought = self.random.pick(&["a", "b", "ab", " "]);
                tree::call("REPLACE", vec![of(self), tree::string(sought), of(self)])
            }
            74..78 => tree::call("REPLICATE", vec![of(self), self.small()]),
            // Of what is surely simple.
            78..84 => tree::call("ToString", vec![self.arithmetic(depth)]),
            84..86 => tree::call("ToString", vec![self.comparison(depth)]),
            _ => self.choice(Kind::Text, depth),
        }
    }

    fn small(&mut self) -> Expr {
        tree::number(self.random.below(4) as i64)
    }
}
