//! Binds one SELECT: its sources, its clauses, and the members of its rows.

use super::bound::{Aggregate, Block, Expr, Grouping, Source, SourceOf};
use super::{Binder, unresolved};
use crate::error::{Complaint, QueryError};
use crate::lex::is_name;
use crate::limits;
use crate::parse::{self, Collection, ExprKind, OrderBy, Query, Select, Step, TextSpan};
use orrery_value::{Number, Value};
use std::collections::HashSet;

impl Binder<'_> {
    /// `leads` means that the first source may be the collection.
    pub(super) fn block(&mut self, query: &Query, leads: bool) -> Result<Block, QueryError> {
        let outer = self.scope.len();
        let above = self.collected.take();
        self.depth += 1;
        let block = self.clauses(query, leads, outer);
        self.depth -= 1;
        self.scope.truncate(outer);
        self.collected = above;
        block
    }

    fn clauses(&mut self, query: &Query, leads: bool, outer: usize) -> Result<Block, QueryError> {
        if self.depth > 1 {
            check_subquery(query)?;
        }
        let from = self.from(query, leads, outer)?;
        let filter = query.filter.as_ref().map(|filter| self.expr(filter)).transpose()?;
        let keys = self.group_keys(&query.group_by)?;
        self.collected = Some(Vec::new());
        let mut select = self.select(query, &from)?;
        let aggregates = self.collected.take().unwrap_or_default();
        let grouping = self.grouping(keys, aggregates, &mut select, &from, query)?;
        let (order, rank) = self.order(query, grouping.is_some())?;
        let (offset, limit) = self.window(query)?;
        Ok(Block { from, filter, grouping, select, distinct: query.distinct, order, rank, offset, limit })
    }

    fn from(&mut self, query: &Query, leads: bool, outer: usize) -> Result<Vec<Source>, QueryError> {
        let mut sources = Vec::new();
        for (i, source) in query.from.iter().enumerate() {
            self.source(source, leads && i == 0, outer, &mut sources)?;
        }
        Ok(sources)
    }

    fn source(
        &mut self,
        source: &parse::Source,
        leads: bool,
        outer: usize,
        sources: &mut Vec<Source>,
    ) -> Result<(), QueryError> {
        match &source.of {
            Collection::Query(query) => {
                let block = Box::new(self.block(query, leads)?);
                let alias = source.alias.as_ref();
                let slot = match alias {
                    Some(alias) => self.declare(&alias.text, alias.at, outer)?,
                    None => self.new_slot("(subquery)"),
                };
                let name = alias.map_or("(subquery)", |alias| &alias.text).to_owned();
                let of = if source.each { SourceOf::EachOfRows(block) } else { SourceOf::Rows(block) };
                sources.push(Source { slot, name, of });
            }
            Collection::Path(root, steps) => {
                let plain = steps.is_empty() && !source.each;
                let (slot, is_new) = match self.resolve(&root.text) {
                    Some(slot) => (slot, false),
                    None if leads && plain => {
                        let alias = source.alias.as_ref().unwrap_or(root);
                        (self.declare(&alias.text, alias.at, outer)?, true)
                    }
                    None if leads => (self.new_slot(&root.text), true),
                    None => return Err(unresolved(&root.text, root.at).into()),
                };
                if is_new {
                    // After a sub-root (`FROM c.items`) the collection itself has no name.
                    let name = if plain { self.names[slot].clone() } else { String::new() };
                    sources.push(Source { slot, name, of: SourceOf::Collection });
                }
                if !(is_new && plain) {
                    sources.push(self.path_source(source, slot, steps, outer)?);
                }
            }
        }
        Ok(())
    }

    /// A path from something in scope: `c.children`, `x IN c.children`.
    fn path_source(
        &mut self,
        source: &parse::Source,
        root: usize,
        steps: &[Step],
        outer: usize,
    ) -> Result<Source, Complaint> {
        let mut path = Expr::Slot(root);
        for step in steps {
            path = match step {
                Step::Member(name) => Expr::Member(Box::new(path), name.clone()),
                Step::Index(index) => {
                    let index = Number::Int(i64::try_from(*index).unwrap_or(i64::MAX));
                    Expr::Index(Box::new(path), Box::new(Expr::Constant(Value::Number(index))))
                }
            };
        }
        let name = match (&source.alias, steps.last()) {
            (Some(alias), _) => alias.text.clone(),
            (None, Some(Step::Member(name))) => name.clone(),
            (None, Some(Step::Index(_))) => String::new(),
            (None, None) => self.names[root].clone(),
        };
        let slot = if name.is_empty() { self.new_slot("") } else { self.declare(&name, source.at, outer)? };
        let of = if source.each { SourceOf::Each(path) } else { SourceOf::Value(path) };
        Ok(Source { slot, name, of })
    }

    fn select(&mut self, query: &Query, from: &[Source]) -> Result<Expr, QueryError> {
        match &query.select {
            Select::Value(expr) => self.expr(expr),
            Select::All => select_all(from, query.at).map_err(QueryError::from),
            Select::List(items) => {
                let mut members: Vec<(String, Expr)> = Vec::with_capacity(items.len());
                let mut names = HashSet::new();
                let mut unnamed = 0;
                for item in items {
                    let name = match (&item.alias, inferred_name(&item.expr)) {
                        (Some(alias), _) => alias.text.clone(),
                        (None, Some(name)) => name.to_owned(),
                        (None, None) => {
                            unnamed += 1;
                            format!("${unnamed}")
                        }
                    };
                    if !names.insert(name.clone()) {
                        let message = format!(
                            "The SELECT list has more than one member named '{name}'; give one of them an alias with AS."
                        );
                        return Err(Complaint::new("SC2012", item.expr.at, message).into());
                    }
                    members.push((name, self.expr(&item.expr)?));
                }
                Ok(Expr::Object(members))
            }
        }
    }

    fn window(&mut self, query: &Query) -> Result<(u64, Option<u64>), QueryError> {
        let top = query.top.as_ref().map(|top| self.count(top, "TOP")).transpose()?;
        let Some(window) = &query.window else { return Ok((0, top)) };
        if top.is_some() {
            let message = "'OFFSET LIMIT' is not supported in presence of TOP.";
            return Err(Complaint::new("SC2204", window.limit.at, message).into());
        }
        Ok((self.count(&window.offset, "OFFSET")?, Some(self.count(&window.limit, "LIMIT")?)))
    }

    /// A row count: a literal or a parameter.
    fn count(&mut self, expr: &parse::Expr, clause: &str) -> Result<u64, QueryError> {
        let number = match &expr.kind {
            ExprKind::Number(number) => Some(*number),
            ExprKind::Parameter(name) => match self.parameter(name, expr.at)? {
                Value::Number(number) => Some(*number),
                _ => None,
            },
            _ => None,
        };
        number.and_then(row_count).ok_or_else(|| {
            let message = format!(
                "The value of {clause} must be an integer from 0 to {}, given as a number or as a parameter.",
                i64::MAX
            );
            Complaint::new("SC2062", expr.at, message).into()
        })
    }
}

/// A row count of TOP, OFFSET or LIMIT: an unsigned 64-bit integer.
pub(crate) fn row_count(number: Number) -> Option<u64> {
    number.as_i64().and_then(|count| u64::try_from(count).ok())
}

/// Checks for clauses that the service allows only in the outermost query.
fn check_subquery(query: &Query) -> Result<(), Complaint> {
    let refused = |code, clause: &str| {
        Err(Complaint::new(code, query.at, format!("{clause} is not supported in subqueries.")))
    };
    if query.top.is_some() {
        return refused("SC2203", "'TOP'");
    }
    match &query.order_by {
        OrderBy::Keys(keys) if keys.is_empty() => {}
        _ => return refused("SC2202", "'ORDER BY'"),
    }
    if query.window.is_some() {
        return refused("SC2204", "'OFFSET LIMIT' clause");
    }
    Ok(())
}

fn select_all(from: &[Source], at: TextSpan) -> Result<Expr, Complaint> {
    let named = match from {
        [] => return Err(Complaint::new("SC2040", at, "'SELECT *' is not valid if FROM clause is omitted.")),
        [hidden, part] if matches!(hidden.of, SourceOf::Collection) && hidden.name.is_empty() => Some(part),
        [one] => Some(one),
        _ => None,
    };
    named
        .map(|source| Expr::Slot(source.slot))
        .ok_or_else(|| Complaint::new("SC2041", at, "'SELECT *' is only valid with a single input set."))
}

fn inferred_name(expr: &parse::Expr) -> Option<&str> {
    match &expr.kind {
        ExprKind::Name(name) | ExprKind::Member(_, name) => Some(name),
        _ => None,
    }
}

// GROUP BY and aggregates. After grouping, a row consists of its keys and aggregates only: in SELECT, each
// expression that equals a key becomes the key's slot, and any remaining reference to a source is refused.

impl Binder<'_> {
    pub(super) fn group_keys(&mut self, keys: &[parse::Expr]) -> Result<Vec<(usize, Expr)>, QueryError> {
        if let Some(key) = keys.get(limits::GROUP_KEYS_MAX) {
            let message = format!("A GROUP BY has at most {} expressions.", limits::GROUP_KEYS_MAX);
            return Err(Complaint::new("SC2104", key.at, message).into());
        }
        let bind = |key: &parse::Expr| {
            let expr = self.expr(key)?;
            Ok((self.new_slot("#key"), expr))
        };
        keys.iter().map(bind).collect()
    }

    pub(super) fn grouping(
        &mut self,
        keys: Vec<(usize, Expr)>,
        aggregates: Vec<Aggregate>,
        select: &mut Expr,
        from: &[Source],
        query: &Query,
    ) -> Result<Option<Grouping>, QueryError> {
        if keys.is_empty() && aggregates.is_empty() {
            return Ok(None);
        }
        lift(select, &keys);
        let sources: Vec<usize> = from.iter().map(|source| source.slot).collect();
        let mut reads = None;
        select.any(&mut |expr| {
            reads = self.reference(expr, &sources);
            reads.is_some()
        });
        match reads {
            None => Ok(Some(Grouping { keys, aggregates })),
            Some(path) => {
                let message = format!(
                    "Property reference '{path}' is invalid in the select list because it is not contained in either an aggregate function or the GROUP BY clause."
                );
                Err(Complaint::new("SC2102", query.at, message).into())
            }
        }
    }

    /// A path from one of the sources, as it appears in the query text.
    fn reference(&self, expr: &Expr, sources: &[usize]) -> Option<String> {
        match expr {
            Expr::Slot(slot) if sources.contains(slot) => Some(self.names[*slot].clone()),
            Expr::Member(of, name) if is_name(name) => {
                Some(format!("{}.{name}", self.reference(of, sources)?))
            }
            Expr::Member(of, name) => Some(format!("{}[{name:?}]", self.reference(of, sources)?)),
            _ => None,
        }
    }
}

fn lift(expr: &mut Expr, keys: &[(usize, Expr)]) {
    match keys.iter().find(|(_, key)| key == expr) {
        Some((slot, _)) => *expr = Expr::Slot(*slot),
        None => expr.for_each_child(&mut |child| lift(child, keys)),
    }
}
