//! One SELECT and its clauses, in their fixed order.

use super::ast::{Direction, Expr, Name, OrderBy, OrderKey, Query, Select, SelectItem, Source, Window};
use super::cursor::{Cursor, check_level, span};
use super::machine::Built;
use super::source::SourceBuilt;
use crate::error::Complaint;
use crate::lex::{Keyword, Symbol, TokenKind};
use crate::limits::QUERY_SUBQUERY_LEVELS;
use orrery_value::Number;

/// A query and the height of its tree.
pub(super) struct QueryBuilt {
    pub query: Query,
    pub height: usize,
}

/// The greatest height among the query's parts so far.
#[derive(Default)]
struct MaxHeight(usize);

impl MaxHeight {
    fn include(&mut self, built: Built) -> Expr {
        self.0 = self.0.max(built.height);
        built.expr
    }

    fn include_source(&mut self, built: SourceBuilt) -> Source {
        self.0 = self.0.max(built.height);
        built.source
    }
}

impl Cursor<'_> {
    pub fn query(&mut self) -> Result<QueryBuilt, Complaint> {
        let mut height = MaxHeight::default();
        let start = self.expect(Keyword::Select)?;
        let distinct = self.eat(Keyword::Distinct);
        let top = if self.eat(Keyword::Top) { Some(self.count(Counts::Any)?) } else { None };
        let select = self.select(&mut height)?;
        let from = if self.eat(Keyword::From) { self.from(&mut height)? } else { Vec::new() };
        let filter = if self.eat(Keyword::Where) { Some(height.include(self.expression()?)) } else { None };
        let group_by = if self.eat(Keyword::Group) { self.group_by(&mut height)? } else { Vec::new() };
        let order_by = self.order_by(&mut height)?;
        let window = if self.eat(Keyword::Offset) { Some(self.window()?) } else { None };
        let at = span(start, self.place_before());
        let height = height.0 + QUERY_SUBQUERY_LEVELS;
        check_level(height, at)?;
        let query = Query { distinct, top, select, from, filter, group_by, order_by, window, at };
        Ok(QueryBuilt { query, height })
    }

    fn select(&mut self, height: &mut MaxHeight) -> Result<Select, Complaint> {
        if self.eat(Symbol::Star) {
            return Ok(Select::All);
        }
        if self.eat(Keyword::Value) {
            return Ok(Select::Value(height.include(self.expression()?)));
        }
        let mut items = vec![self.select_item(height)?];
        while self.eat(Symbol::Comma) {
            items.push(self.select_item(height)?);
        }
        Ok(Select::List(items))
    }

    /// An alias needs no AS and may be a string.
    fn select_item(&mut self, height: &mut MaxHeight) -> Result<SelectItem, Complaint> {
        let expr = height.include(self.expression()?);
        let announced = self.eat(Keyword::As);
        let alias = match self.kind() {
            TokenKind::String(_) => self.string().map(|(text, at)| Name { text, at }),
            TokenKind::Name => Some(self.name()?),
            _ if announced => return Err(self.unexpected()),
            _ => None,
        };
        Ok(SelectItem { expr, alias })
    }

    fn from(&mut self, height: &mut MaxHeight) -> Result<Vec<Source>, Complaint> {
        let mut sources = vec![height.include_source(self.source()?)];
        while self.eat(Keyword::Join) {
            sources.push(height.include_source(self.source()?));
        }
        self.joins_most = self.joins_most.max(sources.len() - 1);
        Ok(sources)
    }

    fn group_by(&mut self, height: &mut MaxHeight) -> Result<Vec<Expr>, Complaint> {
        self.expect(Keyword::By)?;
        let mut keys = vec![height.include(self.expression()?)];
        while self.eat(Symbol::Comma) {
            keys.push(height.include(self.expression()?));
        }
        Ok(keys)
    }

    fn order_by(&mut self, height: &mut MaxHeight) -> Result<OrderBy, Complaint> {
        let mut keys = Vec::new();
        if !self.eat(Keyword::Order) {
            return Ok(OrderBy::Keys(keys));
        }
        self.expect(Keyword::By)?;
        if self.sees_rank() {
            self.step();
            return Ok(OrderBy::Rank(height.include(self.score()?)));
        }
        keys.push(self.order_key(height)?);
        while self.eat(Symbol::Comma) {
            keys.push(self.order_key(height)?);
        }
        Ok(OrderBy::Keys(keys))
    }

    /// `RANK` followed by a name; `ORDER BY rank DESC` sorts by a member called rank.
    fn sees_rank(&self) -> bool {
        let rank = self.sees(TokenKind::Name) && self.text_at(self.place()).eq_ignore_ascii_case("RANK");
        rank && *self.second() == TokenKind::Name
    }

    /// RANK must be followed by a call, without a direction: the best come first.
    fn score(&mut self) -> Result<Built, Complaint> {
        let name = self.name()?;
        let score = self.call(name.at, name, false)?;
        if self.sees(Keyword::Asc) || self.sees(Keyword::Desc) {
            let message = "Specifying a sort order (ASC or DESC) in the ORDER BY RANK clause is not allowed.";
            return Err(Complaint::new("SC2245", self.place(), message));
        }
        Ok(score)
    }

    fn order_key(&mut self, height: &mut MaxHeight) -> Result<OrderKey, Complaint> {
        let expr = height.include(self.expression()?);
        Ok(OrderKey { expr, direction: self.direction() })
    }

    fn direction(&mut self) -> Option<Direction> {
        match (self.eat(Keyword::Asc), self.eat(Keyword::Desc)) {
            (true, _) => Some(Direction::Ascending),
            (false, true) => Some(Direction::Descending),
            (false, false) => None,
        }
    }

    fn window(&mut self) -> Result<Window, Complaint> {
        let offset = self.count(Counts::Integers)?;
        self.expect(Keyword::Limit)?;
        let limit = self.count(Counts::Integers)?;
        Ok(Window { offset, limit })
    }

    /// The number or parameter of TOP, OFFSET and LIMIT.
    fn count(&mut self, allowed: Counts) -> Result<Expr, Complaint> {
        match (self.kind(), allowed) {
            (TokenKind::Number(Number::Int(_)) | TokenKind::Parameter, _)
            | (TokenKind::Number(_), Counts::Any) => Ok(self.literal()?.expr),
            _ => Err(self.unexpected()),
        }
    }
}

/// The grammar requires integers for OFFSET and LIMIT; the binder checks TOP.
enum Counts {
    Any,
    Integers,
}
