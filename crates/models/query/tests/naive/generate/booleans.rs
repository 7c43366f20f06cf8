//! Expressions that are mostly true or false.

use super::{Kind, Maker, tree};
use orrery_query::parse::{BinaryOp, Expr, ExprKind, UnaryOp};

const EQUALITY: [BinaryOp; 3] = [BinaryOp::Equal, BinaryOp::Equal, BinaryOp::NotEqual];
const ORDER: [BinaryOp; 4] =
    [BinaryOp::Less, BinaryOp::LessOrEqual, BinaryOp::Greater, BinaryOp::GreaterOrEqual];
const TYPE_CHECKS: [&str; 10] = [
    "IS_DEFINED",
    "IS_NULL",
    "IS_BOOL",
    "IS_NUMBER",
    "IS_INTEGER",
    "IS_FINITE_NUMBER",
    "IS_STRING",
    "IS_ARRAY",
    "IS_OBJECT",
    "IS_PRIMITIVE",
];
const PATTERNS: [&str; 16] = [
    "%", "a%", "%b", "%a%", "_", "a_", "_b_", "[ab]%", "[^a]%", "[a-c]b", "a[%]b", "%[_]%", "ab", "", "%.%",
    "[A-Z]%",
];

impl Maker {
    /// A condition for WHERE, or none; half of them are of a sort that many rows meet.
    pub fn filter(&mut self, percent: usize, depth: usize) -> Option<Expr> {
        if !self.random.chance(percent) {
            return None;
        }
        let hard = self.truth(depth);
        Some(match self.random.below(4) {
            0 => tree::binary(BinaryOp::Or, hard, self.easy()),
            1 => self.easy(),
            _ => hard,
        })
    }

    /// What most rows meet.
    fn easy(&mut self) -> Expr {
        let kind = self.random.pick(&[Kind::Number, Kind::Text]);
        let (value, literal) = (self.leaf(kind), self.literal(kind));
        match self.random.below(4) {
            0 => tree::call("IS_DEFINED", vec![value]),
            1 => tree::binary(BinaryOp::NotEqual, value, literal),
            2 => tree::binary(BinaryOp::GreaterOrEqual, value, literal),
            _ => tree::unary(UnaryOp::Not, tree::call("IS_NULL", vec![value])),
        }
    }

    pub fn truth(&mut self, depth: usize) -> Expr {
        match self.random.below(100) {
            0..28 => self.comparison(depth),
            28..46 => {
                let op = self.random.pick(&[BinaryOp::And, BinaryOp::Or]);
                tree::binary(op, self.expr(Kind::Truth, depth), self.expr(Kind::Truth, depth))
            }
            46..52 => tree::unary(UnaryOp::Not, self.expr(Kind::Truth, depth)),
            52..60 => {
                let function = self.random.pick(&TYPE_CHECKS);
                tree::call(function, vec![self.any(depth)])
            }
            60..67 => self.is_in(depth),
            67..72 => self.between(depth),
            72..78 => self.like(depth),
            78..84 => self.found(depth),
            84..88 => self.array_contains(depth),
            88..96 => self.exists(depth),
            _ => self.choice(Kind::Truth, depth),
        }
    }

    pub fn comparison(&mut self, depth: usize) -> Expr {
        if self.random.chance(50) {
            let op = self.random.pick(&EQUALITY);
            let kind = self.kind();
            return tree::binary(op, self.expr(kind, depth), self.expr(kind, depth));
        }
        let kind = self.random.pick(&[Kind::Number, Kind::Number, Kind::Text, Kind::Truth]);
        let op = self.random.pick(&ORDER);
        tree::binary(op, self.expr(kind, depth), self.expr(kind, depth))
    }

    fn is_in(&mut self, depth: usize) -> Expr {
        let kind = self.kind();
        let value = Box::new(self.expr(kind, depth));
        let count = 1 + self.random.below(3);
        let list = (0..count).map(|_| self.leaf(kind)).collect();
        tree::expr(ExprKind::In { value, list, negated: self.random.chance(25) })
    }

    fn between(&mut self, depth: usize) -> Expr {
        let kind = self.random.pick(&[Kind::Number, Kind::Text]);
        let [value, low, high] = [(); 3].map(|()| Box::new(self.expr(kind, depth)));
        tree::expr(ExprKind::Between { value, low, high, negated: self.random.chance(25) })
    }

    fn like(&mut self, depth: usize) -> Expr {
        let value = Box::new(self.expr(Kind::Text, depth));
        let (pattern, escape) = match self.random.below(10) {
            0 => (tree::string("a!%b"), Some(tree::string("!"))),
            1 => (tree::string("%^_%"), Some(tree::string("^"))),
            2 => (self.bind("a%".into()), None),
            3 => (tree::null(), None),
            _ => (tree::string(self.random.pick(&PATTERNS)), None),
        };
        let negated = self.random.chance(25);
        tree::expr(ExprKind::Like {
            value,
            pattern: Box::new(pattern),
            escape: escape.map(Box::new),
            negated,
        })
    }

    fn found(&mut self, depth: usize) -> Expr {
        let function = self.random.pick(&["CONTAINS", "STARTSWITH", "ENDSWITH", "StringEquals"]);
        let mut args = vec![self.expr(Kind::Text, depth), self.expr(Kind::Text, depth)];
        if self.random.chance(35) {
            args.push(tree::boolean(self.random.chance(70)));
        }
        tree::call(function, args)
    }

    fn array_contains(&mut self, depth: usize) -> Expr {
        if self.random.chance(25) {
            let wanted = tree::literal(&orrery_value::Value::Object(vec![("a".to_owned(), 1i64.into())]));
            let partial = tree::boolean(self.random.chance(80));
            return tree::call("ARRAY_CONTAINS", vec![self.expr(Kind::List, depth), wanted, partial]);
        }
        let wanted = self.random.pick(&[Kind::Number, Kind::Text]);
        tree::call("ARRAY_CONTAINS", vec![self.expr(Kind::List, depth), self.expr(wanted, depth)])
    }
}
