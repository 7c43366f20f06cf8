//! The operands of expressions: literals, names, calls, arrays, objects and subqueries, with member and
//! element access.

use super::ast::{Expr, ExprKind, Name, Query, TextSpan};
use super::cursor::{Cursor, span};
use super::machine::{Built, Operand};
use crate::error::Complaint;
use crate::lex::{Keyword, Symbol, TokenKind};

/// The items of a list, and the greatest height among them.
type Items<T> = (Vec<T>, usize);

impl Cursor<'_> {
    pub fn primary(&mut self) -> Result<Built, Complaint> {
        match self.kind() {
            TokenKind::Name | TokenKind::Keyword(Keyword::Left | Keyword::Right) => self.name_or_call(),
            TokenKind::Keyword(Keyword::Udf) => self.udf(),
            TokenKind::Keyword(Keyword::Exists) => self.of_query(ExprKind::Exists),
            TokenKind::Keyword(Keyword::Array) => self.of_query(ExprKind::ArrayOf),
            TokenKind::Symbol(Symbol::LeftParen) => self.subquery(self.place(), ExprKind::Subquery),
            TokenKind::Symbol(Symbol::LeftBracket) => self.nested(Self::array),
            TokenKind::Symbol(Symbol::LeftBrace) => self.nested(Self::object),
            _ => self.literal(),
        }
    }

    /// A constant or a parameter.
    pub fn literal(&mut self) -> Result<Built, Complaint> {
        if let Some((text, at)) = self.string() {
            return Ok(leaf(ExprKind::String(text), at));
        }
        let kind = match self.kind() {
            TokenKind::Number(number) => ExprKind::Number(*number),
            TokenKind::Parameter => ExprKind::Parameter(self.text_at(self.place()).to_owned()),
            TokenKind::Keyword(Keyword::True) => ExprKind::Bool(true),
            TokenKind::Keyword(Keyword::False) => ExprKind::Bool(false),
            TokenKind::Keyword(Keyword::Null) => ExprKind::Null,
            TokenKind::Keyword(Keyword::Undefined) => ExprKind::Undefined,
            _ => return Err(self.unexpected()),
        };
        Ok(leaf(kind, self.step()))
    }

    /// LEFT and RIGHT are keywords, but also functions.
    fn name_or_call(&mut self) -> Result<Built, Complaint> {
        let keyword = !self.sees(TokenKind::Name);
        let name = self.word()?;
        if keyword || self.sees(Symbol::LeftParen) {
            return self.call(name.at, name, false);
        }
        Ok(leaf(ExprKind::Name(name.text), name.at))
    }

    fn udf(&mut self) -> Result<Built, Complaint> {
        let start = self.step();
        self.expect(Symbol::Dot)?;
        let name = self.word()?;
        self.call(start, name, true)
    }

    /// The rest of a call, from its parenthesis on.
    pub fn call(&mut self, start: TextSpan, name: Name, udf: bool) -> Result<Built, Complaint> {
        self.expect(Symbol::LeftParen)?;
        let (args, tallest) = self.nested(|cursor| cursor.list_or_none(Symbol::RightParen))?;
        Built::node(ExprKind::Call { name, udf, args }, span(start, self.place_before()), tallest)
    }

    /// EXISTS and ARRAY.
    fn of_query(&mut self, kind: fn(Box<Query>) -> ExprKind) -> Result<Built, Complaint> {
        let start = self.step();
        self.subquery(start, kind)
    }

    fn subquery(&mut self, start: TextSpan, kind: fn(Box<Query>) -> ExprKind) -> Result<Built, Complaint> {
        self.expect(Symbol::LeftParen)?;
        let built = self.nested_query()?;
        let end = self.expect(Symbol::RightParen)?;
        Built::node(kind(Box::new(built.query)), span(start, end), built.height)
    }

    fn array(&mut self) -> Result<Built, Complaint> {
        let start = self.step();
        let (items, tallest) = self.list_or_none(Symbol::RightBracket)?;
        Built::node(ExprKind::Array(items), span(start, self.place_before()), tallest)
    }

    fn object(&mut self) -> Result<Built, Complaint> {
        let start = self.step();
        let (members, tallest) = match self.eat(Symbol::RightBrace) {
            true => (Vec::new(), 0),
            false => self.members()?,
        };
        Built::node(ExprKind::Object(members), span(start, self.place_before()), tallest)
    }

    fn members(&mut self) -> Result<Items<(String, Expr)>, Complaint> {
        let (mut members, mut tallest) = (Vec::new(), 0);
        loop {
            let name = match self.string() {
                Some((name, _)) => name,
                None => self.word()?.text,
            };
            self.expect(Symbol::Colon)?;
            let value = self.expression()?;
            tallest = value.height.max(tallest);
            members.push((name, value.expr));
            if !self.eat(Symbol::Comma) {
                self.expect(Symbol::RightBrace)?;
                return Ok((members, tallest));
            }
        }
    }

    fn list_or_none(&mut self, close: Symbol) -> Result<Items<Expr>, Complaint> {
        if self.eat(close) { Ok((Vec::new(), 0)) } else { self.list(close) }
    }

    /// One or more expressions and the closing token.
    pub fn list(&mut self, close: Symbol) -> Result<Items<Expr>, Complaint> {
        let (mut items, mut tallest) = (Vec::new(), 0);
        loop {
            let item = self.expression()?;
            tallest = item.height.max(tallest);
            items.push(item.expr);
            if !self.eat(Symbol::Comma) {
                self.expect(close)?;
                return Ok((items, tallest));
            }
        }
    }

    /// Reads the member and element accesses that follow.
    pub fn postfix(&mut self, mut base: Operand) -> Result<Operand, Complaint> {
        loop {
            base = match self.kind() {
                TokenKind::Symbol(Symbol::Dot) => self.member(base)?,
                TokenKind::Symbol(Symbol::LeftBracket) => self.element(base)?,
                _ => return Ok(base),
            };
        }
    }

    fn member(&mut self, base: Operand) -> Result<Operand, Complaint> {
        self.step();
        let name = self.word()?;
        let at = span(base.at, name.at);
        let base = base.finish()?;
        let kind = ExprKind::Member(Box::new(base.expr), name.text);
        Built::node(kind, at, base.height).map(Operand::from)
    }

    fn element(&mut self, base: Operand) -> Result<Operand, Complaint> {
        self.step();
        let index = self.nested(Self::expression)?;
        let at = span(base.at, self.expect(Symbol::RightBracket)?);
        let base = base.finish()?;
        let tallest = base.height.max(index.height);
        let of = Box::new(base.expr);
        let kind = match index.expr.kind {
            ExprKind::String(name) => ExprKind::Member(of, name),
            _ => ExprKind::Index(of, Box::new(index.expr)),
        };
        Built::node(kind, at, tallest).map(Operand::from)
    }
}

fn leaf(kind: ExprKind, at: TextSpan) -> Built {
    Built { expr: Expr { kind, at }, height: 1 }
}
