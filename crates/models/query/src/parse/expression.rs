//! Expressions: operators and their precedence.
//!
//! From the loosest to the tightest; operators on one line associate to the left, except on the first two:
//!
//! ```text
//! 1  a ? b : c
//! 2  ??
//! 3  OR
//! 4  AND
//! 5  [NOT] IN   [NOT] LIKE   [NOT] BETWEEN
//! 6  =  !=  <>  <  <=  >  >=  <<  >>  >>>
//! 7  ||
//! 8  +  -  |  ^  &
//! 9  *  /  %
//! 10 NOT  -  +  ~   before their operand
//! ```
//!
//! So `NOT c.a = 1` is `(NOT c.a) = 1`, `a & 1 = 1` is `(a & 1) = 1` and `1 | 2 + 3` is `(1 | 2) + 3`, as in
//! the service's grammar. The service accepts BETWEEN beside AND and OR only in parentheses; here they are
//! optional.

use super::ast::{BinaryOp, UnaryOp};
use super::cursor::Cursor;
use super::machine::{Built, Level, Machine, Operand, Pending};
use crate::error::Complaint;
use crate::lex::{Keyword, Symbol, TokenKind};
use orrery_value::Number;

impl Cursor<'_> {
    pub fn expression(&mut self) -> Result<Built, Complaint> {
        let mut machine = Machine::default();
        loop {
            self.operand(&mut machine)?;
            if !self.operators(&mut machine)? {
                return machine.finish()?.ok_or_else(|| self.unexpected());
            }
        }
    }

    /// Reads prefix operators and the operand.
    fn operand(&mut self, machine: &mut Machine) -> Result<(), Complaint> {
        loop {
            if let Some(op) = prefix(self.kind()) {
                machine.push(Pending::Prefix(op, self.step()));
            } else if self.sees(Symbol::LeftParen) && *self.second() != TokenKind::from(Keyword::Select) {
                machine.push(Pending::Open(self.step()));
            } else if let Some(number) = self.lone_number() {
                let at = self.step();
                machine.push_number(number, at, self.text_at(at));
                return Ok(());
            } else {
                let primary = Operand::from(self.primary()?);
                machine.push_operand(self.postfix(primary)?);
                return Ok(());
            }
        }
    }

    /// A number that no member or element access follows.
    fn lone_number(&self) -> Option<Number> {
        match (self.kind(), self.second()) {
            (_, TokenKind::Symbol(Symbol::Dot | Symbol::LeftBracket)) => None,
            (TokenKind::Number(number), _) => Some(*number),
            _ => None,
        }
    }

    /// Reads what follows an operand. Returns false if the expression ends here.
    fn operators(&mut self, machine: &mut Machine) -> Result<bool, Complaint> {
        loop {
            match self.operator(machine)? {
                Next::Operand => return Ok(true),
                Next::End => return Ok(false),
                Next::Operator => {}
            }
        }
    }

    fn operator(&mut self, machine: &mut Machine) -> Result<Next, Complaint> {
        match self.kind() {
            TokenKind::Symbol(Symbol::RightParen) if machine.is_open() => self.close(machine),
            TokenKind::Symbol(Symbol::Question) => self.question(machine),
            TokenKind::Symbol(Symbol::Colon) => self.colon(machine),
            TokenKind::Keyword(Keyword::And) => self.and(machine),
            TokenKind::Keyword(Keyword::Escape) => self.escape(machine),
            TokenKind::Keyword(Keyword::In | Keyword::Like | Keyword::Between) => {
                self.predicate(machine, false)
            }
            TokenKind::Keyword(Keyword::Not) => {
                self.step();
                self.predicate(machine, true)
            }
            _ => self.infix(machine),
        }
    }

    fn close(&mut self, machine: &mut Machine) -> Result<Next, Complaint> {
        machine.reduce_down_to(Level::LOOSEST)?;
        let Some(inside) = machine.close(self.place()) else { return Err(self.unexpected()) };
        self.step();
        machine.push_operand(self.postfix(inside)?);
        Ok(Next::Operator)
    }

    fn question(&mut self, machine: &mut Machine) -> Result<Next, Complaint> {
        self.room(machine, Level::CONDITIONAL.above())?;
        Ok(self.wait(machine, Pending::Then))
    }

    /// The `:` of a `?`; without an open `?` it belongs to an enclosing construct.
    fn colon(&mut self, machine: &mut Machine) -> Result<Next, Complaint> {
        machine.reduce_down_to(Level::LOOSEST)?;
        if !machine.then_is_complete() {
            return Ok(Next::End);
        }
        self.step();
        Ok(Next::Operand)
    }

    /// AND, or the middle of a BETWEEN.
    fn and(&mut self, machine: &mut Machine) -> Result<Next, Complaint> {
        machine.reduce_down_to(Level::PREDICATE.above())?;
        if machine.low_is_complete() {
            self.step();
            return Ok(Next::Operand);
        }
        self.room(machine, Level::of(BinaryOp::And))?;
        Ok(self.wait(machine, Pending::Infix(BinaryOp::And)))
    }

    /// The ESCAPE of a LIKE.
    fn escape(&mut self, machine: &mut Machine) -> Result<Next, Complaint> {
        machine.reduce_down_to(Level::PREDICATE.above())?;
        if !machine.waits_for_pattern() {
            return Ok(Next::End);
        }
        self.step();
        match self.kind() {
            TokenKind::String(_) => machine.like_with(self.literal()?)?,
            _ => return Err(self.unexpected()),
        }
        Ok(Next::Operator)
    }

    /// IN with its list, LIKE or BETWEEN; nothing else may follow a NOT in this position.
    fn predicate(&mut self, machine: &mut Machine, negated: bool) -> Result<Next, Complaint> {
        let pending = match self.kind() {
            TokenKind::Keyword(Keyword::In) => None,
            TokenKind::Keyword(Keyword::Like) => Some(Pending::Like { negated }),
            TokenKind::Keyword(Keyword::Between) => Some(Pending::BetweenLow { negated }),
            _ => return Err(self.unexpected()),
        };
        self.room(machine, Level::PREDICATE)?;
        match pending {
            Some(pending) => Ok(self.wait(machine, pending)),
            None => self.in_list(machine, negated),
        }
    }

    fn in_list(&mut self, machine: &mut Machine, negated: bool) -> Result<Next, Complaint> {
        self.step();
        self.expect(Symbol::LeftParen)?;
        let (list, tallest) = self.nested(|cursor| cursor.list(Symbol::RightParen))?;
        self.in_items_most = self.in_items_most.max(list.len());
        machine.in_list(list, tallest, negated, self.place_before())?;
        Ok(Next::Operator)
    }

    fn infix(&mut self, machine: &mut Machine) -> Result<Next, Complaint> {
        let Some(op) = infix(self.kind()) else { return Ok(Next::End) };
        let level = Level::of(op);
        // `??` associates to the right, so the one before has to wait.
        self.room(machine, if op == BinaryOp::Coalesce { level.above() } else { level })?;
        Ok(self.wait(machine, Pending::Infix(op)))
    }

    /// Applies the operators that bind at least this tightly. A BETWEEN without its AND stops looser
    /// ones.
    fn room(&self, machine: &mut Machine, level: Level) -> Result<(), Complaint> {
        machine.reduce_down_to(level)?;
        if machine.waits_for_low() && level <= Level::PREDICATE { Err(self.unexpected()) } else { Ok(()) }
    }

    fn wait(&mut self, machine: &mut Machine, pending: Pending) -> Next {
        self.step();
        machine.push(pending);
        Next::Operand
    }
}

/// What must come next.
enum Next {
    Operand,
    Operator,
    /// Nothing: the expression ends here.
    End,
}

fn prefix(token: &TokenKind) -> Option<UnaryOp> {
    match token {
        TokenKind::Symbol(Symbol::Minus) => Some(UnaryOp::Minus),
        TokenKind::Symbol(Symbol::Plus) => Some(UnaryOp::Plus),
        TokenKind::Symbol(Symbol::Tilde) => Some(UnaryOp::BitNot),
        TokenKind::Keyword(Keyword::Not) => Some(UnaryOp::Not),
        _ => None,
    }
}

fn infix(token: &TokenKind) -> Option<BinaryOp> {
    let symbol = match token {
        TokenKind::Keyword(Keyword::Or) => return Some(BinaryOp::Or),
        TokenKind::Symbol(symbol) => symbol,
        _ => return None,
    };
    Some(match symbol {
        Symbol::QuestionQuestion => BinaryOp::Coalesce,
        Symbol::Equal => BinaryOp::Equal,
        Symbol::NotEqual => BinaryOp::NotEqual,
        Symbol::Less => BinaryOp::Less,
        Symbol::LessEqual => BinaryOp::LessOrEqual,
        Symbol::Greater => BinaryOp::Greater,
        Symbol::GreaterEqual => BinaryOp::GreaterOrEqual,
        Symbol::ShiftLeft => BinaryOp::ShiftLeft,
        Symbol::ShiftRight => BinaryOp::ShiftRight,
        Symbol::ShiftRightZero => BinaryOp::ShiftRightZero,
        Symbol::BarBar => BinaryOp::Concat,
        Symbol::Bar => BinaryOp::BitOr,
        Symbol::Caret => BinaryOp::BitXor,
        Symbol::Ampersand => BinaryOp::BitAnd,
        Symbol::Plus => BinaryOp::Add,
        Symbol::Minus => BinaryOp::Subtract,
        Symbol::Star => BinaryOp::Multiply,
        Symbol::Slash => BinaryOp::Divide,
        Symbol::Percent => BinaryOp::Modulo,
        _ => return None,
    })
}
