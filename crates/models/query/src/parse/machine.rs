//! Shunting-yard: operands and pending operators on two stacks.
//!
//! An operator is pushed when it is read and applied when one that binds less tightly arrives. Open
//! parentheses and incomplete BETWEENs and conditionals lie between the operators; only their other half
//! removes them. This file reads no text; [`super::expression`] decides what to push.
//!
//! Operands of AND, OR and `||` are collected in one flat list while the same operator continues, also
//! through parentheses, and finally become a balanced tree.

use super::ast::{BinaryOp, Expr, ExprKind, TextSpan, UnaryOp};
use super::cursor::{check_level, span};
use crate::error::Complaint;
use orrery_value::Number;
use std::collections::VecDeque;

/// An expression and the height of its tree.
pub(super) struct Built {
    pub expr: Expr,
    pub height: usize,
}

impl Built {
    /// A node whose tallest child has this height.
    pub fn node(kind: ExprKind, at: TextSpan, below: usize) -> Result<Self, Complaint> {
        check_level(below + 1, at)?;
        Ok(Self { expr: Expr { kind, at }, height: below + 1 })
    }
}

/// An operand of an operator.
pub(super) struct Operand {
    shape: Shape,
    /// Including the parentheses around it, which the expression's own span excludes.
    pub at: TextSpan,
}

enum Shape {
    One(Built),
    /// Two or more, joined by one associative operator.
    Chain(BinaryOp, VecDeque<Built>),
}

impl From<Built> for Operand {
    fn from(built: Built) -> Self {
        Self { at: built.expr.at, shape: Shape::One(built) }
    }
}

impl Operand {
    pub fn finish(self) -> Result<Built, Complaint> {
        match self.shape {
            Shape::One(built) => Ok(built),
            Shape::Chain(op, parts) => {
                let count = parts.len();
                balanced(op, &mut parts.into_iter(), count)
            }
        }
    }

    /// The parts that it contributes to a chain of this operator.
    fn parts(self, op: BinaryOp) -> Result<VecDeque<Built>, Complaint> {
        match self.shape {
            Shape::Chain(own, parts) if own == op => Ok(parts),
            _ => Ok(VecDeque::from([self.finish()?])),
        }
    }
}

/// The next `count` parts as a tree of minimal height.
fn balanced(op: BinaryOp, parts: &mut impl Iterator<Item = Built>, count: usize) -> Result<Built, Complaint> {
    if count == 1 {
        return Ok(parts.next().expect("there are as many parts as were counted"));
    }
    let left = balanced(op, parts, count - count / 2)?;
    let right = balanced(op, parts, count / 2)?;
    let at = span(left.expr.at, right.expr.at);
    binary(op, left, right, at)
}

fn binary(op: BinaryOp, left: Built, right: Built, at: TextSpan) -> Result<Built, Complaint> {
    let below = left.height.max(right.height);
    Built::node(ExprKind::Binary(op, Box::new(left.expr), Box::new(right.expr)), at, below)
}

impl BinaryOp {
    /// Whether its operands may be regrouped. Not addition: sums are rounded on the way.
    pub(super) fn is_associative(self) -> bool {
        matches!(self, Self::And | Self::Or | Self::Concat)
    }
}

/// The precedence of an operator.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Level(u8);

impl Level {
    pub const LOOSEST: Self = Self(0);
    pub const CONDITIONAL: Self = Self(1);
    pub const PREDICATE: Self = Self(5);
    const PREFIX: Self = Self(10);

    pub fn of(op: BinaryOp) -> Self {
        use BinaryOp::*;
        Self(match op {
            Coalesce => 2,
            Or => 3,
            And => 4,
            Equal | NotEqual | Less | LessOrEqual | Greater | GreaterOrEqual => 6,
            ShiftLeft | ShiftRight | ShiftRightZero => 6,
            Concat => 7,
            Add | Subtract | BitOr | BitXor | BitAnd => 8,
            Multiply | Divide | Modulo => 9,
        })
    }

    pub fn above(self) -> Self {
        Self(self.0 + 1)
    }
}

/// An operator that waits for an operand, or a construct that waits for its other half.
pub(super) enum Pending {
    Open(TextSpan),
    Prefix(UnaryOp, TextSpan),
    Infix(BinaryOp),
    Like {
        negated: bool,
    },
    /// A BETWEEN before and after its AND.
    BetweenLow {
        negated: bool,
    },
    BetweenHigh {
        negated: bool,
    },
    /// A `?` before and after its `:`.
    Then,
    Else,
}

impl Pending {
    /// `None` for a construct that waits for another token.
    fn level(&self) -> Option<Level> {
        match self {
            Self::Open(_) | Self::BetweenLow { .. } | Self::Then => None,
            Self::Else => Some(Level::CONDITIONAL),
            Self::Like { .. } | Self::BetweenHigh { .. } => Some(Level::PREDICATE),
            Self::Infix(op) => Some(Level::of(*op)),
            Self::Prefix(..) => Some(Level::PREFIX),
        }
    }
}

#[derive(Default)]
pub(super) struct Machine {
    operands: Vec<Operand>,
    pending: Vec<Pending>,
    /// The number of pending open parentheses.
    open: usize,
}

impl Machine {
    pub fn push(&mut self, pending: Pending) {
        self.open += usize::from(matches!(pending, Pending::Open(_)));
        self.pending.push(pending);
    }

    pub fn push_operand(&mut self, operand: Operand) {
        self.operands.push(operand);
    }

    /// Pushes a number literal. A minus directly before it becomes part of it.
    pub fn push_number(&mut self, number: Number, at: TextSpan, text: &str) {
        let (kind, at) = match self.pending.last() {
            Some(Pending::Prefix(UnaryOp::Minus, minus)) => {
                let at = span(*minus, at);
                self.pending.pop();
                (ExprKind::Number(negative(number, text)), at)
            }
            _ => (ExprKind::Number(number), at),
        };
        self.push_operand(Built { expr: Expr { kind, at }, height: 1 }.into());
    }

    pub fn is_open(&self) -> bool {
        self.open > 0
    }

    pub fn waits_for_low(&self) -> bool {
        matches!(self.pending.last(), Some(Pending::BetweenLow { .. }))
    }

    pub fn waits_for_pattern(&self) -> bool {
        matches!(self.pending.last(), Some(Pending::Like { .. }))
    }

    /// Records the AND of a BETWEEN, if one is on top.
    pub fn low_is_complete(&mut self) -> bool {
        let Some(Pending::BetweenLow { negated }) = self.pending.last() else { return false };
        let negated = *negated;
        self.replace_top(Pending::BetweenHigh { negated });
        true
    }

    /// Records the `:` of a `?`, if one is on top.
    pub fn then_is_complete(&mut self) -> bool {
        let found = matches!(self.pending.last(), Some(Pending::Then));
        if found {
            self.replace_top(Pending::Else);
        }
        found
    }

    fn replace_top(&mut self, pending: Pending) {
        self.pending.pop();
        self.pending.push(pending);
    }

    /// Pops the expression since the parenthesis on top.
    pub fn close(&mut self, end: TextSpan) -> Option<Operand> {
        let Some(Pending::Open(start)) = self.pending.last() else { return None };
        let at = span(*start, end);
        self.pending.pop();
        self.open -= 1;
        Some(Operand { at, ..self.take() })
    }

    /// The whole expression; `None` if a construct is incomplete.
    pub fn finish(mut self) -> Result<Option<Built>, Complaint> {
        self.reduce_down_to(Level::LOOSEST)?;
        if self.pending.is_empty() { self.take().finish().map(Some) } else { Ok(None) }
    }

    /// Applies operators from the top while they bind this tightly.
    pub fn reduce_down_to(&mut self, level: Level) -> Result<(), Complaint> {
        while self.pending.last().and_then(Pending::level).is_some_and(|top| top >= level) {
            self.reduce()?;
        }
        Ok(())
    }

    fn reduce(&mut self) -> Result<(), Complaint> {
        match self.pending.pop() {
            Some(Pending::Prefix(op, at)) => self.unary(op, at),
            Some(Pending::Infix(op)) => self.infix(op),
            Some(Pending::Like { negated }) => self.like(None, negated),
            Some(Pending::BetweenHigh { negated }) => self.between(negated),
            Some(Pending::Else) => self.conditional(),
            Some(Pending::Open(_) | Pending::BetweenLow { .. } | Pending::Then) | None => Ok(()),
        }
    }

    fn unary(&mut self, op: UnaryOp, start: TextSpan) -> Result<(), Complaint> {
        let operand = self.take();
        let at = span(start, operand.at);
        let operand = operand.finish()?;
        self.node(ExprKind::Unary(op, Box::new(operand.expr)), at, operand.height)
    }

    fn infix(&mut self, op: BinaryOp) -> Result<(), Complaint> {
        let (right, left) = (self.take(), self.take());
        let at = span(left.at, right.at);
        let shape = if op.is_associative() {
            Shape::Chain(op, joined(left.parts(op)?, right.parts(op)?))
        } else {
            Shape::One(binary(op, left.finish()?, right.finish()?, at)?)
        };
        self.operands.push(Operand { shape, at });
        Ok(())
    }

    fn like(&mut self, escape: Option<Built>, negated: bool) -> Result<(), Complaint> {
        let (pattern, value) = (self.take(), self.take());
        let end = escape.as_ref().map_or(pattern.at, |escape| escape.expr.at);
        let at = span(value.at, end);
        let (pattern, value) = (pattern.finish()?, value.finish()?);
        let below = pattern.height.max(value.height);
        let (value, pattern) = (Box::new(value.expr), Box::new(pattern.expr));
        let escape = escape.map(|escape| Box::new(escape.expr));
        self.node(ExprKind::Like { value, pattern, escape, negated }, at, below)
    }

    /// Completes the LIKE on top with its ESCAPE.
    pub fn like_with(&mut self, escape: Built) -> Result<(), Complaint> {
        match self.pending.pop() {
            Some(Pending::Like { negated }) => self.like(Some(escape), negated),
            other => {
                self.pending.extend(other);
                Ok(())
            }
        }
    }

    fn between(&mut self, negated: bool) -> Result<(), Complaint> {
        let (at, [value, low, high], below) = self.take_three()?;
        self.node(ExprKind::Between { value, low, high, negated }, at, below)
    }

    fn conditional(&mut self) -> Result<(), Complaint> {
        let (at, [condition, then, otherwise], below) = self.take_three()?;
        self.node(ExprKind::Conditional(condition, then, otherwise), at, below)
    }

    /// Replaces the operand on top by an IN over it.
    pub fn in_list(
        &mut self,
        list: Vec<Expr>,
        tallest: usize,
        negated: bool,
        end: TextSpan,
    ) -> Result<(), Complaint> {
        let value = self.take();
        let at = span(value.at, end);
        let value = value.finish()?;
        let below = value.height.max(tallest);
        self.node(ExprKind::In { value: Box::new(value.expr), list, negated }, at, below)
    }

    fn node(&mut self, kind: ExprKind, at: TextSpan, below: usize) -> Result<(), Complaint> {
        self.push_operand(Built::node(kind, at, below)?.into());
        Ok(())
    }

    fn take(&mut self) -> Operand {
        self.operands.pop().expect("an operator is applied only after its operands were pushed")
    }

    fn take_three(&mut self) -> Result<(TextSpan, [Box<Expr>; 3], usize), Complaint> {
        let (third, second, first) = (self.take(), self.take(), self.take());
        let at = span(first.at, third.at);
        let (first, second, third) = (first.finish()?, second.finish()?, third.finish()?);
        let below = first.height.max(second.height).max(third.height);
        Ok((at, [first, second, third].map(|built| Box::new(built.expr)), below))
    }
}

/// Concatenates two lists; the shorter one moves, so that neither direction of nesting is quadratic.
fn joined(mut left: VecDeque<Built>, mut right: VecDeque<Built>) -> VecDeque<Built> {
    if left.len() >= right.len() {
        left.append(&mut right);
        return left;
    }
    while let Some(part) = left.pop_back() {
        right.push_front(part);
    }
    right
}

/// The number negated. One integer has no positive counterpart.
fn negative(number: Number, text: &str) -> Number {
    match number {
        Number::Int(int) => Number::Int(-int),
        Number::Float(float) => format!("-{text}").parse().map_or(Number::Float(-float), Number::Int),
    }
}
