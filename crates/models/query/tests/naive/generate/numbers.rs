//! Expressions that are mostly numbers.

use super::{Kind, Maker, tree};
use orrery_query::parse::{BinaryOp, Expr, UnaryOp};

const ARITHMETIC: [BinaryOp; 7] = [
    BinaryOp::Add,
    BinaryOp::Add,
    BinaryOp::Subtract,
    BinaryOp::Multiply,
    BinaryOp::Multiply,
    BinaryOp::Divide,
    BinaryOp::Modulo,
];
const BITS: [BinaryOp; 6] = [
    BinaryOp::BitAnd,
    BinaryOp::BitOr,
    BinaryOp::BitXor,
    BinaryOp::ShiftLeft,
    BinaryOp::ShiftRight,
    BinaryOp::ShiftRightZero,
];
const OF_ONE: [&str; 7] = ["ABS", "FLOOR", "CEILING", "ROUND", "SIGN", "TRUNC", "SQUARE"];

impl Maker {
    pub fn number(&mut self, depth: usize) -> Expr {
        match self.random.below(100) {
            0..32 => self.arithmetic(depth),
            32..38 => {
                let op = self.random.pick(&[UnaryOp::Minus, UnaryOp::Minus, UnaryOp::Plus, UnaryOp::BitNot]);
                tree::unary(op, self.expr(Kind::Number, depth))
            }
            38..46 => {
                let op = self.random.pick(&BITS);
                tree::binary(op, self.expr(Kind::Number, depth), self.expr(Kind::Number, depth))
            }
            46..58 => {
                let function = self.random.pick(&OF_ONE);
                tree::call(function, vec![self.expr(Kind::Number, depth)])
            }
            58..62 => {
                let function = self.random.pick(&["IntAdd", "IntSub", "IntMul"]);
                tree::call(function, vec![self.expr(Kind::Number, depth), self.expr(Kind::Number, depth)])
            }
            62..76 => self.measure(depth),
            76..86 => self.scalar_subquery(depth),
            _ => self.choice(Kind::Number, depth),
        }
    }

    pub fn arithmetic(&mut self, depth: usize) -> Expr {
        let op = self.random.pick(&ARITHMETIC);
        tree::binary(op, self.expr(Kind::Number, depth), self.expr(Kind::Number, depth))
    }

    /// A number that is read from something else.
    fn measure(&mut self, depth: usize) -> Expr {
        match self.random.below(5) {
            0 => tree::call("LENGTH", vec![self.expr(Kind::Text, depth)]),
            1 => tree::call("StringToNumber", vec![self.expr(Kind::Text, depth)]),
            2 => {
                let mut args = vec![self.expr(Kind::Text, depth), self.expr(Kind::Text, depth)];
                if self.random.chance(30) {
                    args.push(tree::number(self.random.below(3) as i64));
                }
                tree::call("INDEX_OF", args)
            }
            _ => tree::call("ARRAY_LENGTH", vec![self.expr(Kind::List, depth)]),
        }
    }
}
