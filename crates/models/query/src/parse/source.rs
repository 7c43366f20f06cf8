//! The sources of FROM and JOIN.

use super::ast::{Collection, Name, OrderBy, Query, Select, Source, Step};
use super::cursor::{Cursor, check_level, span};
use super::machine::Built;
use crate::error::Complaint;
use crate::lex::{Keyword, Symbol, TokenKind};
use crate::limits::QUERY_SUBQUERY_LEVELS;
use orrery_value::Number;

/// A source and the height of its tree.
pub(super) struct SourceBuilt {
    pub source: Source,
    pub height: usize,
}

impl Cursor<'_> {
    /// `x IN c.children`, or `c.children AS x`, where the AS and the alias are optional.
    pub fn source(&mut self) -> Result<SourceBuilt, Complaint> {
        let start = self.place();
        if self.sees(TokenKind::Name) && *self.second() == TokenKind::from(Keyword::In) {
            let alias = Some(self.name()?);
            self.step();
            let (of, height) = if self.sees_call() { self.called()? } else { self.collection()? };
            let at = span(start, self.place_before());
            return Ok(SourceBuilt { source: Source { each: true, of, alias, at }, height });
        }
        let (of, height) = self.collection()?;
        let alias = self.source_alias()?;
        let at = span(start, self.place_before());
        Ok(SourceBuilt { source: Source { each: false, of, alias, at }, height })
    }

    fn sees_call(&self) -> bool {
        self.sees(Keyword::Udf)
            || self.sees(TokenKind::Name) && *self.second() == TokenKind::from(Symbol::LeftParen)
    }

    /// `x IN F(…)`, which is `x IN (SELECT VALUE F(…))`.
    fn called(&mut self) -> Result<(Collection, usize), Complaint> {
        let Built { expr, height } = self.primary()?;
        let height = height + QUERY_SUBQUERY_LEVELS;
        check_level(height, expr.at)?;
        let query = Query {
            at: expr.at,
            distinct: false,
            top: None,
            select: Select::Value(expr),
            from: Vec::new(),
            filter: None,
            group_by: Vec::new(),
            order_by: OrderBy::Keys(Vec::new()),
            window: None,
        };
        Ok((Collection::Query(Box::new(query)), height))
    }

    fn source_alias(&mut self) -> Result<Option<Name>, Complaint> {
        let announced = self.eat(Keyword::As);
        if announced || self.sees(TokenKind::Name) { self.name().map(Some) } else { Ok(None) }
    }

    fn collection(&mut self) -> Result<(Collection, usize), Complaint> {
        if self.eat(Symbol::LeftParen) {
            let built = self.nested_query()?;
            self.expect(Symbol::RightParen)?;
            return Ok((Collection::Query(Box::new(built.query)), built.height));
        }
        let root = self.name()?;
        let mut steps = Vec::new();
        while let Some(step) = self.path_step()? {
            steps.push(step);
        }
        Ok((Collection::Path(root, steps), 0))
    }

    fn path_step(&mut self) -> Result<Option<Step>, Complaint> {
        if self.eat(Symbol::Dot) {
            return Ok(Some(Step::Member(self.word()?.text)));
        }
        if !self.eat(Symbol::LeftBracket) {
            return Ok(None);
        }
        let step = self.bracketed_step()?;
        self.expect(Symbol::RightBracket)?;
        Ok(Some(step))
    }

    fn bracketed_step(&mut self) -> Result<Step, Complaint> {
        if let Some((name, _)) = self.string() {
            return Ok(Step::Member(name));
        }
        let TokenKind::Number(Number::Int(index)) = *self.kind() else { return Err(self.unexpected()) };
        self.step();
        // A number token has no sign.
        Ok(Step::Index(index.unsigned_abs()))
    }
}
